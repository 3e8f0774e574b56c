"""How documents go: one by one, replaced by others, or with their base."""

from collections.abc import Sequence
from uuid import UUID

from acervo.common.v1.error_reason_pb2 import ERROR_REASON_UNSPECIFIED
from acervo.events.v1.facts_pb2 import DocumentDeleted, DocumentFinished, TeardownAnswered
from services.ingest import rows
from services.ingest.documents import Document, State
from services.shared import bases, blobs, jobs
from services.shared.bus import DOCUMENT_DELETED, DOCUMENT_FINISHED, teardown_answered
from services.shared.db import Connection, Pool
from services.shared.outbox import announce

_BATCH = 200


async def remove(connection: Connection, documents: Sequence[Document]) -> None:
    """Remove documents, whose rows are held, with their jobs and blobs, and tell whoever holds more of them."""
    if not documents:
        return
    ids = [document.id for document in documents]
    await jobs.forget(connection, ids)
    await blobs.release(connection, [key for document in documents for key in keys(document)])
    await rows.delete(connection, ids)
    for document in documents:
        fact = DocumentDeleted(
            document_id=str(document.id),
            knowledge_base_id=str(document.knowledge_base_id),
            file_id=str(document.file_id),
        )
        await announce(connection, DOCUMENT_DELETED, fact)


async def announce_finished(connection: Connection, document: Document) -> None:
    """Tell that the attempt is over. One that was replaced before it ended counts as done."""
    fact = DocumentFinished(
        document_id=str(document.id),
        attempt=document.attempt,
        file_id=str(document.file_id),
        done=document.state is not State.ERROR,
        reason=document.reason or ERROR_REASON_UNSPECIFIED,
    )
    await announce(connection, DOCUMENT_FINISHED, fact)


async def bury_base(pool: Pool, base_id: UUID, teardown_id: UUID) -> None:
    """Remove everything of a base that is gone, for good, and answer. May be repeated at any point."""
    async with pool.acquire() as connection, connection.transaction():
        await bases.bury(connection, base_id)
    await _remove_all(pool, base_id, None)
    await _answer(pool, teardown_id)


async def empty_base(pool: Pool, base_id: UUID, before: UUID, teardown_id: UUID) -> None:
    """Remove what a base held so far, and answer. May be repeated at any point."""
    async with pool.acquire() as connection, connection.transaction():
        await bases.empty(connection, base_id, before)
    await _remove_all(pool, base_id, before)
    await _answer(pool, teardown_id)


async def _remove_all(pool: Pool, base_id: UUID, before: UUID | None) -> None:
    while True:
        async with pool.acquire() as connection, connection.transaction():
            batch = await rows.lock_of_base(connection, base_id, before, _BATCH)
            await remove(connection, batch)
        if len(batch) < _BATCH:
            return


async def _answer(pool: Pool, teardown_id: UUID) -> None:
    async with pool.acquire() as connection, connection.transaction():
        answer = TeardownAnswered(teardown_id=str(teardown_id), service="ingest")
        await announce(connection, teardown_answered("ingest"), answer)


def keys(document: Document) -> list[str]:
    """The keys of the document's own blobs; its original is upload's."""
    return [key for key in (document.pages_key, document.chunks_key) if key is not None]
