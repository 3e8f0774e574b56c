"""Events that are true as soon as the transaction that wrote them is, and the relay that publishes them.

`emit` is for what somebody asks for again when it does not arrive (work, answers to work). `announce` is for facts that
nobody would miss: they are sent again until each service that hears them has said that it handled them, so that even a
broker that loses everything only delays them.
"""

import asyncio
import logging
import time
from uuid import UUID

from google.protobuf.message import Message

from services.shared.broker import Broker, Outgoing
from services.shared.bus import MAX_MESSAGE_BYTES, SUBJECTS, Stream, listeners, stream_of
from services.shared.db import Connection, Pool, Signal
from services.shared.ids import uuid7

log = logging.getLogger(__name__)

BATCH = 256
ANNOUNCE_AGAIN_SECONDS = 60.0
_POLL_SECONDS = 1.0
# What comes within this time of a batch goes with the next one. The first event after a rest does not wait.
_GATHER_SECONDS = 0.01
_ANSWERS_SECONDS = 0.1
_REFUSED_SECONDS = 0.5
_HEADER_BYTES = 1024

_INSERT = "INSERT INTO outbox (id, subject, payload, fact_id) VALUES ($1, $2, $3, $4)"
_ANNOUNCE = """
WITH fact AS (
    INSERT INTO facts (id, subject, payload, awaiting, due_at)
    VALUES ($1, $3, $4, $5, now() + make_interval(secs => $6)) RETURNING id, subject, payload
)
INSERT INTO outbox (id, subject, payload, fact_id) SELECT $2, subject, payload, id FROM fact
"""
_UNSENT = """
SELECT id, subject, payload, fact_id FROM outbox WHERE NOT subject LIKE ANY($2::text[]) ORDER BY id LIMIT $1
"""
_SENT = "DELETE FROM outbox WHERE id = ANY($1::uuid[])"
_HANDLED = "UPDATE facts SET awaiting = array_remove(awaiting, $2) WHERE id = $1"
_FORGET = "DELETE FROM facts WHERE id = ANY($1::uuid[]) AND awaiting = '{}'"
# Each repeat waits twice as long as the one before, up to 32 times.
_DUE_FACTS = """
UPDATE facts SET sent = sent + 1, due_at = now() + make_interval(secs => $1 * 2 ^ least(sent, 5))
WHERE id IN (SELECT id FROM facts WHERE due_at <= now() ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
RETURNING id, subject, payload
"""


async def emit(connection: Connection, subject: str, message: Message) -> UUID:
    """Put an event into the outbox, within the caller's transaction; return its id."""
    return await put(connection, subject, message.SerializeToString())


async def put(connection: Connection, subject: str, payload: bytes) -> UUID:
    """Put an encoded event into the outbox, within the caller's transaction; return its id.

    Raises:
        ValueError: if no stream would ever take it.
    """
    check(subject, payload)
    event_id = uuid7()
    await connection.execute(_INSERT, event_id, subject, payload, None)
    return event_id


def check(subject: str, payload: bytes) -> None:
    """Refuse an event that no stream would ever take: in the outbox it would be in the way of the others.

    Raises:
        ValueError: if its subject is not declared, or it is longer than messages may be.
    """
    stream_of(subject)
    if len(payload) > MAX_MESSAGE_BYTES - _HEADER_BYTES:
        raise ValueError(f"{subject}: {len(payload)} bytes are more than a message may have")


async def announce(
    connection: Connection, subject: str, message: Message, *, again_seconds: float = ANNOUNCE_AGAIN_SECONDS
) -> UUID:
    """Put a fact into the outbox that is sent again until every service that hears it has handled it."""
    hearers = list(listeners(subject))
    if not hearers:
        return await emit(connection, subject, message)
    fact_id = uuid7()
    payload = message.SerializeToString()
    check(subject, payload)
    await connection.execute(_ANNOUNCE, fact_id, uuid7(), subject, payload, hearers, again_seconds)
    return fact_id


class Answers:
    """Notes who has handled the facts that were announced here. What comes close together is one transaction."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._gathered: set[tuple[UUID, str]] = set()
        self._writing: asyncio.Task[None] | None = None

    async def handled(self, fact_id: UUID, service: str) -> None:
        """Note that `service` has handled a fact; return once that is committed."""
        self._gathered.add((fact_id, service))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        await asyncio.shield(self._writing)

    async def _write(self) -> None:
        await asyncio.sleep(_ANSWERS_SECONDS)
        # In one order everywhere, so that two processes do not wait for each other.
        answers, self._gathered, self._writing = sorted(self._gathered), set(), None
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.executemany(_HANDLED, answers)
            await connection.execute(_FORGET, [fact_id for fact_id, _ in answers])


async def announce_again(pool: Pool, again_seconds: float = ANNOUNCE_AGAIN_SECONDS) -> int:
    """Send the facts again that were not handled in time; return how many."""
    async with pool.acquire() as connection, connection.transaction():
        due = await connection.fetch(_DUE_FACTS, again_seconds, BATCH)
        await connection.executemany(
            _INSERT, [(uuid7(), row["subject"], row["payload"], row["id"]) for row in due]
        )
    return len(due)


class Relay:
    """Publishes what the outbox of one schema holds, and deletes what the broker acknowledged.

    Runs in one process at a time; a second one during a change of hands does no harm, since a message's id is its
    row's. A stream that refuses leaves its rows where they are, and those of the other stream go past them.
    """

    def __init__(self, pool: Pool, broker: Broker, signal: Signal) -> None:
        self._pool = pool
        self._broker = broker
        self._signal = signal
        self._refusing_until: dict[Stream, float] = {}

    async def run(self) -> None:
        """Publish until cancelled."""
        while True:
            if await self.publish_batch() < BATCH:
                await asyncio.sleep(_GATHER_SECONDS)
                await self._signal.wait(_POLL_SECONDS)

    async def publish_batch(self) -> int:
        """Offer up to `BATCH` rows, of streams that have not just refused some; return how many there were."""
        now = time.monotonic()
        refusing = [stream for stream, until in self._refusing_until.items() if now < until]
        patterns = [subject.replace("*", "%") for stream in refusing for subject in SUBJECTS[stream]]
        rows = [Outgoing(*row) for row in await self._pool.fetch(_UNSENT, BATCH, patterns)]
        if not rows:
            return 0
        acknowledged = await self._broker.publish(rows)
        await self._pool.execute(_SENT, acknowledged)
        if refused := {row.id for row in rows} - set(acknowledged):
            log.warning("the broker took %d of %d events; the others wait", len(acknowledged), len(rows))
            until = time.monotonic() + _REFUSED_SECONDS
            self._refusing_until |= {stream_of(row.subject): until for row in rows if row.id in refused}
        return len(rows)
