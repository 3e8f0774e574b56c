"""What callers do to documents: track, retry and delete them, each in one transaction."""

from dataclasses import dataclass
from uuid import UUID

from services.ingest import documents, rows
from services.ingest.documents import Document, NewDocument
from services.ingest.removal import remove
from services.ingest.replacement import already_present
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
        there = await rows.beside(connection, new)
        for document in there:
            if document.file_id == new.file_id:
                return Tracked(document, already_present=False)
        if await rows.was_removed(connection, new.file_id):
            raise NotFound("document")
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


async def retry(connection: Connection, document: Document) -> Document:
    """Start a failed document again as its next attempt.

    Raises:
        NotFound: if it is gone.
        BaseGone: if its base is.
        AcervoError: DOCUMENT_NOT_FAILED, ORIGINAL_GONE.
    """
    await bases.hold(connection, document.knowledge_base_id, document.id)
    row = await rows.lock(connection, document.id)
    if row is None:
        raise NotFound("document")
    moved = documents.retried(row)
    await rows.save(connection, moved)
    await rows.save_notices(connection, moved)
    await jobs.enqueue(connection, parse_work(moved), send=False)
    return moved


async def delete(connection: Connection, document_id: UUID) -> None:
    """Remove a document in whatever state it is. One that is gone already is as good as removed."""
    row = await rows.lock(connection, document_id)
    if row is not None:
        await remove(connection, [row])
