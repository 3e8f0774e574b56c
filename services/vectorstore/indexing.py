"""The worker that indexes a document: claim, read its chunks, embed them, store them and answer.

Whatever goes wrong ends in one of three ways: the document fails with a reason, the job is postponed to its next try,
or, where another worker has taken over or the document is gone, what was done is dropped.
"""

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC
from uuid import UUID

from acervo.access.v1.access_pb2 import PERMISSION_VIEW, ResolveRequest, Target
from acervo.common.v1 import error_reason_pb2 as pb
from acervo.events.v1.facts_pb2 import DocumentFailed
from acervo.ingest.v1.chunks_pb2 import Chunk, ChunkFileHeader
from services.shared import bus, jobs
from services.shared.blobs import BlobStore
from services.shared.client import Peers, refusals
from services.shared.db import Pool
from services.shared.errors import AcervoError, BaseGone, ErrorReason, StorageFull, is_full
from services.shared.jobs import Claim, Count, Held, LeaseLost, Unclaimed, Work
from services.vectorstore import chunk_file, storing
from services.vectorstore.embedding import EmbeddingCache, Urgency
from services.vectorstore.models import Space, Vectors
from services.vectorstore.rows import Rows
from services.vectorstore.serving import space_of
from services.vectorstore.storing import Document, DocumentGone
from services.vectorstore.terms import Lexicon

log = logging.getLogger(__name__)

STAGE = "embed"
MOST_TRIES = 6

# Trying again changes nothing about these.
_FINAL = frozenset(
    {
        pb.ERROR_REASON_NAME_INVALID,
        pb.ERROR_REASON_BASE_DELETED,
        pb.ERROR_REASON_BUDGET_EXHAUSTED,
        pb.ERROR_REASON_EMBEDDING_SETTINGS_CONFLICT,
        pb.ERROR_REASON_EMBEDDING_WIDTH_MISMATCH,
        pb.ERROR_REASON_EMBEDDING_MODEL_UNAVAILABLE,
        pb.ERROR_REASON_EMBEDDING_PROVIDER_UNAVAILABLE,
        pb.ERROR_REASON_CHUNKS_GONE,
        pb.ERROR_REASON_JOB_ABANDONED,
    }
)
# Others' faults: waiting for them uses up no try.
_BLAMELESS = frozenset(
    {pb.ERROR_REASON_UNAVAILABLE, pb.ERROR_REASON_OVERLOADED, pb.ERROR_REASON_DEADLINE_EXCEEDED}
)
_PATIENCE_SECONDS = 5.0

_URGENCIES = {bus.Lane.INTERACTIVE: Urgency.INTERACTIVE, bus.Lane.BULK: Urgency.BULK}


@dataclass(frozen=True, slots=True)
class Again:
    """The job is to be done again: after how many seconds, and counted as what."""

    seconds: float
    count: Count


def verdict(claimed: Claim, error: Exception) -> "Again | ErrorReason":
    """What becomes of a job that met `error`."""
    if is_full(error):
        error = StorageFull()
    reason = error.reason if isinstance(error, AcervoError) else pb.ERROR_REASON_STORING_FAILED
    if reason in _FINAL:
        return reason
    if reason in _BLAMELESS:
        return Again(_PATIENCE_SECONDS, Count.NOTHING)
    tries = claimed.tries + 1
    return reason if tries >= MOST_TRIES else Again(jobs.backoff(tries), Count.TRY)


class Indexing:
    """Indexes documents, as many at once as its callers ask for."""

    def __init__(
        self,
        pool: Pool,
        store: BlobStore,
        peers: Peers,
        cache: EmbeddingCache,
        *,
        worker: str,
        lease_seconds: float,
        heartbeat_seconds: float,
    ) -> None:
        self._pool = pool
        self._store = store
        self._peers = peers
        self._cache = cache
        self._worker = worker
        self._lease = lease_seconds
        self._heartbeat = heartbeat_seconds
        self._lexicon = Lexicon()
        # One thread, since the lexicon is for one alone, also while a cancelled caller's slice is still in work.
        self._encoder = ThreadPoolExecutor(1, "encode")

    async def index(self, work: Work, parse_epoch: int) -> None:
        """Take up a document whose message came, if it is to be had."""
        claimed = await jobs.claim_new(self._pool, work, worker=self._worker, lease_seconds=self._lease)
        if isinstance(claimed, Unclaimed):
            log.debug("%s is not claimed: %s", work.id, claimed.value)
            return
        try:
            await self._hold(claimed, parse_epoch)
        except LeaseLost:
            log.info("%s is given up: another worker has it", work.id)
        except DocumentGone:
            log.info("%s is given up: it was deleted", work.id)
            await self._forget(work.id)

    async def _hold(self, claimed: Claim, parse_epoch: int) -> None:
        async with Held(self._pool, claimed, lease_seconds=self._lease, heartbeat_seconds=self._heartbeat):
            try:
                await self._work(claimed, parse_epoch)
            except (LeaseLost, DocumentGone):
                raise
            except Exception as error:
                level = logging.INFO if isinstance(error, AcervoError) else logging.ERROR
                unforeseen = level == logging.ERROR and not is_full(error)
                log.log(level, "indexing %s met a fault: %s", claimed.id, error, exc_info=unforeseen)
                await self._settle(claimed, verdict(claimed, error))

    async def _work(self, claimed: Claim, parse_epoch: int) -> None:
        if claimed.abandoned:
            raise AcervoError(pb.ERROR_REASON_JOB_ABANDONED)
        if await storing.is_gone(self._pool, claimed.id):
            raise DocumentGone
        async with chunk_file.opened(self._store, claimed.id, claimed.attempt, parse_epoch) as file:
            document = _document(claimed, file.header)
            space = await self._space(document.knowledge_base_id)
            with Rows(document.knowledge_base_id, document.id, document.attempt) as rows:
                async for chunks in file.slices():
                    texts = [chunk.text for chunk in chunks]
                    vectors = await self._cache.embed_documents(
                        space, texts, _URGENCIES[claimed.lane], str(claimed.tenant_id)
                    )
                    await self._encode(rows, chunks, vectors)
                await storing.store(self._pool, claimed, document, space, rows)

    async def _encode(self, rows: Rows, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._encoder, rows.add, chunks, vectors, self._lexicon)

    async def _space(self, base_id: UUID) -> Space:
        """Say how the base is embedded. Its provider may have changed since the last document.

        Raises:
            BaseGone: there is no such base any more.
            ProviderUnavailable: nobody here calls its provider.
            AcervoError: access does not answer.
        """
        request = ResolveRequest(targets=[Target(knowledge_base_id=str(base_id))], permission=PERMISSION_VIEW)
        try:
            with refusals():
                response = await self._peers.access().Resolve(request, **self._peers.own("access"))
        except AcervoError as refusal:
            if refusal.reason == pb.ERROR_REASON_NOT_FOUND:
                raise BaseGone from None
            raise
        (base,) = response.knowledge_bases
        return space_of(base)

    async def _settle(self, claimed: Claim, decided: "Again | ErrorReason") -> None:
        async with self._pool.acquire() as connection, connection.transaction():
            if isinstance(decided, Again):
                await jobs.postpone(connection, claimed, decided.seconds, decided.count)
                return
            fact = DocumentFailed(document_id=str(claimed.id), attempt=claimed.attempt, reason=decided)
            await jobs.end(connection, claimed, bus.DOCUMENT_FAILED, fact)

    async def _forget(self, document_id: UUID) -> None:
        async with self._pool.acquire() as connection:
            await jobs.forget(connection, [document_id])


def _document(claimed: Claim, header: ChunkFileHeader) -> Document:
    return Document(
        id=claimed.id,
        knowledge_base_id=UUID(header.knowledge_base_id),
        collection=header.collection_name,
        attempt=claimed.attempt,
        address=header.address,
        version=header.version,
        filename=header.filename,
        kind=header.kind,
        source=header.source,
        time=header.create_time.ToDatetime(UTC) if header.HasField("create_time") else None,
    )
