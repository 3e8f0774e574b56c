"""Stored files, and the rows that hold them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Self
from uuid import UUID

import asyncpg

from services.shared.bus import Lane
from services.shared.db import Connection, Pool
from services.shared.ingestion_config import IngestionConfig
from services.shared.ingestion_config_codec import config_from_json, config_to_json


class Source(StrEnum):
    """Where a file comes from."""

    UPLOAD = "upload"
    CLI = "cli"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class File:
    """Bytes that are stored once, and what the document that is made of them is to be like."""

    id: UUID
    knowledge_base_id: UUID
    collection_name: str
    organization_id: UUID | None
    actor_user_id: UUID | None
    filename: str
    kind: str
    size: int
    sha256: bytes
    ingestion_config: IngestionConfig
    replaces: bool
    lane: Lane
    source: Source
    source_path: str
    discard_original: bool

    @property
    def blob_key(self) -> str:
        """Where the bytes are."""
        return blob_key(self.id)

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> Self:
        """Read a row."""
        given = {column.name: row[column.name] for column in fields(cls)}
        read = {
            "ingestion_config": config_from_json(row["ingestion_config"]),
            "lane": Lane(row["lane"]),
            "source": Source(row["source"]),
        }
        return cls(**given | read)


def blob_key(file_id: UUID) -> str:
    """Where the bytes of a file are."""
    return f"upload/files/{file_id}"


_INSERT = """
INSERT INTO files (
    id, knowledge_base_id, collection_name, organization_id, actor_user_id, filename, kind, size, sha256,
    ingestion_config, replaces, lane, source, source_path, discard_original, due_at
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, now() + make_interval(secs => $16))
"""
_RECEIVED = "SELECT * FROM files WHERE id = $1 AND state = 'received'"
_TRACKED = """
WITH answered AS (
    UPDATE upload_requests SET document_id = $2, already_present = false WHERE file_id = $1 AND document_id IS NULL
)
UPDATE files SET state = 'tracked' WHERE id = $1
"""
# Each try waits twice as long as the one before, up to 64 times.
_TAKE_DUE = """
UPDATE files SET tries = tries + 1, due_at = now() + make_interval(secs => $1 * 2 ^ least(tries, 6))
WHERE id IN (
    SELECT id FROM files WHERE state = 'received' AND due_at <= now() ORDER BY due_at LIMIT $2
    FOR UPDATE SKIP LOCKED
)
RETURNING *
"""
_IS_KEPT = "SELECT true FROM files WHERE id = $1 AND state = 'tracked' AND NOT discard_original"
_DISCARDED = "SELECT discard_original FROM files WHERE id = $1 FOR UPDATE"
_OF_BASE = """
SELECT id FROM files WHERE knowledge_base_id = $1 AND ($2::uuid IS NULL OR id < $2) ORDER BY id LIMIT $3
"""
_DELETE = "DELETE FROM files WHERE id = ANY($1::uuid[]) RETURNING id"


async def insert(connection: Connection, file: File, answer_seconds: float) -> None:
    """Keep a file as received; ingest should have answered for it after `answer_seconds`."""
    await connection.execute(
        _INSERT,
        file.id,
        file.knowledge_base_id,
        file.collection_name,
        file.organization_id,
        file.actor_user_id,
        file.filename,
        file.kind,
        file.size,
        file.sha256,
        config_to_json(file.ingestion_config),
        file.replaces,
        file.lane.value,
        file.source.value,
        file.source_path,
        file.discard_original,
        answer_seconds,
    )


async def received(pool: Pool, file_id: UUID) -> File | None:
    """The file, if ingest has not answered for it yet."""
    row = await pool.fetchrow(_RECEIVED, file_id)
    return None if row is None else File.from_row(row)


async def mark_tracked(connection: "Connection | Pool", file_id: UUID, document_id: UUID) -> None:
    """Note the document that is made of the file, as the answer of the request that stored it too.

    A file that was removed meanwhile stays so.
    """
    await connection.execute(_TRACKED, file_id, document_id)


async def is_kept(pool: Pool, file_id: UUID) -> bool:
    """Whether a document is noted to be made of the file, which stays as long as the document."""
    return bool(await pool.fetchval(_IS_KEPT, file_id))


async def take_due(pool: Pool, answer_seconds: float, limit: int) -> list[File]:
    """Files that ingest should have answered for, each due again later."""
    return [File.from_row(row) for row in await pool.fetch(_TAKE_DUE, answer_seconds, limit)]


async def lock(connection: Connection, file_id: UUID) -> bool | None:
    """Hold the row; say whether its bytes are to be discarded in the end, None where it is gone."""
    discarded: bool | None = await connection.fetchval(_DISCARDED, file_id)
    return discarded


async def of_base(connection: Connection, base_id: UUID, before: UUID | None, limit: int) -> list[UUID]:
    """Ids of a base's files, those older than `before` alone where it is given."""
    return [row["id"] for row in await connection.fetch(_OF_BASE, base_id, before, limit)]


async def delete(connection: Connection, file_ids: Sequence[UUID]) -> list[UUID]:
    """Delete rows; return the ids of those that were there."""
    return [row["id"] for row in await connection.fetch(_DELETE, list(file_ids))]
