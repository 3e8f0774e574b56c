"""What callers do to documents: track, retry and delete them, each in one transaction."""

from dataclasses import dataclass
from uuid import UUID

from services.ingest import documents, requests, rows
from services.ingest.documents import Document, NewDocument
from services.ingest.removal import remove
from services.ingest.replacement import already_present
from services.ingest.requests import Request
from services.ingest.works import parse_work
from services.shared import bases, jobs
from services.shared.db import Connection, Pool
from services.shared.errors import BaseGone, NotFound


@dataclass(frozen=True, slots=True)
class Tracked:
    """The document that answers a creation. `already_present` means that it was made of an earlier file."""

    document: Document
    already_present: bool


async def create(pool: Pool, new: NewDocument) -> Tracked:
    """Track a stored file and queue its parsing; the same file again answers the same document.

    Raises:
        NotFound: if the file's document was deleted: asking late does not bring it back.
        BaseGone: if the base was deleted.
    """
    async with pool.acquire() as connection, connection.transaction():
        await bases.hold(connection, new.knowledge_base_id, new.id)
        await rows.lock_creation(connection, new.knowledge_base_id, new.address)
        made = await rows.of_file(connection, new.file_id)
        if made is not None:
            return Tracked(made, already_present=False)
        if await rows.was_removed(connection, new.file_id):
            raise NotFound("document")
        there = await rows.at_address(connection, new.knowledge_base_id, new.address)
        present = already_present(new, there)
        if present is not None and await _stays(connection, present):
            return Tracked(present, already_present=True)
        document = await rows.insert(connection, new)
        await jobs.enqueue(connection, parse_work(document), send=False)
        return Tracked(document, already_present=False)


async def _stays(connection: Connection, document: Document) -> bool:
    """Whether a document outlives the emptying of its base that may be under way."""
    try:
        await bases.hold(connection, document.knowledge_base_id, document.id)
    except BaseGone:
        return False
    return True


async def retry(pool: Pool, document: Document, request: Request | None) -> Document:
    """Start a failed document again as its next attempt.

    Raises:
        NotFound: if it is gone.
        BaseGone: if its base is.
        AcervoError: DOCUMENT_NOT_FAILED, ORIGINAL_GONE.
    """
    async with pool.acquire() as connection, connection.transaction():
        await bases.hold(connection, document.knowledge_base_id, document.id)
        row = await rows.lock(connection, document.id)
        if row is None:
            raise NotFound("document")
        if request is not None and not await requests.note(connection, request):
            return row
        moved = documents.retried(row)
        await rows.save(connection, moved)
        await rows.save_notices(connection, moved)
        await jobs.enqueue(connection, parse_work(moved), send=False)
        return moved


async def delete(pool: Pool, document_id: UUID, request: Request | None) -> None:
    """Remove a document in whatever state it is. One that is gone already is as good as removed."""
    async with pool.acquire() as connection, connection.transaction():
        row = await rows.lock(connection, document_id)
        if row is None:
            return
        if request is not None:
            await requests.note(connection, request)
        await remove(connection, [row])
