"""Whatever happens, in whatever order: each attempt ends at most once, and every job ends."""

import asyncio
import contextlib
import random
from collections import Counter
from uuid import UUID

import pytest

from acervo.events.v1.work_pb2 import EmbedDocument, ParseDocument
from services.shared import jobs
from services.shared.admission import Dispatcher, Policy
from services.shared.bus import EMBED, PARSE, Lane, lane_subject
from services.shared.db import Pool, Signal
from services.shared.ids import uuid7
from services.shared.jobs import Claim, Count, LeaseLost, Work


class Schedule:
    """Four jobs, and what befalls them, drawn from a seed."""

    def __init__(self, pool: Pool, seed: int) -> None:
        self._pool = pool
        self._chance = random.Random(seed)
        self.attempts: dict[UUID, int] = {}
        self.ends: Counter[tuple[UUID, int]] = Counter()

    async def begin(self) -> None:
        for _ in range(4):
            await self._ask(uuid7(), 1)

    async def _ask(self, job_id: UUID, attempt: int) -> None:
        self.attempts[job_id] = attempt
        message = ParseDocument(document_id=str(job_id), attempt=attempt).SerializeToString()
        work = Work(job_id, "parse", attempt, Lane.BULK, UUID(int=1), lane_subject(PARSE, Lane.BULK), message)
        async with self._pool.acquire() as connection, connection.transaction():
            await jobs.enqueue(connection, work, send=self._chance.random() < 0.5)

    async def worker(self) -> None:
        for _ in range(12):
            job_id = self._chance.choice(list(self.attempts))
            attempt = self._chance.choice([self.attempts[job_id], 1])
            lease = self._chance.choice([-1.0, 60.0])
            held = await jobs.claim(self._pool, job_id, "parse", attempt, worker="w", lease_seconds=lease)
            fates = (self.end, self._end_twice, self._fail, self._die)
            if isinstance(held, Claim):
                await self._chance.choice(fates)(held)
            elif self._chance.random() < 0.15:
                await self._ask(job_id, self.attempts[job_id] + 1)

    async def end(self, held: Claim) -> None:
        result = EmbedDocument(document_id=str(held.id), attempt=held.attempt, parse_epoch=held.epoch)
        with contextlib.suppress(LeaseLost):
            async with self._pool.acquire() as connection, connection.transaction():
                await jobs.end(connection, held, lane_subject(EMBED, held.lane), result)
            self.ends[held.id, held.attempt] += 1

    async def _end_twice(self, held: Claim) -> None:
        await asyncio.gather(self.end(held), self.end(held))

    async def _fail(self, held: Claim) -> None:
        with contextlib.suppress(LeaseLost):
            async with self._pool.acquire() as connection:
                await jobs.postpone(connection, held, 0, Count.TRY)

    async def _die(self, held: Claim) -> None:
        await self._pool.execute(
            "UPDATE jobs SET lease_until = now() WHERE id = $1 AND epoch = $2", held.id, held.epoch
        )

    async def calm(self) -> None:
        """From now on nothing goes wrong."""
        dispatcher = Dispatcher(
            self._pool, Policy("parse"), Signal(), deadline_seconds=0, reconcile_seconds=1
        )
        while await self._pool.fetchval("SELECT count(*) FROM jobs WHERE state <> 'ended'"):
            await dispatcher.admit()
            await jobs.send_overdue(self._pool, 0)
            for job_id, attempt in self.attempts.items():
                held = await jobs.claim(self._pool, job_id, "parse", attempt, worker="w", lease_seconds=60)
                if isinstance(held, Claim):
                    await self.end(held)

    async def results(self) -> set[tuple[UUID, int]]:
        rows = await self._pool.fetch("SELECT payload FROM outbox WHERE subject = 'acervo.embed.bulk'")
        messages = [EmbedDocument.FromString(row["payload"]) for row in rows]
        return {(UUID(message.document_id), message.attempt) for message in messages}


@pytest.mark.parametrize("seed", range(6))
async def test_each_attempt_ends_at_most_once_and_every_job_ends(pool: Pool, seed: int) -> None:
    schedule = Schedule(pool, seed)
    await schedule.begin()
    await asyncio.gather(*(schedule.worker() for _ in range(4)))
    async with asyncio.timeout(20):
        await schedule.calm()
    assert max(schedule.ends.values()) == 1
    assert set(schedule.attempts.items()) <= set(schedule.ends)
    assert await schedule.results() == set(schedule.ends)
