"""The life of a document, step by step, as its workers and vectorstore would take it."""

from typing import Any, TypeVar
from uuid import UUID

from google.protobuf.message import Message

from services.ingest import outcomes, rows, tracking
from services.ingest.documents import Document, NewDocument, Notice, Original, Parsed, Source
from services.ingest.outcomes import Blobs, Indexed
from services.ingest.works import PARSE_STAGE
from services.shared import blobs
from services.shared.admission import Dispatcher, Policy
from services.shared.bus import Lane
from services.shared.db import Pool, Signal
from services.shared.errors import ErrorReason
from services.shared.ids import uuid7
from services.shared.ingestion_config import DEFAULT
from services.shared.jobs import Claim, Unclaimed

M = TypeVar("M", bound=Message)


def new(base_id: UUID, **changes: Any) -> NewDocument:
    """A stored file that is to be tracked."""
    fields: dict[str, Any] = {
        "id": uuid7(),
        "file_id": uuid7(),
        "knowledge_base_id": base_id,
        "collection_name": "handbook",
        "organization_id": None,
        "actor_user_id": None,
        "filename": "a.md",
        "kind": "md",
        "size": 10,
        "sha256": bytes(32),
        "original_key": "upload/files/a",
        "original": Original.KEPT,
        "config": DEFAULT,
        "lane": Lane.INTERACTIVE,
        "source": Source.UPLOAD,
        "source_path": "",
        "replaces": False,
    }
    return NewDocument(**{**fields, **changes})


class Steps:
    """Takes documents through their stages over one database."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._dispatcher = Dispatcher(
            pool, Policy(PARSE_STAGE), Signal(), deadline_seconds=60, reconcile_seconds=1
        )

    async def create(self, base_id: UUID, **changes: Any) -> Document:
        """Track a file of its own content, unless `changes` say otherwise."""
        changes.setdefault("sha256", uuid7().bytes * 2)
        tracked = await tracking.create(self.pool, new(base_id, **changes))
        assert not tracked.already_present
        return tracked.document

    async def admit(self) -> None:
        """Send the parses that wait."""
        await self._dispatcher.admit()

    async def claim(self, document: Document, worker: str = "w", lease_seconds: float = 60) -> Claim:
        """Admit a document's parse and claim it."""
        await self.admit()
        return await self.claimed(document, worker, lease_seconds)

    async def claimed(self, document: Document, worker: str = "w", lease_seconds: float = 60) -> Claim:
        """Claim a document's parse that was admitted."""
        taken = await outcomes.begin_parse(
            self.pool, document.id, document.attempt, worker=worker, lease_seconds=lease_seconds
        )
        assert not isinstance(taken, Unclaimed), taken
        return taken[0]

    async def written(self, claimed: Claim) -> Parsed:
        """Reserve what the parse under this claim would write."""
        suffix = f"{claimed.id}/{claimed.attempt}/{claimed.epoch}"
        result = Parsed(
            2, 1, f"ingest/pages/{suffix}", f"ingest/chunks/{suffix}", (Notice("left_out", "An image."),)
        )
        await blobs.reserve(self.pool, result.pages_key, result.chunks_key, seconds=600)
        return result

    async def finish(self, document: Document, claimed: Claim) -> None:
        """End the parse under a claim."""
        result = await self.written(claimed)
        await outcomes.finish_parse(
            self.pool, claimed, document.knowledge_base_id, result, Blobs(1, 2), deadline_seconds=60
        )

    async def parse(self, document: Document) -> Claim:
        """Take a document to its embedding."""
        claimed = await self.claim(document)
        await self.finish(document, claimed)
        return claimed

    async def fail(self, document: Document, reason: ErrorReason) -> None:
        """Let the parse of a document fail."""
        await outcomes.fail_parse(self.pool, await self.claim(document), reason)

    async def index(
        self,
        document: Document,
        *,
        attempt: int | None = None,
        retired: tuple[UUID, ...] = (),
        superseded: bool = False,
    ) -> None:
        """Answer as vectorstore does once the chunks are stored."""
        count = 0 if superseded else 2
        await outcomes.index(
            self.pool, Indexed(document.id, attempt or document.attempt, count, retired, superseded)
        )

    async def retry(self, document: Document) -> Document:
        """Start a failed document again."""
        async with self.pool.acquire() as connection, connection.transaction():
            return await tracking.retry(connection, document)

    async def delete(self, document: Document) -> None:
        """Remove a document."""
        async with self.pool.acquire() as connection, connection.transaction():
            await tracking.delete(connection, document.id)

    async def get(self, document: Document) -> Document | None:
        """The document as it is now."""
        async with self.pool.acquire() as connection:
            found = await rows.get(connection, [document.id])
        return found[0] if found else None

    async def events(self, subject: str, kind: type[M]) -> list[M]:
        """What the outbox holds on a subject, in order."""
        query = "SELECT payload FROM outbox WHERE subject = $1 ORDER BY id"
        return [kind.FromString(row["payload"]) for row in await self.pool.fetch(query, subject)]

    async def blob_states(self) -> dict[str, str]:
        """The state of each blob by the first two parts of its key, attempt and epoch."""
        found = await self.pool.fetch("SELECT key, state FROM blobs")
        parts = ((row["key"].split("/"), row["state"]) for row in found)
        return {"/".join((key[1], *key[3:])): state for key, state in parts}
