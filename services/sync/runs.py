"""Runs: one pass over a source each, and one at a time of a source."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Self
from uuid import UUID

import asyncpg

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.events.v1.work_pb2 import RunSource
from services.shared import bases, jobs
from services.shared.bus import SYNC, Lane, lane_subject
from services.shared.db import Connection, Pool
from services.shared.errors import AcervoError
from services.shared.paging import Page, PageRequest
from services.sync.modes import Mode
from services.sync.sources import Source

STAGE = "sync"
ATTEMPT = 1
"""A run is attempted once: what failed in it is taken again by the next."""
FAILED_FILES = 100
KINDS_NOT_TAKEN = 20

_INSERT = "INSERT INTO runs (id, source_id, knowledge_base_id, mode) VALUES ($1, $2, $3, $4)"
_SELECT = """
SELECT r.id, r.source_id, r.knowledge_base_id, r.mode, r.state, r.failure_reason, r.failure_message, r.created_at,
    r.completed_at, r.kinds_not_taken,
    coalesce(f.listed, r.listed) AS listed, coalesce(f.ingested, r.ingested) AS ingested,
    coalesce(f.updated, r.updated) AS updated, coalesce(f.skipped, r.skipped) AS skipped,
    coalesce(f.failed, r.failed) AS failed, coalesce(f.removed, r.removed) AS removed
FROM runs r LEFT JOIN run_counts f ON f.run_id = r.id AND r.state = 'running'
"""
_GET = _SELECT + "WHERE r.id = $1"
_OF_SOURCE = _SELECT + "WHERE r.source_id = $1 AND r.id < $2 ORDER BY r.id DESC LIMIT $3"
_FAILED_FILES = """
SELECT source_path, reason, message FROM run_files WHERE run_id = $1 AND outcome = 'failed'
ORDER BY source_path, path_digest LIMIT $2
"""
_COMPLETE = """
UPDATE runs SET state = $2, failure_reason = $3, failure_message = $4, completed_at = now(),
    (listed, ingested, updated, skipped, failed, removed) = (
        SELECT coalesce(sum(listed), 0), coalesce(sum(ingested), 0), coalesce(sum(updated), 0),
            coalesce(sum(skipped), 0), coalesce(sum(failed), 0), coalesce(sum(removed), 0)
        FROM run_counts WHERE run_id = $1
    ),
    kinds_not_taken = (
        SELECT coalesce(jsonb_object_agg(kind, files), '{}') FROM (
            SELECT kind_not_taken AS kind, count(*) AS files FROM run_files
            WHERE run_id = $1 AND kind_not_taken IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $5
        ) AS counted
    )
WHERE id = $1 AND state = 'running'
"""
_PRUNE = """
DELETE FROM run_files WHERE run_id = $1 AND path_digest NOT IN (
    SELECT path_digest FROM run_files WHERE run_id = $1 AND outcome = 'failed'
    ORDER BY source_path, path_digest LIMIT $2
)
"""


class RunState(StrEnum):
    """The lifecycle of a run."""

    RUNNING = "running"
    DONE = "done"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of files."""

    listed: int
    ingested: int
    updated: int
    skipped: int
    failed: int
    removed: int


@dataclass(frozen=True, slots=True)
class Run:
    """One pass over a source. `failure_reason` is set where the run as a whole failed.

    `kinds_not_taken` counts, once it is over, the files that were skipped for their extension.
    """

    id: UUID
    source_id: UUID
    knowledge_base_id: UUID
    mode: Mode
    state: RunState
    counts: Counts
    kinds_not_taken: Mapping[str, int]
    failure_reason: int | None
    failure_message: str
    created_at: datetime
    completed_at: datetime | None

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> Self:
        """Read what `_SELECT` selects."""
        return cls(
            row["id"],
            row["source_id"],
            row["knowledge_base_id"],
            Mode(row["mode"]),
            RunState(row["state"]),
            Counts(**{name: row[name] for name in Counts.__slots__}),
            row["kinds_not_taken"],
            row["failure_reason"],
            row["failure_message"],
            row["created_at"],
            row["completed_at"],
        )


@dataclass(frozen=True, slots=True)
class FailedFile:
    """A file of a run that failed, and why."""

    path: str
    reason: int
    message: str


async def start(connection: Connection, run_id: UUID, source: Source, mode: Mode, lane: Lane) -> Run:
    """Make a run and have it carried out.

    Raises:
        AcervoError: RUN_IN_PROGRESS where another run of the source is under way; BASE_DELETED.
    """
    await bases.hold(connection, source.knowledge_base_id, run_id)
    try:
        await connection.execute(_INSERT, run_id, source.id, source.knowledge_base_id, mode)
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name == "runs_one_at_a_time":
            raise AcervoError(pb.ERROR_REASON_RUN_IN_PROGRESS) from None
        raise
    message = RunSource(run_id=str(run_id), attempt=ATTEMPT).SerializeToString()
    subject = lane_subject(SYNC, lane)
    work = jobs.Work(run_id, STAGE, ATTEMPT, lane, source.tenant_id, subject, message)
    await jobs.enqueue(connection, work, send=False)
    (row,) = await connection.fetch(_GET, run_id)
    return Run.from_row(row)


async def find(pool: Pool, run_id: UUID) -> Run | None:
    """Return a run, with its counts so far."""
    row = await pool.fetchrow(_GET, run_id)
    return None if row is None else Run.from_row(row)


async def of_source(pool: Pool, source_id: UUID, wanted: PageRequest) -> Page[Run]:
    """Return the runs of a source, newest first."""
    rows = await pool.fetch(_OF_SOURCE, source_id, wanted.before, wanted.limit)
    return wanted.cut([Run.from_row(row) for row in rows])


async def failed_files(pool: Pool, run_id: UUID) -> list[FailedFile]:
    """Return the first files of a run that failed, by path."""
    rows = await pool.fetch(_FAILED_FILES, run_id, FAILED_FILES)
    return [FailedFile(row["source_path"], row["reason"], row["message"]) for row in rows]


async def complete(connection: Connection, run_id: UUID, failure: AcervoError | None) -> None:
    """End a run: its counts stand from now on, and of its files only those that failed stay."""
    state = RunState.DONE if failure is None else RunState.ERROR
    reason, message = (None, "") if failure is None else (failure.reason, failure.message)
    await connection.execute(_COMPLETE, run_id, state, reason, message, KINDS_NOT_TAKEN)
    await connection.execute(_PRUNE, run_id, FAILED_FILES)
