"""The worker that reads a document: claim, fetch the original, read and cut it, write pages and chunks, hand on.

Whatever goes wrong ends in one of three ways: the document fails with a reason, the job is postponed to its next try,
or, where another worker has taken over or the document is gone, what was done is dropped.
"""

import asyncio
import logging
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import UUID

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.ingest.v1.chunks_pb2 import ChunkFileHeader
from services.ingest import outcomes, rows
from services.ingest.codec import timestamp
from services.ingest.documents import Document, Notice, Parsed
from services.ingest.outcomes import Blobs
from services.ingest.pool.job import Cut, Job, Outcome, Refused, Written
from services.ingest.pool.records import head
from services.ingest.watch import CHANNEL
from services.ingest.works import PARSE_STAGE
from services.shared import blobs, jobs
from services.shared.blobs import BlobNotFound, BlobStore, StorageUnavailable
from services.shared.db import Listener, Pool
from services.shared.errors import BaseGone, ErrorReason, is_full
from services.shared.jobs import Claim, Count, Held, LeaseLost, Unclaimed

log = logging.getLogger(__name__)

_BLOCK = 1024 * 1024

MOST_TRIES = 10
MOST_CRASHES = 2
_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Timing:
    """In seconds: how long a job is claimed, how often that is renewed, when an answer is overdue, and how long an
    unfinished blob is kept."""

    lease: float
    heartbeat: float
    answer: float
    blobs: float
    quick: float | None = None
    """How long a first try may read a file, where that is less than any try may."""


class Parsers(Protocol):
    """What reads and cuts a file: the parser pool."""

    async def parse(self, job: Job, /) -> Outcome:
        """Read and cut a file, or say why it cannot be."""


@dataclass(frozen=True, slots=True)
class Again:
    """The job is to be done again: after how many seconds, and counted as what."""

    seconds: float
    count: Count


def after_fault(claimed: Claim, error: Exception) -> "Again | ErrorReason":
    """What becomes of a job that met a fault which may pass: another try, or an end once they are used up.

    Waiting for storage, or for room in it, uses up none.
    """
    if _passes(error):
        return Again(_PATIENCE_SECONDS, Count.NOTHING)
    tries = claimed.tries + 1
    if tries >= MOST_TRIES:
        return pb.ERROR_REASON_UNAVAILABLE
    return Again(jobs.backoff(tries), Count.TRY)


def _passes(error: Exception) -> bool:
    return isinstance(error, StorageUnavailable) or is_full(error)


def after_refusal(claimed: Claim, reason: ErrorReason) -> "Again | ErrorReason":
    """What becomes of a job whose file was refused.

    One that killed its parser gets a second chance, and so does one that a first, quick try did not suffice for.
    """
    if reason == pb.ERROR_REASON_UNAVAILABLE:
        return Again(_PATIENCE_SECONDS, Count.NOTHING)
    if reason == pb.ERROR_REASON_PARSE_TIMEOUT and not claimed.tries:
        return Again(0, Count.TRY)
    crashed = reason == pb.ERROR_REASON_PARSER_CRASHED
    if crashed and claimed.crashes + 1 < MOST_CRASHES:
        return Again(0, Count.CRASH)
    return reason


class Parsing:
    """Reads documents, as many at once as its callers ask for."""

    def __init__(
        self, pool: Pool, store: BlobStore, parsers: Parsers, *, worker: str, timing: Timing, scratch: Path
    ) -> None:
        self._pool = pool
        self._store = store
        self._parsers = parsers
        self._worker = worker
        self._timing = timing
        self._scratch = scratch
        self._held: dict[UUID, Held] = {}

    async def is_long(self, document_id: UUID, attempt: int) -> bool:
        """Whether a first, quick try has failed, so that the next one may take long."""
        return await jobs.tries(self._pool, document_id, PARSE_STAGE, attempt) > 0

    async def watch(self, listener: Listener) -> None:
        """Give up at once, until cancelled, what is being read of documents that go."""
        with listener.payloads(CHANNEL) as changes:
            while True:
                changed = await changes.get()
                ids = [document_id for document_id in self._held if changed in (str(document_id), None)]
                if ids:
                    await self._doubt_gone(ids)

    async def _doubt_gone(self, ids: Sequence[UUID]) -> None:
        async with self._pool.acquire() as connection:
            there = {document.id for document in await rows.get(connection, ids)}
        for document_id in ids:
            if document_id not in there and document_id in self._held:
                self._held[document_id].doubt()

    async def parse(self, document_id: UUID, attempt: int) -> None:
        """Take up a document whose message came, if it is to be had."""
        try:
            taken = await outcomes.begin_parse(
                self._pool, document_id, attempt, worker=self._worker, lease_seconds=self._timing.lease
            )
            if isinstance(taken, Unclaimed):
                log.debug("%s is not claimed: %s", document_id, taken.value)
                return
            await self._hold(*taken)
        except (LeaseLost, BaseGone) as error:
            log.info("%s is given up: %s", document_id, type(error).__name__)

    async def _hold(self, claimed: Claim, document: Document) -> None:
        timing = self._timing
        async with Held(
            self._pool, claimed, lease_seconds=timing.lease, heartbeat_seconds=timing.heartbeat
        ) as held:
            self._held[claimed.id] = held
            try:
                if claimed.abandoned:
                    await self._settle(claimed, pb.ERROR_REASON_JOB_ABANDONED)
                    return
                await self._work(claimed, document)
            except (LeaseLost, BaseGone):
                raise
            except BlobNotFound:
                await self._settle(claimed, pb.ERROR_REASON_ORIGINAL_GONE)
            except Exception as error:
                if _passes(error):
                    log.warning("reading %s waits for storage: %s", claimed.id, error)
                else:
                    log.exception("reading %s met a fault", claimed.id)
                await self._settle(claimed, after_fault(claimed, error))
            finally:
                self._held.pop(claimed.id, None)

    async def _work(self, claimed: Claim, document: Document) -> None:
        outcome = await self._read(claimed, document)
        if isinstance(outcome, Refused):
            log.info("%s is refused: %s", claimed.id, outcome.message)
            await self._settle(claimed, after_refusal(claimed, outcome.reason))
            return
        result, sizes = await self._write(document, claimed, outcome)
        await outcomes.finish_parse(
            self._pool,
            claimed,
            document.knowledge_base_id,
            result,
            sizes,
            deadline_seconds=self._timing.answer,
        )

    async def _read(self, claimed: Claim, document: Document) -> Outcome:
        # A file without a name: a process that is killed leaves nothing of it behind.
        with tempfile.TemporaryFile(dir=self._scratch) as original:
            async for data in self._store.stream(document.original_key):
                await asyncio.to_thread(original.write, data)
            await asyncio.to_thread(original.seek, 0)
            source = Path(f"/dev/fd/{original.fileno()}")
            config = document.config
            seconds = None if claimed.tries else self._timing.quick
            return await self._parsers.parse(
                Job(source, document.kind, config.chunk_size, config.chunk_overlap, seconds=seconds)
            )

    async def _write(self, document: Document, claimed: Claim, cut: Cut) -> tuple[Parsed, Blobs]:
        name = f"{claimed.id}/{claimed.attempt}/{claimed.epoch}"
        result = Parsed(
            chunk_count=cut.chunk_count,
            page_count=cut.page_count,
            pages_key=f"ingest/pages/{name}",
            chunks_key=f"ingest/chunks/{name}",
            notices=tuple(Notice(warning.code, warning.message) for warning in cut.warnings),
        )
        first = head(header(document, claimed.epoch, cut.chunk_count))
        await blobs.reserve(self._pool, result.pages_key, result.chunks_key, seconds=self._timing.blobs)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._put(result.pages_key, cut.pages))
                group.create_task(self._put(result.chunks_key, first, cut.chunks))
        except ExceptionGroup as faults:
            raise faults.exceptions[0] from None
        return result, Blobs(len(cut.pages), len(first) + len(cut.chunks))

    async def _put(self, key: str, *parts: Written) -> None:
        """Store an object block by block: a file may come to more than there is memory for."""
        async with self._store.writer(key) as writer:
            for part in parts:
                with memoryview(part) as view:
                    for start in range(0, len(view), _BLOCK):
                        await writer.write(bytes(view[start : start + _BLOCK]))

    async def _settle(self, claimed: Claim, verdict: "Again | ErrorReason") -> None:
        if isinstance(verdict, Again):
            await outcomes.postpone_parse(self._pool, claimed, verdict.seconds, verdict.count)
        else:
            await outcomes.fail_parse(self._pool, claimed, verdict)


def header(document: Document, epoch: int, chunk_count: int) -> ChunkFileHeader:
    """What the chunk file says of its document. Only a document that replaces has an address there."""
    return ChunkFileHeader(
        document_id=str(document.id),
        attempt=document.attempt,
        epoch=epoch,
        knowledge_base_id=str(document.knowledge_base_id),
        collection_name=document.collection_name,
        organization_id=str(document.organization_id or ""),
        chunk_count=chunk_count,
        filename=document.filename,
        kind=document.kind,
        address=document.address if document.replaces else "",
        version=document.version,
        source=document.source.value,
        create_time=timestamp(document.created_at),
    )
