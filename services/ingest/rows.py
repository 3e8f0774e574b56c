"""The rows of documents. Every function runs in its caller's transaction and keeps no rules."""

from collections.abc import Sequence
from typing import cast
from uuid import UUID

import asyncpg

from services.ingest.documents import Document, NewDocument, Notice, Original, Source, Stage, State
from services.shared.bus import Lane
from services.shared.db import Connection, Pool
from services.shared.errors import ErrorReason
from services.shared.ingestion_config_codec import config_from_json, config_to_json
from services.shared.paging import Page, PageRequest

_SELECT = """
SELECT d.*, (
    SELECT coalesce(jsonb_agg(jsonb_build_array(w.code, w.message) ORDER BY w.ordinal), '[]')
    FROM warnings w WHERE w.document_id = d.id
) AS notices
FROM documents d
"""
_INSERT = """
INSERT INTO documents (
    id, file_id, knowledge_base_id, collection_name, organization_id, actor_user_id, filename, kind, size,
    sha256, original_key, original, ingestion_config, lane, source, source_path, address, replaces
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
RETURNING *, '[]'::jsonb AS notices
"""
_BY_IDS = _SELECT + "WHERE d.id = ANY($1::uuid[])"
_LOCK = _SELECT + "WHERE d.id = $1 FOR UPDATE OF d"
_AT_ADDRESS = _SELECT + "WHERE d.knowledge_base_id = $1 AND md5(d.address) = md5($2) AND d.address = $2"
_OF_FILE_OR_AT_ADDRESS = _AT_ADDRESS + " OR d.file_id = $3"
_NEWER_AT_ADDRESS = _AT_ADDRESS + " AND d.replaces AND d.version > $3"
# Newest first, so that two documents that end at once lock what they share in one order.
_LOCK_RETIRABLE = (
    _SELECT
    + """
WHERE d.knowledge_base_id = $1 AND d.version < $3
    AND ((md5(d.address) = md5($2) AND d.address = $2) OR d.id = ANY($4::uuid[]))
ORDER BY d.version DESC FOR UPDATE OF d
"""
)
_LOCK_OF_BASE = (
    _SELECT
    + """
WHERE d.knowledge_base_id = $1 AND ($2::uuid IS NULL OR d.id < $2)
ORDER BY d.version DESC LIMIT $3 FOR UPDATE OF d
"""
)
_LOCK_CREATION = "SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text || $2, 0))"
_SAVE = """
UPDATE documents SET
    state = $2, stage = $3, reason = $4, attempt = $5, chunk_count = $6, page_count = $7, pages_key = $8,
    chunks_key = $9, original = $10, completed_at = CASE WHEN $2 = 'processing' THEN NULL ELSE now() END
WHERE id = $1
"""
_FORGET_NOTICES = "DELETE FROM warnings WHERE document_id = $1"
_INSERT_NOTICE = "INSERT INTO warnings (document_id, ordinal, code, message) VALUES ($1, $2, $3, $4)"
_DELETE = """
WITH gone AS (DELETE FROM documents WHERE id = ANY($1::uuid[]) RETURNING file_id)
INSERT INTO removed_files (file_id) SELECT file_id FROM gone ON CONFLICT DO NOTHING
"""
_WAS_REMOVED = "SELECT EXISTS (SELECT FROM removed_files WHERE file_id = $1)"
_FORGET_REMOVED = "DELETE FROM removed_files WHERE removed_at < now() - interval '7 days'"
_PAGE = (
    _SELECT
    + """
WHERE d.knowledge_base_id = ANY($1::uuid[]) AND d.state = ANY($2::text[]) AND d.id < $3
ORDER BY d.id DESC LIMIT $4
"""
)
_COUNT = "SELECT state, count(*) FROM documents WHERE knowledge_base_id = ANY($1::uuid[]) GROUP BY state"


async def insert(connection: Connection, new: NewDocument) -> Document:
    """Track a file. The database gives version and time."""
    (row,) = await connection.fetch(
        _INSERT,
        new.id,
        new.file_id,
        new.knowledge_base_id,
        new.collection_name,
        new.organization_id,
        new.actor_user_id,
        new.filename,
        new.kind,
        new.size,
        new.sha256,
        new.original_key,
        new.original,
        config_to_json(new.config),
        new.lane,
        new.source,
        new.source_path,
        new.address,
        new.replaces,
    )
    return _document(row)


async def get(connection: Connection, ids: Sequence[UUID]) -> list[Document]:
    """Return those of the documents that are there, in no particular order."""
    return [_document(row) for row in await connection.fetch(_BY_IDS, ids)]


async def lock(connection: Connection, document_id: UUID) -> Document | None:
    """Return the document and hold its row until the transaction ends."""
    row = await connection.fetchrow(_LOCK, document_id)
    return _document(row) if row else None


async def lock_creation(connection: Connection, base_id: UUID, address: str) -> None:
    """Let one transaction at a time decide what is tracked at an address; versions follow that order."""
    await connection.execute(_LOCK_CREATION, base_id, address)


async def beside(connection: Connection, new: NewDocument) -> list[Document]:
    """Return the documents of the file or the address of a new one, in no particular order."""
    found = await connection.fetch(_OF_FILE_OR_AT_ADDRESS, new.knowledge_base_id, new.address, new.file_id)
    return [_document(row) for row in found]


async def newer_replacements(connection: Connection, document: Document) -> list[Document]:
    """Return the documents, in whatever state, that replace this one once they are done."""
    found = await connection.fetch(
        _NEWER_AT_ADDRESS, document.knowledge_base_id, document.address, document.version
    )
    return [_document(row) for row in found]


async def lock_retirable(connection: Connection, newer: Document, named: Sequence[UUID]) -> list[Document]:
    """Hold and return the older documents of `newer`'s base that have its address or are `named`."""
    rows = await connection.fetch(
        _LOCK_RETIRABLE, newer.knowledge_base_id, newer.address, newer.version, named
    )
    return [_document(row) for row in rows]


async def lock_of_base(
    connection: Connection, base_id: UUID, before: UUID | None, limit: int
) -> list[Document]:
    """Hold and return up to `limit` documents of a base, only those with smaller ids than `before`."""
    return [_document(row) for row in await connection.fetch(_LOCK_OF_BASE, base_id, before, limit)]


async def save(connection: Connection, document: Document) -> None:
    """Write what a transition changed. The row must be held."""
    await connection.execute(
        _SAVE,
        document.id,
        document.state,
        document.stage,
        document.reason,
        document.attempt,
        document.chunk_count,
        document.page_count,
        document.pages_key,
        document.chunks_key,
        document.original,
    )


async def save_notices(connection: Connection, document: Document) -> None:
    """Write the document's warnings in place of those it had."""
    await connection.execute(_FORGET_NOTICES, document.id)
    notices = [(document.id, n, notice.code, notice.message) for n, notice in enumerate(document.notices)]
    await connection.executemany(_INSERT_NOTICE, notices)


async def delete(connection: Connection, ids: Sequence[UUID]) -> None:
    """Remove rows with their warnings. Their files make no document any more."""
    await connection.execute(_DELETE, ids)


async def was_removed(connection: Connection, file_id: UUID) -> bool:
    """Whether a file had a document that is gone."""
    return bool(await connection.fetchval(_WAS_REMOVED, file_id))


async def forget_removed(pool: Pool) -> None:
    """Forget removed files after a week: upload has heard of them by then."""
    await pool.execute(_FORGET_REMOVED)


async def page(
    connection: Connection, base_ids: Sequence[UUID], states: Sequence[State], wanted: PageRequest
) -> Page[Document]:
    """Return the documents of bases that are in one of these states, newest first."""
    rows = await connection.fetch(_PAGE, base_ids, states, wanted.before, wanted.limit)
    return wanted.cut([_document(row) for row in rows])


async def count(connection: Connection, base_ids: Sequence[UUID]) -> dict[State, int]:
    """Return how many documents of the bases are in each state."""
    counts = dict.fromkeys(State, 0)
    for row in await connection.fetch(_COUNT, base_ids):
        counts[State(row["state"])] = row["count"]
    return counts


def _document(row: asyncpg.Record) -> Document:
    return Document(
        id=row["id"],
        file_id=row["file_id"],
        knowledge_base_id=row["knowledge_base_id"],
        collection_name=row["collection_name"],
        organization_id=row["organization_id"],
        actor_user_id=row["actor_user_id"],
        filename=row["filename"],
        kind=row["kind"],
        size=row["size"],
        sha256=row["sha256"],
        original_key=row["original_key"],
        original=Original(row["original"]),
        config=config_from_json(row["ingestion_config"]),
        lane=Lane(row["lane"]),
        source=Source(row["source"]),
        source_path=row["source_path"],
        replaces=row["replaces"],
        version=row["version"],
        state=State(row["state"]),
        stage=Stage(row["stage"]) if row["stage"] else None,
        reason=cast("ErrorReason | None", row["reason"]),
        attempt=row["attempt"],
        chunk_count=row["chunk_count"],
        page_count=row["page_count"],
        pages_key=row["pages_key"],
        chunks_key=row["chunks_key"],
        created_at=row["created_at"],
        completed_at=row["completed_at"],
        notices=tuple(Notice(code, message) for code, message in row["notices"]),
    )
