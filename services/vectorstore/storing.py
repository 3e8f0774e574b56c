"""Storing a document's chunks: one transaction that makes them searchable, retires what they replace, ends the job.

Locks are taken in the order collection, base, address, state of the document, records by id, chunks, job, in all of
vectorstore. Chunks are removed by whoever holds the record of their document.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from acervo.events.v1.facts_pb2 import DocumentIndexed
from services.shared import bases, bus, jobs
from services.shared.db import Connection, Pool
from services.shared.jobs import Claim
from services.vectorstore import tables
from services.vectorstore.models import Space
from services.vectorstore.rows import COLUMNS, Rows
from services.vectorstore.tables import SCHEMA, Collection

_COPY_SECONDS = 600.0

# The row's lock is held until the transaction ends, by one writer or deleter of the document at a time. A row that this
# very statement made (its xmax is 0) says that nothing of the document was ever stored.
_HOLD_DOCUMENT = """
INSERT INTO document_states (document_id, state) VALUES ($1, 'live')
ON CONFLICT (document_id) DO UPDATE SET state = document_states.state
RETURNING state = 'deleted' AS deleted, xmax = 0 AS unseen
"""
_STATE = "SELECT state FROM document_states WHERE document_id = $1"
_HOLD_ADDRESS = "SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text || $2::text, 0))"
_AT_ADDRESS = """
SELECT document_id, version FROM rag_documents
WHERE knowledge_base_id = $1 AND address_digest = sha256(convert_to($2, 'UTF8')) AND address <> '' AND document_id <> $3
"""
_RECORD = """
INSERT INTO rag_documents (
    document_id, knowledge_base_id, collection, attempt, address, version, filename, kind, source, document_time,
    chunk_count, term_counts, languages, page_starts, address_digest
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, sha256(convert_to($5, 'UTF8')))
"""
_HOLD_RECORDS = """
SELECT FROM rag_documents WHERE document_id = ANY($1::uuid[]) ORDER BY document_id FOR UPDATE
"""
_REMOVE_CHUNKS = "DELETE FROM {table} WHERE document_id = ANY($1::uuid[])"
_REMOVE_RECORDS = "DELETE FROM rag_documents WHERE document_id = ANY($1::uuid[])"


class DocumentGone(Exception):
    """The document was deleted while the work went on. Nobody waits for an answer."""


@dataclass(frozen=True, slots=True)
class Document:
    """What is kept of a document beside its chunks."""

    id: UUID
    knowledge_base_id: UUID
    collection: str
    attempt: int
    address: str
    version: int
    filename: str
    kind: str
    source: str
    time: datetime | None


async def is_gone(pool: Pool, document_id: UUID) -> bool:
    """Say whether a document was deleted."""
    return bool(await pool.fetchval(_STATE, document_id) == "deleted")


async def store(pool: Pool, claim: Claim, document: Document, space: Space, rows: Rows) -> None:
    """Store a document's rows and end its job with the fact that says so.

    A newer version at the same address leaves nothing to store: the job ends as superseded.

    Raises:
        BaseGone, DocumentGone: there is nothing to store into, or for.
        SpaceConflict: the collection's vectors are of another space.
        LeaseLost: another worker does this job now.
    """
    async with pool.acquire() as connection, connection.transaction():
        collection = await tables.hold_for_writing(connection, document.collection, space)
        await bases.hold(connection, document.knowledge_base_id, document.id)
        older, superseded = await _neighbours(connection, document)
        await _clear(connection, collection, document, older)
        if not superseded:
            await _insert(connection, collection, document, rows)
        fact = DocumentIndexed(
            document_id=str(document.id),
            attempt=document.attempt,
            chunk_count=0 if superseded else rows.chunk_count,
            retired_document_ids=map(str, older),
            superseded=superseded,
        )
        await jobs.end(connection, claim, bus.DOCUMENT_INDEXED, fact)


async def remove(connection: Connection, held: Sequence[str], document_ids: list[UUID]) -> None:
    """Remove all that is stored of documents, whose chunks are in tables that the caller's transaction holds."""
    await connection.execute(_HOLD_RECORDS, document_ids)
    for table in held:
        await connection.execute(_REMOVE_CHUNKS.format(table=table), document_ids)
    await connection.execute(_REMOVE_RECORDS, document_ids)


async def _clear(
    connection: Connection, collection: Collection, document: Document, older: list[UUID]
) -> None:
    """Hold the document, and remove what it replaces: its own earlier chunks, and older documents.

    Raises:
        DocumentGone: it was deleted.
    """
    held = await connection.fetchrow(_HOLD_DOCUMENT, document.id)
    if held is None or held["deleted"]:
        raise DocumentGone
    replaced = older if held["unseen"] else [document.id, *older]
    if replaced:
        await remove(connection, [collection.table], replaced)


async def _neighbours(connection: Connection, document: Document) -> tuple[list[UUID], bool]:
    """Return the older documents at the document's address, and whether a newer one is there."""
    if not document.address:
        return [], False
    await connection.execute(_HOLD_ADDRESS, document.knowledge_base_id, document.address)
    rows = await connection.fetch(_AT_ADDRESS, document.knowledge_base_id, document.address, document.id)
    older = [row["document_id"] for row in rows if row["version"] <= document.version]
    return older, len(older) < len(rows)


async def _insert(connection: Connection, collection: Collection, document: Document, rows: Rows) -> None:
    await connection.copy_to_table(
        collection.table.removeprefix(f"{SCHEMA}."),
        schema_name=SCHEMA,
        columns=COLUMNS,
        source=rows.stream(),
        format="binary",
        timeout=_COPY_SECONDS,
    )
    statistics = await asyncio.to_thread(rows.statistics)
    await connection.execute(
        _RECORD,
        *(document.id, document.knowledge_base_id, document.collection, document.attempt),
        *(document.address, document.version, document.filename, document.kind, document.source),
        *(document.time, rows.chunk_count, statistics.encoded(), sorted(statistics.languages)),
        rows.page_starts,
    )
