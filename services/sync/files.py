"""The files of a run and what became of them. A run's counts are counts of these rows, never added up."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from services.shared.db import Connection, Pool
from services.shared.errors import AcervoError
from services.sync import claims

CHANNEL = "files"
"""Notified when a document that a run waits for has ended."""

_OUTCOMES = "SELECT path_digest, outcome FROM run_files WHERE run_id = $1 AND path_digest = ANY($2::bytea[])"
_NOTE = """
INSERT INTO run_files (run_id, path_digest, source_path, outcome, replaces, reason, message, kind_not_taken)
SELECT $1, * FROM unnest($2::bytea[], $3::text[], $4::text[], $5::boolean[], $6::integer[], $7::text[], $8::text[])
ON CONFLICT DO NOTHING
"""
_HANDED = """
UPDATE run_files SET outcome = 'indexing', document_id = $3
WHERE run_id = $1 AND path_digest = $2 AND outcome = 'taking'
"""
_SKIPPED = """
UPDATE run_files SET outcome = 'skipped' WHERE run_id = $1 AND path_digest = $2 AND outcome = 'taking'
"""
_FAILED = """
UPDATE run_files SET outcome = 'failed', reason = $3, message = $4
WHERE run_id = $1 AND path_digest = $2 AND outcome = 'taking'
"""
_FAIL_UNTAKEN = """
UPDATE run_files SET outcome = 'failed', reason = $2, message = $3 WHERE run_id = $1 AND outcome = 'taking'
"""
_FINISHED = """
WITH ended AS (
    UPDATE run_files SET
        outcome = CASE WHEN $2::integer IS NOT NULL THEN 'failed' WHEN replaces THEN 'updated' ELSE 'ingested' END,
        reason = $2, message = $3
    WHERE document_id = $1 AND outcome = 'indexing' RETURNING 1
)
SELECT pg_notify(current_schema() || '.files', '') FROM ended LIMIT 1
"""
_INDEXING = """
SELECT document_id FROM run_files WHERE run_id = $1 AND outcome = 'indexing' ORDER BY document_id LIMIT $2
"""
_COUNT_INDEXING = "SELECT count(*) FROM run_files WHERE run_id = $1 AND outcome = 'indexing'"
_LISTED = "SELECT EXISTS (SELECT FROM run_files WHERE run_id = $1 AND outcome NOT IN ('removing', 'removed'))"
_REMOVING = """
INSERT INTO run_files (run_id, path_digest, source_path, outcome) VALUES ($1, $2, $3, 'removing')
ON CONFLICT DO NOTHING
"""
_REMOVED = (
    "UPDATE run_files SET outcome = 'removed' WHERE run_id = $1 AND path_digest = $2 AND outcome = 'removing'"
)
# What was being removed and is claimed no more was removed: the document's end was heard of first.
_REMOVALS_DONE = """
UPDATE run_files f SET outcome = 'removed' FROM runs r
WHERE f.run_id = $1 AND f.outcome = 'removing' AND r.id = f.run_id
    AND NOT EXISTS (SELECT FROM claims c WHERE c.source_id = r.source_id AND c.path_digest = f.path_digest)
"""


class Outcome(StrEnum):
    """What became of a file, or is becoming of it: TAKING, INDEXING and REMOVING are not ends."""

    TAKING = "taking"
    INDEXING = "indexing"
    INGESTED = "ingested"
    UPDATED = "updated"
    SKIPPED = "skipped"
    FAILED = "failed"
    REMOVING = "removing"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Found:
    """A file as it goes into a run: left SKIPPED, about to be taken (TAKING), or FAILED at once.

    `replaces` says whether the base holds a sound document of it, `kind_not_taken` by which extension its kind is known
    not to be taken.
    """

    path: str
    outcome: Outcome
    replaces: bool = False
    failure: AcervoError | None = None
    kind_not_taken: str | None = None

    @property
    def row(self) -> tuple[bytes, str, str, bool, int | None, str, str | None]:
        """The columns of `run_files` that it fills."""
        reason, message = (None, "") if self.failure is None else (self.failure.reason, self.failure.message)
        return (
            claims.digest(self.path),
            self.path,
            self.outcome,
            self.replaces,
            reason,
            message,
            self.kind_not_taken,
        )


async def outcomes(pool: Pool, run_id: UUID, digests: Sequence[bytes]) -> dict[bytes, Outcome]:
    """Return what the run has made of these files so far."""
    rows = await pool.fetch(_OUTCOMES, run_id, digests)
    return {row["path_digest"]: Outcome(row["outcome"]) for row in rows}


async def note(pool: Pool, run_id: UUID, found: Sequence[Found]) -> None:
    """Add files to a run. One that is there already stays as it is."""
    if found:
        columns = zip(*(file.row for file in found), strict=True)
        await pool.execute(_NOTE, run_id, *map(list, columns))


async def handed(connection: Connection, run_id: UUID, path: str, document_id: UUID) -> None:
    """A file that was being taken has become a document."""
    await connection.execute(_HANDED, run_id, claims.digest(path), document_id)


async def skipped(connection: "Connection | Pool", run_id: UUID, path: str) -> None:
    """A file that was being taken turned out to be held as it is."""
    await connection.execute(_SKIPPED, run_id, claims.digest(path))


async def failed(connection: "Connection | Pool", run_id: UUID, path: str, error: AcervoError) -> None:
    """A file that was being taken was refused, or could not be read."""
    await connection.execute(_FAILED, run_id, claims.digest(path), error.reason, error.message)


async def fail_untaken(pool: Pool, run_id: UUID, error: AcervoError) -> None:
    """What was to be taken when a run was interrupted, and is listed no more, cannot be taken."""
    await pool.execute(_FAIL_UNTAKEN, run_id, error.reason, error.message)


async def finished(connection: Connection, document_id: UUID, failure: AcervoError | None) -> None:
    """A document has ended: so have the files that wait for it, and the hash of one that failed is not trusted."""
    if failure is None:
        await connection.execute(_FINISHED, document_id, None, "")
        return
    await claims.distrust(connection, document_id)
    await connection.execute(_FINISHED, document_id, failure.reason, failure.message)


async def indexing(pool: Pool, run_id: UUID, limit: int) -> list[UUID]:
    """Return documents that the run waits for, the oldest first."""
    return [row["document_id"] for row in await pool.fetch(_INDEXING, run_id, limit)]


async def count_indexing(pool: Pool, run_id: UUID) -> int:
    """Return how many documents the run waits for."""
    count: int = await pool.fetchval(_COUNT_INDEXING, run_id)
    return count


async def any_listed(pool: Pool, run_id: UUID) -> bool:
    """Whether the run has listed a single file."""
    return bool(await pool.fetchval(_LISTED, run_id))


async def removing(connection: Connection, run_id: UUID, path: str) -> None:
    """A file is gone, and its documents are about to be removed."""
    await connection.execute(_REMOVING, run_id, claims.digest(path), path)


async def removed(connection: Connection, run_id: UUID, path: str) -> None:
    """The documents of a file that is gone were removed."""
    await connection.execute(_REMOVED, run_id, claims.digest(path))


async def settle_removals(pool: Pool, run_id: UUID) -> None:
    """Count as removed what was being removed when a run was interrupted, and has gone since."""
    await pool.execute(_REMOVALS_DONE, run_id)
