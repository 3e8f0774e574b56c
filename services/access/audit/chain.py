"""Sealing what was committed, and walking the chain to see that it is whole."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

from services.access.audit.log import entry_from_row, seal_from_row
from services.access.audit.seals import START, Break, Fault, Head, chain, judge
from services.shared.db import Connection, Pool

BATCH: Final = 500

_HEAD = "SELECT sequence, hash FROM audit_seals ORDER BY sequence DESC LIMIT 1"
# What is sealed already was put among those that wait by somebody else: it stays there, for `verify` to tell.
_TAKE = """
WITH taken AS (
    DELETE FROM audit_unsealed
     WHERE event_id IN (SELECT u.event_id FROM audit_unsealed u
                         WHERE NOT EXISTS (SELECT FROM audit_seals s WHERE s.event_id = u.event_id)
                         ORDER BY u.event_id LIMIT $1 FOR UPDATE OF u)
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
SELECT e.id, e.create_time, EXISTS (SELECT FROM audit_seals s WHERE s.event_id = e.id OFFSET 0) AS sealed,
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
    oldest_waiting: datetime | None = None
    """When the first of these was written down. The sealer takes seconds."""
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
    if kept is not None and kept.sequence == START.sequence and kept != START:
        yield Verification(head, broken=Break(Fault.HEAD_DIFFERS, 0, None), complete=True)
        return
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
    last, told = UUID(int=0), Verification(head)
    while rows := await pool.fetch(_EVENTS, last, BATCH):
        for row in rows:
            if row["sealed"] == row["waiting"]:
                fault = Fault.STILL_WAITING if row["sealed"] else Fault.NOT_SEALED
                yield replace(told, broken=Break(fault, 0, row["id"]), complete=True)
                return
            if row["waiting"]:
                since = told.oldest_waiting or row["create_time"]
                told = replace(told, waiting=told.waiting + 1, oldest_waiting=since)
        last = rows[-1]["id"]
        yield told
    yield replace(told, complete=True)
