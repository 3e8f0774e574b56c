"""Claims: which documents a source has brought, and of which file.

A file is known by its address alone: the same name elsewhere, or the same content, is another file. While a new
document replaces an old one both are claimed; the old claim goes with its document.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from services.shared.db import Connection, Pool
from services.sync.modes import Held

# A source's newest sound document of each file, or its newest one where none is sound.
_HELD = """
SELECT DISTINCT ON (path_digest) path_digest, sha256, signal FROM claims
WHERE source_id = $1 AND path_digest = ANY($2::bytea[])
ORDER BY path_digest, sha256 IS NULL, document_id DESC
"""
_PUT = """
INSERT INTO claims (source_id, document_id, path_digest, source_path, sha256, signal) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (source_id, document_id) DO UPDATE SET sha256 = excluded.sha256, signal = excluded.signal
"""
_HAS = "SELECT true FROM claims WHERE source_id = $1 AND document_id = $2"
_SEEN_AGAIN = "UPDATE claims SET signal = $4 WHERE source_id = $1 AND path_digest = $2 AND sha256 = $3"
_DISTRUST = "UPDATE claims SET sha256 = NULL WHERE document_id = $1"
_FORGET_DOCUMENT = "DELETE FROM claims WHERE document_id = $1"
_RELEASE = "DELETE FROM claims WHERE source_id = $1 AND path_digest = $2"
_ANY = "SELECT EXISTS (SELECT FROM claims WHERE source_id = $1)"
# Files that the source brought before and that the run has not listed.
_UNLISTED = """
SELECT DISTINCT ON (c.path_digest) c.path_digest, c.source_path FROM claims c
WHERE c.source_id = $1 AND c.path_digest > $3 AND NOT EXISTS (
    SELECT FROM run_files f
    WHERE f.run_id = $2 AND f.path_digest = c.path_digest AND f.outcome NOT IN ('removing', 'removed')
)
ORDER BY c.path_digest LIMIT $4
"""
# Locked in one order, so that of two sources that give a document up at once the second sees that it is the last.
_LOCK_HOLDERS = """
SELECT source_id, document_id FROM claims
WHERE document_id IN (SELECT document_id FROM claims WHERE source_id = $1 AND path_digest = $2)
ORDER BY document_id, source_id FOR UPDATE
"""
_OF_BASE = "DELETE FROM claims USING sources s WHERE s.id = source_id AND s.knowledge_base_id = $1"
_OF_BASE_BEFORE = _OF_BASE + " AND document_id < $2"


@dataclass(frozen=True, slots=True)
class ClaimedFile:
    """A file of which a source has brought documents."""

    digest: bytes
    path: str


def digest(path: str) -> bytes:
    """What a path is looked up by: it may be longer than an index entry."""
    return hashlib.sha256(path.encode()).digest()


async def held(pool: Pool, source_id: UUID, digests: Iterable[bytes]) -> dict[bytes, Held]:
    """Return what the base holds of these files, as far as this source brought it."""
    rows = await pool.fetch(_HELD, source_id, list(digests))
    return {row["path_digest"]: Held(row["sha256"], row["signal"]) for row in rows}


async def put(
    connection: Connection,
    source_id: UUID,
    document_id: UUID,
    path: str,
    *,
    sha256: bytes | None,
    signal: str,
) -> bool:
    """Claim a document of a file; whether the source did not claim it before."""
    known = await connection.fetchval(_HAS, source_id, document_id)
    await connection.execute(_PUT, source_id, document_id, digest(path), path, sha256, signal)
    return not known


async def seen_again(
    connection: Connection, source_id: UUID, path: str, *, sha256: bytes, signal: str
) -> None:
    """Keep the signal that now stands for the bytes that are held."""
    await connection.execute(_SEEN_AGAIN, source_id, digest(path), sha256, signal)


async def distrust(connection: Connection, document_id: UUID) -> None:
    """Forget the hash of a document that failed, so that its file is taken again."""
    await connection.execute(_DISTRUST, document_id)


async def forget_document(connection: Connection, document_id: UUID) -> None:
    """Drop all claims to a document that is gone."""
    await connection.execute(_FORGET_DOCUMENT, document_id)


async def any_of(pool: Pool, source_id: UUID) -> bool:
    """Whether the source has brought anything that is still there."""
    return bool(await pool.fetchval(_ANY, source_id))


async def unlisted(pool: Pool, source_id: UUID, run_id: UUID, after: bytes, limit: int) -> list[ClaimedFile]:
    """Return files that the source brought and the run did not list, by digest, from the first after `after`."""
    rows = await pool.fetch(_UNLISTED, source_id, run_id, after, limit)
    return [ClaimedFile(row["path_digest"], row["source_path"]) for row in rows]


async def sole_documents(connection: Connection, source_id: UUID, path_digest: bytes) -> Sequence[UUID]:
    """Lock the claims to a file's documents, and return those that no other source claims."""
    rows = await connection.fetch(_LOCK_HOLDERS, source_id, path_digest)
    shared = {row["document_id"] for row in rows if row["source_id"] != source_id}
    return [row["document_id"] for row in rows if row["document_id"] not in shared]


async def release(connection: Connection, source_id: UUID, path_digest: bytes) -> None:
    """Give up a file."""
    await connection.execute(_RELEASE, source_id, path_digest)


async def forget_base(connection: Connection, base_id: UUID, before: UUID | None = None) -> None:
    """Drop the claims to all documents of a base, or to those with an id smaller than `before`."""
    if before is None:
        await connection.execute(_OF_BASE, base_id)
    else:
        await connection.execute(_OF_BASE_BEFORE, base_id, before)
