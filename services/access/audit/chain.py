"""Sealing what was committed, and walking the chain to see that it is whole."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import asyncpg

from services.access.audit.log import entry_from_row, seal_from_row
from services.access.audit.seals import START, Break, Fault, Head, chain, judge
from services.shared.db import Connection, Pool

BATCH: Final = 500

_HEAD = "SELECT sequence, hash FROM audit_seals ORDER BY sequence DESC LIMIT 1"
_TAKE = """
WITH taken AS (
    DELETE FROM audit_unsealed
     WHERE event_id IN (SELECT event_id FROM audit_unsealed ORDER BY event_id LIMIT $1 FOR UPDATE)
    RETURNING event_id
)
SELECT e.* FROM audit_events e JOIN taken t ON t.event_id = e.id ORDER BY e.id
"""
_APPEND = "INSERT INTO audit_seals (sequence, event_id, previous_hash, hash) VALUES ($1, $2, $3, $4)"
_WALK = """
SELECT s.sequence, s.event_id, s.previous_hash, s.hash, e.*
  FROM audit_seals s LEFT JOIN audit_events e ON e.id = s.event_id
 WHERE s.sequence > $1 ORDER BY s.sequence LIMIT $2
"""
# `OFFSET 0`: asked for each event of the batch, never answered for the whole log at once.
_EVENTS = """
SELECT e.id, EXISTS (SELECT FROM audit_seals s WHERE s.event_id = e.id OFFSET 0) AS sealed,
       EXISTS (SELECT FROM audit_unsealed u WHERE u.event_id = e.id OFFSET 0) AS waiting
  FROM audit_events e WHERE e.id > $1 ORDER BY e.id LIMIT $2
"""


@dataclass(frozen=True, slots=True)
class Verification:
    """How far the chain was walked."""

    head: Head
    """The last seal that was found right."""
    waiting: int = 0
    """How many events are not sealed yet."""
    broken: Break | None = None
    complete: bool = False
    """Whether the walk is over."""


async def seal_batch(pool: Pool) -> int:
    """Chain up to `BATCH` events that were committed and are not sealed; return how many there were.

    Events become visible in another order than that of their ids: the order of the chain is that of finding them.
    """
    async with pool.acquire() as connection, connection.transaction():
        entries = [entry_from_row(row) for row in await connection.fetch(_TAKE, BATCH)]
        # Read once the events are held: another sealer has appended its own by then. Where it held others, the second
        # seal of a sequence is refused.
        head = await _head(connection)
        seals = [(s.sequence, s.event_id, s.previous_hash, s.hash) for s in chain(head, entries)]
        await connection.executemany(_APPEND, seals)
    return len(seals)


async def seal(pool: Pool) -> None:
    """Chain all events that were committed."""
    while await seal_batch(pool) == BATCH:
        pass


async def _head(connection: Connection) -> Head:
    row = await connection.fetchrow(_HEAD)
    return START if row is None else Head(row["sequence"], row["hash"])


async def verify(pool: Pool, kept: Head | None = None) -> AsyncIterator[Verification]:
    """Walk the whole chain, and tell after each batch how far it is right; the last one tells the outcome.

    `kept` is a head of earlier: that the end of the chain was cut off and forged anew shows by nothing else.
    """
    head = START
    while rows := await pool.fetch(_WALK, head.sequence, BATCH):
        for row in rows:
            head, broken = _step(head, row, kept)
            if broken is not None:
                yield Verification(head, broken=broken, complete=True)
                return
        yield Verification(head)
    if kept is not None and kept.sequence > head.sequence:
        broken = Break(Fault.HEAD_DIFFERS, kept.sequence, None)
        yield Verification(head, broken=broken, complete=True)
        return
    async for verification in _verify_events(pool, head):
        yield verification


def _step(head: Head, row: asyncpg.Record, kept: Head | None) -> tuple[Head, Break | None]:
    seal = seal_from_row(row)
    broken = judge(head, seal, None if row["id"] is None else entry_from_row(row))
    if broken is None and kept is not None and kept.sequence == seal.sequence and kept != seal.head:
        broken = Break(Fault.HEAD_DIFFERS, seal.sequence, seal.event_id)
    return (seal.head, None) if broken is None else (head, broken)


async def _verify_events(pool: Pool, head: Head) -> AsyncIterator[Verification]:
    """Look for events that were put beside the chain."""
    last, waiting = UUID(int=0), 0
    while rows := await pool.fetch(_EVENTS, last, BATCH):
        for row in rows:
            if not row["sealed"] and not row["waiting"]:
                broken = Break(Fault.NOT_SEALED, 0, row["id"])
                yield Verification(head, waiting, broken, complete=True)
                return
            waiting += row["waiting"]
        last = rows[-1]["id"]
        yield Verification(head, waiting)
    yield Verification(head, waiting, complete=True)
