"""Teardowns under way: begun with a deletion, announced until all have answered, swept where one hangs."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import asyncpg

from acervo.events.v1.facts_pb2 import BaseDeleted, BaseEmptied
from services.access.bases import names
from services.access.bases.teardown import Teardown, TeardownKind
from services.shared import bus, outbox
from services.shared.db import Connection, Pool

SWEEP_BATCH = 100

_INSERT = """
INSERT INTO teardowns (id, kind, knowledge_base_id, collection_name, last_holder, owner_gone, emptied_before,
                       awaited)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""
_NAME = "SELECT collection_name FROM teardowns WHERE id = $1"
_FIND = "SELECT * FROM teardowns WHERE id = $1"
_UPDATE = "UPDATE teardowns SET awaited = $2 WHERE id = $1"
_DELETE = "DELETE FROM teardowns WHERE id = $1"
_OVERDUE = """
UPDATE teardowns SET announce_time = now()
 WHERE id IN (SELECT id FROM teardowns WHERE announce_time < now() - $1::interval
              ORDER BY announce_time LIMIT $2 FOR UPDATE SKIP LOCKED)
RETURNING *
"""


def _from_row(row: asyncpg.Record) -> Teardown:
    return Teardown(
        id=row["id"],
        kind=TeardownKind(row["kind"]),
        knowledge_base_id=row["knowledge_base_id"],
        collection_name=row["collection_name"],
        last_holder=row["last_holder"],
        owner_gone=row["owner_gone"],
        emptied_before=row["emptied_before"],
        awaited=frozenset(row["awaited"]),
    )


async def start(connection: Connection, teardowns: Sequence[Teardown]) -> None:
    """Store and announce teardowns, in the deletion's transaction and under the locks of their names."""
    await connection.executemany(
        _INSERT,
        [
            (
                t.id,
                t.kind,
                t.knowledge_base_id,
                t.collection_name,
                t.last_holder,
                t.owner_gone,
                t.emptied_before,
                sorted(t.awaited),
            )
            for t in teardowns
        ],
    )
    for teardown in teardowns:
        await _announce(connection, teardown)


async def answered(pool: Pool, teardown_id: UUID, service: str) -> None:
    """Note a service's answer; the last one frees the name. An answer to what is over changes nothing."""
    async with pool.acquire() as connection, connection.transaction():
        name = await connection.fetchval(_NAME, teardown_id)
        if name is None:
            return
        await names.lock(connection, name)
        row = await connection.fetchrow(_FIND, teardown_id)
        if row is None:
            return
        teardown = _from_row(row).answered_by(service)
        if not teardown.over:
            await connection.execute(_UPDATE, teardown_id, sorted(teardown.awaited))
            return
        await connection.execute(_DELETE, teardown_id)
        await names.release(connection, name)


async def announce_overdue(pool: Pool, age: timedelta) -> int:
    """Announce up to `SWEEP_BATCH` teardowns again whose last announcement is older; return how many."""
    async with pool.acquire() as connection, connection.transaction():
        rows = await connection.fetch(_OVERDUE, age, SWEEP_BATCH)
        for row in rows:
            await _announce(connection, _from_row(row))
    return len(rows)


async def _announce(connection: Connection, teardown: Teardown) -> None:
    if teardown.kind is TeardownKind.EMPTIED:
        emptied = BaseEmptied(
            knowledge_base_id=str(teardown.knowledge_base_id),
            teardown_id=str(teardown.id),
            emptied_before=str(teardown.emptied_before),
        )
        await outbox.announce(connection, bus.BASE_EMPTIED, emptied)
        return
    deleted = BaseDeleted(
        knowledge_base_id=str(teardown.knowledge_base_id),
        teardown_id=str(teardown.id),
        collection_name=teardown.collection_name,
        last_holder=teardown.last_holder,
        owner_gone=teardown.owner_gone,
    )
    await outbox.announce(connection, bus.BASE_DELETED, deleted)
