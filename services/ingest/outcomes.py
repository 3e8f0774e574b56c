"""What comes of a document's stages, each recorded in one transaction and fenced by attempt and epoch.

Locks are taken in the order base, document (newest first), job.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from services.ingest import documents, replacement, rows
from services.ingest.documents import Document, Parsed
from services.ingest.removal import announce_finished, remove
from services.ingest.works import EMBED_STAGE, PARSE_STAGE, embed_work
from services.shared import bases, blobs, jobs
from services.shared.db import Connection, Pool
from services.shared.errors import ErrorReason
from services.shared.jobs import Claim, Count, LeaseLost, Unclaimed


@dataclass(frozen=True, slots=True)
class Blobs:
    """The sizes, in bytes, of the page file and the chunk file that a parse has written."""

    pages_size: int
    chunks_size: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """What vectorstore answers: how much it stored and what that replaced; nothing where `superseded`."""

    document_id: UUID
    attempt: int
    chunk_count: int
    retired_ids: Sequence[UUID]
    superseded: bool


async def begin_parse(
    pool: Pool, document_id: UUID, attempt: int, *, worker: str, lease_seconds: float
) -> tuple[Claim, Document] | Unclaimed:
    """Take a document's job, and show that a parser has it.

    Raises:
        LeaseLost: if the document has gone on without it.
    """
    async with pool.acquire() as connection, connection.transaction():
        document = await rows.lock(connection, document_id)
        claimed = await jobs.claim_within(
            connection, document_id, PARSE_STAGE, attempt, worker=worker, lease_seconds=lease_seconds
        )
        if isinstance(claimed, Unclaimed):
            return claimed
        moved = document and documents.begun(document, attempt)
        if moved is None:
            raise LeaseLost
        if moved != document:
            await rows.save(connection, moved)
        return claimed, moved


async def finish_parse(
    pool: Pool, claimed: Claim, base_id: UUID, result: Parsed, sizes: Blobs, *, deadline_seconds: float
) -> None:
    """Hand a document that was read and cut on to vectorstore.

    Raises:
        LeaseLost: if the document is gone or another worker has taken over.
        BaseGone: if its base is.
    """
    async with pool.acquire() as connection, connection.transaction():
        await bases.hold(connection, base_id, claimed.id)
        document = await rows.lock(connection, claimed.id)
        moved = document and documents.parsed(document, claimed.attempt, result)
        if document is None or moved is None:
            raise LeaseLost
        await rows.save(connection, moved)
        if moved.notices != document.notices:
            await rows.save_notices(connection, moved)
        await blobs.commit(
            connection, {result.pages_key: sizes.pages_size, result.chunks_key: sizes.chunks_size}
        )
        await _release_left(connection, document, moved)
        work = embed_work(moved, claimed.epoch)
        await jobs.enqueue(connection, work, send=True, deadline_seconds=deadline_seconds)
        await jobs.end(connection, claimed)


async def postpone_parse(pool: Pool, claimed: Claim, seconds: float, count: Count) -> None:
    """Let go of a document, to be read again after about `seconds`.

    Raises:
        LeaseLost: if the document is gone or another worker has taken over.
    """
    async with pool.acquire() as connection, connection.transaction():
        document = await rows.lock(connection, claimed.id)
        moved = document and documents.requeued(document, claimed.attempt)
        if moved is None:
            raise LeaseLost
        await rows.save(connection, moved)
        await jobs.postpone(connection, claimed, seconds, count)


async def fail_parse(pool: Pool, claimed: Claim, reason: ErrorReason) -> None:
    """Record that a document cannot be read.

    Raises:
        LeaseLost: if the document is gone or another worker has taken over.
    """
    async with pool.acquire() as connection, connection.transaction():
        document = await rows.lock(connection, claimed.id)
        moved = document and documents.failed(document, claimed.attempt, reason)
        if document is None or moved is None:
            raise LeaseLost
        # Before the rest: where the row goes, its jobs go with it.
        await jobs.end(connection, claimed)
        await _conclude(connection, document, moved)


async def index(pool: Pool, fact: Indexed) -> None:
    """Record that vectorstore has stored a document, and let go of what it replaces.

    The base is not held: this makes nothing that whoever deletes the base would not find.
    """
    async with pool.acquire() as connection, connection.transaction():
        document = await rows.lock(connection, fact.document_id)
        moved = document and documents.indexed(document, fact.attempt, fact.chunk_count)
        if document is None or moved is None:
            return
        await jobs.settle(connection, document.id, EMBED_STAGE, fact.attempt)
        if fact.superseded:
            await announce_finished(connection, moved)
            await remove(connection, [document])
            return
        if await _conclude(connection, document, moved):
            await _retire_older(connection, moved, fact.retired_ids)


async def fail_embed(pool: Pool, document_id: UUID, attempt: int, reason: ErrorReason) -> None:
    """Record that vectorstore cannot store a document."""
    async with pool.acquire() as connection, connection.transaction():
        document = await rows.lock(connection, document_id)
        moved = document and documents.failed(document, attempt, reason)
        if document is None or moved is None:
            return
        await jobs.settle(connection, document.id, EMBED_STAGE, attempt)
        await _conclude(connection, document, moved)


async def _conclude(connection: Connection, before: Document, ended: Document) -> bool:
    """End a document; return whether its row stays, which it does not where a newer one has replaced it."""
    await announce_finished(connection, ended)
    if replacement.superseded(ended, await rows.newer_replacements(connection, ended)):
        await remove(connection, [before])
        return False
    await rows.save(connection, ended)
    await _release_left(connection, before, ended)
    return True


async def _retire_older(connection: Connection, newer: Document, named: Sequence[UUID]) -> None:
    if not newer.replaces and not named:
        return
    older = await rows.lock_retirable(connection, newer, named)
    retired = [document for document in older if replacement.retires(newer, document, named)]
    for document in retired:
        if document.state is documents.State.PROCESSING:
            await announce_finished(connection, document)
    await remove(connection, retired)


async def _release_left(connection: Connection, before: Document, after: Document) -> None:
    """Release the blobs that a transition has let go of."""
    kept = {after.pages_key, after.chunks_key}
    left = [key for key in (before.pages_key, before.chunks_key) if key is not None and key not in kept]
    if left:
        await blobs.release(connection, left)
