"""Sources: their rows, and nothing of what their runs do."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

import asyncpg

from acervo.events.v1.facts_pb2 import (
    SOURCE_CHANGE_CREATED,
    SOURCE_CHANGE_DELETED,
    SOURCE_CHANGE_UPDATED,
    SourceChange,
    SourceChanged,
)
from services.shared import bases, bus, outbox
from services.shared.db import Connection, Pool
from services.shared.ids import uuid7
from services.shared.paging import Page, PageRequest
from services.sync.local_directory import LocalDirectory
from services.sync.modes import Mode

_INSERT = """
INSERT INTO sources (id, knowledge_base_id, tenant_id, display_name, connector, config, mode, owner_user_id)
VALUES ($1, $2, $3, $4, 'local_directory', $5, $6, $7) RETURNING *
"""
_GET = "SELECT * FROM sources WHERE id = $1"
_OF_RUN = "SELECT * FROM sources WHERE id = (SELECT source_id FROM runs WHERE id = $1)"
_OF_BASE = (
    "SELECT * FROM sources WHERE knowledge_base_id = $1 AND NOT detached AND id > $2 ORDER BY id LIMIT $3"
)
_DETACHED = "SELECT * FROM sources WHERE detached AND id > $1 ORDER BY id LIMIT $2"
_RUNS = "SELECT id FROM runs WHERE source_id = $1"
_DELETE = "DELETE FROM sources WHERE id = $1 RETURNING *"
_RUNS_OF_BASE = "SELECT id FROM runs WHERE source_id IN (SELECT id FROM sources WHERE knowledge_base_id = $1)"
_DELETE_OF_BASE = "DELETE FROM sources WHERE knowledge_base_id = $1"
_DETACH = "UPDATE sources SET detached = true WHERE knowledge_base_id = $1"
_ATTACH = """
UPDATE sources SET knowledge_base_id = $2, tenant_id = $3, owner_user_id = $4, detached = false
WHERE id = $1 AND detached RETURNING *, old.knowledge_base_id AS previous_base_id
"""


@dataclass(frozen=True, slots=True)
class Source:
    """An outside place that a base follows. `tenant_id` is whose turn its runs count as."""

    id: UUID
    knowledge_base_id: UUID
    tenant_id: UUID
    display_name: str
    directory: LocalDirectory
    mode: Mode
    owner_user_id: UUID
    detached: bool
    created_at: datetime

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> Self:
        """Read a row of `sources`."""
        return cls(
            row["id"],
            row["knowledge_base_id"],
            row["tenant_id"],
            row["display_name"],
            LocalDirectory(**row["config"]),
            Mode(row["mode"]),
            row["owner_user_id"],
            row["detached"],
            row["created_at"],
        )


@dataclass(frozen=True, slots=True)
class NewSource:
    """What a source is made of."""

    id: UUID
    knowledge_base_id: UUID
    tenant_id: UUID
    display_name: str
    directory: LocalDirectory
    mode: Mode
    owner_user_id: UUID


async def create(connection: Connection, new: NewSource) -> Source:
    """Make a source. Raises BaseGone where its base was deleted meanwhile."""
    await bases.hold(connection, new.knowledge_base_id, new.id)
    config = {"path": new.directory.path, "recursive": new.directory.recursive}
    arguments = (
        new.id,
        new.knowledge_base_id,
        new.tenant_id,
        new.display_name,
        config,
        new.mode,
        new.owner_user_id,
    )
    (row,) = await connection.fetch(_INSERT, *arguments)
    await _announce(connection, SOURCE_CHANGE_CREATED, row, new.owner_user_id)
    return Source.from_row(row)


async def find(pool: Pool, source_id: UUID) -> Source | None:
    """Return a source, detached or not."""
    row = await pool.fetchrow(_GET, source_id)
    return None if row is None else Source.from_row(row)


async def of_run(pool: Pool, run_id: UUID) -> Source | None:
    """Return the source of a run, by one statement whether there is one or not."""
    row = await pool.fetchrow(_OF_RUN, run_id)
    return None if row is None else Source.from_row(row)


async def of_base(pool: Pool, base_id: UUID, wanted: PageRequest) -> Page[Source]:
    """Return the sources of a base, oldest first."""
    rows = await pool.fetch(_OF_BASE, base_id, wanted.after, wanted.limit)
    return wanted.cut([Source.from_row(row) for row in rows])


async def all_detached(pool: Pool, wanted: PageRequest) -> Page[Source]:
    """Return the sources whose base was deleted, oldest first."""
    rows = await pool.fetch(_DETACHED, wanted.after, wanted.limit)
    return wanted.cut([Source.from_row(row) for row in rows])


async def delete(connection: Connection, source_id: UUID, actor_user_id: UUID) -> list[UUID]:
    """Remove a source with its claims and its runs, whose ids are returned; the documents that it brought stay."""
    run_ids = [row["id"] for row in await connection.fetch(_RUNS, source_id)]
    row = await connection.fetchrow(_DELETE, source_id)
    if row is not None:
        await _announce(connection, SOURCE_CHANGE_DELETED, row, actor_user_id)
    return run_ids


async def detach(connection: Connection, base_id: UUID) -> None:
    """Part all sources from a base that was deleted; they keep their configuration."""
    await connection.execute(_DETACH, base_id)


async def delete_of_base(connection: Connection, base_id: UUID) -> list[UUID]:
    """Remove all sources of a base that was deleted with those it belonged to; return the ids of their runs."""
    run_ids = [row["id"] for row in await connection.fetch(_RUNS_OF_BASE, base_id)]
    await connection.execute(_DELETE_OF_BASE, base_id)
    return run_ids


async def attach(
    connection: Connection, source_id: UUID, base_id: UUID, tenant_id: UUID, owner_user_id: UUID, *, at: UUID
) -> Source | None:
    """Point a detached source at another base, under a new owner; None where it is not detached.

    `at` is a UUIDv7 of this moment: a base that was emptied takes a source that is older than that.

    Raises BaseGone where that base was deleted meanwhile.
    """
    await bases.hold(connection, base_id, at)
    row = await connection.fetchrow(_ATTACH, source_id, base_id, tenant_id, owner_user_id)
    if row is None:
        return None
    await _announce(
        connection, SOURCE_CHANGE_UPDATED, row, owner_user_id, previous_base_id=row["previous_base_id"]
    )
    return Source.from_row(row)


async def _announce(
    connection: Connection,
    change: SourceChange,
    row: asyncpg.Record,
    actor_user_id: UUID,
    *,
    previous_base_id: UUID | None = None,
) -> None:
    """Let access write down who did it, whatever becomes of this process."""
    fact = SourceChanged(
        change_id=str(uuid7()),
        change=change,
        actor_user_id=str(actor_user_id),
        source_id=str(row["id"]),
        connector=row["connector"],
        knowledge_base_id=str(row["knowledge_base_id"]),
        previous_knowledge_base_id=str(previous_base_id or ""),
    )
    await outbox.announce(connection, bus.SOURCE_CHANGED, fact)
