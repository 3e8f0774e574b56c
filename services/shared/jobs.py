"""Work that is claimed by lease and fenced by epoch.

A job is a row of `jobs` in the schema of the service that does it: one thing (a document, a run) in one stage. Its
`attempt` is raised by whoever asks for the whole again, its `epoch` by each worker that takes it over. A worker claims
the row, keeps its lease, and ends it in the same transaction as the work's result: where another worker has taken over,
ending fails and the transaction with it. Nothing here depends on how often, or in what order, messages come.

    waiting ──admission──▶ sent ──claim──▶ running ──end──▶ ended
       ▲                    ▲ └─past due_at─┘ │ └─lease over: sent again
       └──────postpone──────┴─────────────────┘
"""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from types import TracebackType
from typing import Self
from uuid import UUID

from google.protobuf.message import Message

from services.shared import outbox
from services.shared.bus import Lane
from services.shared.db import DISCONNECTED, Connection, Pool, Signal
from services.shared.ids import uuid7

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """A job to be done. `message` on `subject` is what makes a worker look at it."""

    id: UUID
    stage: str
    attempt: int
    lane: Lane
    tenant_id: UUID
    subject: str
    message: bytes


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker's hold on a job.

    Failures within this attempt so far: `tries` of the work, `crashes` of what the work was given to, and `takeovers`
    from workers that let their lease run out.
    """

    id: UUID
    stage: str
    attempt: int
    epoch: int
    lane: Lane
    tenant_id: UUID
    tries: int
    crashes: int
    takeovers: int

    @property
    def abandoned(self) -> bool:
        """Whether so many workers died, or hung, with this job that it should not be given to another."""
        return self.takeovers >= MOST_TAKEOVERS


class Unclaimed(Enum):
    """Why a job cannot be claimed. None of them is an error: the message is done with."""

    ABSENT = "no such job: what it was for is gone"
    OTHER_ATTEMPT = "the message belongs to another attempt"
    NOT_DUE = "it waits for its time and will be sent again"
    BUSY = "another worker holds it"
    ENDED = "it was done before; its result has been put into the outbox again"


class Count(StrEnum):
    """What a postponement counts as."""

    NOTHING = "nothing"
    TRY = "tries"
    CRASH = "crashes"


class LeaseLost(Exception):
    """Another worker has taken the job over, or it was asked for anew. What was done for it must be rolled back."""


_INSERT = """
INSERT INTO jobs (id, stage, attempt, state, lane, tenant_id, subject, message, sends, due_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(secs => $10))
ON CONFLICT (id, stage) DO UPDATE SET
    attempt = excluded.attempt, state = excluded.state, lane = excluded.lane, subject = excluded.subject,
    message = excluded.message, sends = excluded.sends, due_at = excluded.due_at,
    tries = 0, crashes = 0, takeovers = 0,
    worker = NULL, lease_until = NULL, result_subject = NULL, result = NULL
WHERE jobs.attempt < excluded.attempt
"""
_CLAIM = """
UPDATE jobs SET state = 'running', epoch = epoch + 1, worker = $4, lease_until = now() + make_interval(secs => $5),
    takeovers = takeovers + (state = 'running')::integer
WHERE id = $1 AND stage = $2 AND attempt = $3
  AND (state = 'sent' OR (state = 'running' AND lease_until < now()))
RETURNING epoch, lane, tenant_id, tries, crashes, takeovers
"""
_LOOK = "SELECT attempt, state, result_subject, result FROM jobs WHERE id = $1 AND stage = $2"
_TRIES = "SELECT tries FROM jobs WHERE id = $1 AND stage = $2 AND attempt = $3"
_RENEW = """
UPDATE jobs SET lease_until = now() + make_interval(secs => $5)
WHERE id = $1 AND stage = $2 AND attempt = $3 AND epoch = $4 AND state = 'running'
RETURNING true
"""
_END = """
UPDATE jobs SET state = 'ended', worker = NULL, lease_until = NULL, result_subject = $5, result = $6
WHERE id = $1 AND stage = $2 AND attempt = $3 AND epoch = $4 AND state = 'running'
RETURNING true
"""
_SETTLE = """
UPDATE jobs SET state = 'ended', worker = NULL, lease_until = NULL
WHERE id = $1 AND stage = $2 AND attempt = $3 AND state <> 'ended'
RETURNING true
"""
_POSTPONE = """
UPDATE jobs SET state = 'waiting', worker = NULL, lease_until = NULL, due_at = now() + make_interval(secs => $5),
    tries = tries + ($6 = 'tries')::integer, crashes = crashes + ($6 = 'crashes')::integer
WHERE id = $1 AND stage = $2 AND attempt = $3 AND epoch = $4 AND state = 'running'
RETURNING true
"""
_FORGET = "DELETE FROM jobs WHERE id = ANY($1::uuid[])"
# Due for being sent again: nobody claimed it in time, or whoever did let its lease run out.
_OVERDUE = """
SELECT id, stage FROM jobs
WHERE (state = 'sent' AND due_at <= now()) OR (state = 'running' AND lease_until < now())
ORDER BY due_at LIMIT $1
FOR UPDATE SKIP LOCKED
"""
# Each repeat waits twice as long as the one before, up to 32 times.
_SEND = """
UPDATE jobs SET state = 'sent', worker = NULL, lease_until = NULL, sends = sends + 1,
    takeovers = takeovers + (state = 'running')::integer,
    due_at = now() + make_interval(secs => $3 * 2 ^ least(sends, 5))
WHERE (id, stage) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))
RETURNING subject, message
"""
_PUT = "INSERT INTO outbox (id, subject, payload) VALUES ($1, $2, $3)"

OVERDUE_BATCH = 256
MOST_TAKEOVERS = 10
_HAND_BACK_SECONDS = 5.0


async def enqueue(connection: Connection, work: Work, *, send: bool, deadline_seconds: float = 0) -> None:
    """Make a job, or make it anew for a higher attempt, within the caller's transaction.

    With `send` its message goes into the outbox, to be sent again after `deadline_seconds`; without, the job waits for
    admission. A job that is there already for this attempt, or a later one, stays as it is.
    """
    made = await _insert(connection, work, "sent" if send else "waiting", int(send), deadline_seconds)
    if send and made:
        await outbox.put(connection, work.subject, work.message)


async def claim(
    pool: Pool, job_id: UUID, stage: str, attempt: int, *, worker: str, lease_seconds: float
) -> Claim | Unclaimed:
    """Take a job whose message came. A job that ended before emits its result once more."""
    async with pool.acquire() as connection, connection.transaction():
        return await claim_within(
            connection, job_id, stage, attempt, worker=worker, lease_seconds=lease_seconds
        )


async def claim_new(pool: Pool, work: Work, *, worker: str, lease_seconds: float) -> Claim | Unclaimed:
    """Take a job whose row is made by its first message."""
    async with pool.acquire() as connection, connection.transaction():
        await _insert(connection, work, "sent", 1, lease_seconds)
        return await claim_within(
            connection, work.id, work.stage, work.attempt, worker=worker, lease_seconds=lease_seconds
        )


async def tries(pool: Pool, job_id: UUID, stage: str, attempt: int) -> int:
    """Return how often a job's work has failed so far; 0 where there is no such job."""
    return await pool.fetchval(_TRIES, job_id, stage, attempt) or 0


async def _insert(connection: Connection, work: Work, state: str, sends: int, due_seconds: float) -> bool:
    outbox.check(work.subject, work.message)
    arguments = (
        work.id,
        work.stage,
        work.attempt,
        state,
        work.lane,
        work.tenant_id,
        work.subject,
        work.message,
    )
    status = await connection.execute(_INSERT, *arguments, sends, due_seconds)
    return status.endswith(" 1")


async def claim_within(
    connection: Connection, job_id: UUID, stage: str, attempt: int, *, worker: str, lease_seconds: float
) -> Claim | Unclaimed:
    """Take a job as `claim` does, within the caller's transaction, which has to be committed whatever the answer."""
    row = await connection.fetchrow(_CLAIM, job_id, stage, attempt, worker, lease_seconds)
    if row is not None:
        failures = (row["tries"], row["crashes"], row["takeovers"])
        return Claim(job_id, stage, attempt, row["epoch"], Lane(row["lane"]), row["tenant_id"], *failures)
    row = await connection.fetchrow(_LOOK, job_id, stage)
    if row is None:
        return Unclaimed.ABSENT
    if row["attempt"] != attempt:
        return Unclaimed.OTHER_ATTEMPT
    if row["state"] == "waiting":
        return Unclaimed.NOT_DUE
    if row["state"] != "ended":
        return Unclaimed.BUSY
    if row["result_subject"] is not None:
        await outbox.put(connection, row["result_subject"], row["result"])
    return Unclaimed.ENDED


async def end(
    connection: Connection, claimed: Claim, result_subject: str | None = None, result: Message | None = None
) -> None:
    """End a job within the transaction of its result, as the last thing in it; the result goes into the outbox.

    Raises:
        LeaseLost: if the job is not the caller's any more. The transaction must be rolled back.
    """
    payload = None if result is None else result.SerializeToString()
    fence = (claimed.id, claimed.stage, claimed.attempt, claimed.epoch)
    if not await connection.fetchval(_END, *fence, result_subject, payload):
        raise LeaseLost
    if result_subject is not None and payload is not None:
        await outbox.put(connection, result_subject, payload)


async def settle(connection: Connection, job_id: UUID, stage: str, attempt: int) -> bool:
    """End a job that another service has done, when its answer came; False if it had ended or is of another attempt."""
    return bool(await connection.fetchval(_SETTLE, job_id, stage, attempt))


async def postpone(connection: Connection, claimed: Claim, seconds: float, count: Count) -> None:
    """Let go of a job, to be taken up again after about `seconds`.

    Raises:
        LeaseLost: if the job is not the caller's any more.
    """
    fence = (claimed.id, claimed.stage, claimed.attempt, claimed.epoch)
    if not await connection.fetchval(_POSTPONE, *fence, jittered(seconds), count):
        raise LeaseLost


async def forget(connection: Connection, job_ids: Sequence[UUID]) -> None:
    """Remove the jobs of things that are gone. Whoever works on one loses its lease."""
    await connection.execute(_FORGET, job_ids)


async def send_overdue(pool: Pool, deadline_seconds: float) -> int:
    """Send the jobs again that are past their deadline or their lease; return how many."""
    async with pool.acquire() as connection, connection.transaction():
        rows = await connection.fetch(_OVERDUE, OVERDUE_BATCH)
        return await send(connection, [(row["id"], row["stage"]) for row in rows], deadline_seconds)


async def send(connection: Connection, jobs: Sequence[tuple[UUID, str]], deadline_seconds: float) -> int:
    """Put the messages of jobs into the outbox, within the caller's transaction; return how many."""
    if not jobs:
        return 0
    ids, stages = zip(*jobs, strict=True)
    rows = await connection.fetch(_SEND, ids, stages, deadline_seconds)
    await connection.executemany(_PUT, [(uuid7(), row["subject"], row["message"]) for row in rows])
    return len(rows)


def jittered(seconds: float) -> float:
    """Spread a delay over 75 to 125 % of it, so that what failed together does not come back together."""
    return seconds * random.uniform(0.75, 1.25)  # noqa: S311 - not a secret


def backoff(tries: int, *, first: float = 2.0, most: float = 300.0) -> float:
    """Return how long to wait after the `tries`-th failure (from 1), in seconds: doubling from `first` up to `most`."""
    return float(min(most, first * 2 ** min(tries - 1, 30)))


class Held:
    """Keeps a claim's lease while the body runs, and cancels the body when the job is lost.

    Raises `LeaseLost` out of the body where another worker has taken over, or where the lease could not be renewed
    before it ran out. A body that is cancelled from outside hands the job back, for another worker to take at once.
    """

    def __init__(self, pool: Pool, claimed: Claim, *, lease_seconds: float, heartbeat_seconds: float) -> None:
        self._pool = pool
        self._claim = claimed
        self._lease = lease_seconds
        self._every = heartbeat_seconds
        self._lost = False
        self._doubt = Signal()

    async def __aenter__(self) -> Self:
        self._body = asyncio.current_task()
        self._beating = asyncio.create_task(self._beat(), name=f"lease of {self._claim.id}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._beating.cancel()
        await asyncio.wait([self._beating])
        if kind is not asyncio.CancelledError or self._body is None:
            return
        if not self._lost:
            await self._hand_back()
        elif self._body.uncancel() == 0:
            raise LeaseLost from None

    def doubt(self) -> None:
        """Look now whether the job is still there, rather than at the next heartbeat."""
        self._doubt.set()

    async def _beat(self) -> None:
        renewed = time.monotonic()
        while time.monotonic() - renewed < self._lease:
            await self._doubt.wait(self._every)
            started = time.monotonic()
            try:
                if not await self._renew():
                    break
                renewed = started
            except (*DISCONNECTED, TimeoutError) as error:
                log.warning("the lease of %s could not be renewed: %s", self._claim.id, type(error).__name__)
        self._lost = True
        if self._body is not None:
            self._body.cancel()

    async def _renew(self) -> bool:
        claimed = self._claim
        fence = (claimed.id, claimed.stage, claimed.attempt, claimed.epoch)
        async with asyncio.timeout(self._every):
            return bool(await self._pool.fetchval(_RENEW, *fence, self._lease))

    async def _hand_back(self) -> None:
        with contextlib.suppress(LeaseLost, TimeoutError, *DISCONNECTED):
            async with asyncio.timeout(_HAND_BACK_SECONDS), self._pool.acquire() as connection:
                await postpone(connection, self._claim, 0, Count.NOTHING)
