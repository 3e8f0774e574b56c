import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from uuid import UUID

import pytest

from services.shared import admission, jobs
from services.shared.admission import Dispatcher, Policy, Window
from services.shared.bus import PARSE, Lane, lane_subject
from services.shared.db import Pool, Signal
from services.shared.ids import uuid7
from services.shared.jobs import Claim, Count, Work

BIG, SMALL, THIRD = UUID(int=1), UUID(int=2), UUID(int=3)

_MANY = """
INSERT INTO jobs (id, stage, attempt, state, lane, tenant_id, subject, message, due_at)
SELECT gen_random_uuid(), 'parse', 1, $4, $1, $2, 'acervo.parse.' || $1, '',
    now() - interval '1 hour' + n * interval '1 ms'
FROM generate_series(1, $3) AS n
"""


async def wait_for_admission(
    pool: Pool, tenant: UUID, count: int = 1, lane: Lane = Lane.BULK, state: str = "waiting"
) -> None:
    await pool.execute(_MANY, lane, tenant, count, state)


def dispatcher(pool: Pool, *, bulk: Window | None = None, interactive: Window | None = None) -> Dispatcher:
    policy = Policy("parse", interactive=interactive or Window(), bulk=bulk or Window())
    return Dispatcher(pool, policy, Signal(), deadline_seconds=60, reconcile_seconds=1)


async def in_flight(pool: Pool, lane: Lane = Lane.BULK) -> Counter[UUID]:
    rows = await pool.fetch("SELECT tenant_id FROM jobs WHERE state = 'sent' AND lane = $1", lane)
    return Counter(row["tenant_id"] for row in rows)


async def finish(pool: Pool, tenant: UUID, count: int = 1) -> None:
    await pool.execute(
        """UPDATE jobs SET state = 'ended' WHERE id IN
        (SELECT id FROM jobs WHERE state = 'sent' AND tenant_id = $1 ORDER BY due_at LIMIT $2)""",
        tenant,
        count,
    )


async def test_a_tenant_with_ten_thousand_jobs_does_not_delay_the_first_of_another(pool: Pool) -> None:
    await wait_for_admission(pool, BIG, 10_000)
    await wait_for_admission(pool, SMALL, 1)
    assert await dispatcher(pool, bulk=Window(total=4)).admit() == 4
    assert await in_flight(pool) == {BIG: 3, SMALL: 1}


async def test_one_that_comes_late_gets_the_next_place_that_is_free(pool: Pool) -> None:
    admitting = dispatcher(pool, bulk=Window(total=4))
    await wait_for_admission(pool, BIG, 100)
    assert await admitting.admit() == 4
    await wait_for_admission(pool, SMALL, 100)
    assert await admitting.admit() == 0
    await finish(pool, BIG)
    assert await admitting.admit() == 1
    assert await in_flight(pool) == {BIG: 3, SMALL: 1}
    await finish(pool, BIG)
    assert await admitting.admit() == 1
    assert await in_flight(pool) == {BIG: 2, SMALL: 2}


async def test_places_are_shared_evenly_between_all_that_wait(pool: Pool) -> None:
    for tenant in (BIG, SMALL, THIRD):
        await wait_for_admission(pool, tenant, 50)
    assert await dispatcher(pool, bulk=Window(total=9)).admit() == 9
    assert await in_flight(pool) == {BIG: 3, SMALL: 3, THIRD: 3}


async def test_a_tenants_oldest_jobs_go_first(pool: Pool) -> None:
    await wait_for_admission(pool, BIG, 20)
    oldest = await pool.fetch("SELECT id FROM jobs ORDER BY due_at LIMIT 5")
    await dispatcher(pool, bulk=Window(total=5)).admit()
    sent = await pool.fetch("SELECT id FROM jobs WHERE state = 'sent'")
    assert {row["id"] for row in sent} == {row["id"] for row in oldest}


async def test_the_window_counts_what_is_in_flight_in_any_stage(pool: Pool) -> None:
    await wait_for_admission(pool, BIG, 10)
    await wait_for_admission(pool, SMALL, 2, state="sent")
    await pool.execute("UPDATE jobs SET stage = 'embed', state = 'running' WHERE tenant_id = $1", SMALL)
    assert await dispatcher(pool, bulk=Window(total=5)).admit() == 3


async def test_a_window_that_is_overfull_admits_nothing(pool: Pool) -> None:
    await wait_for_admission(pool, BIG, 10, state="sent")
    await wait_for_admission(pool, SMALL, 1)
    assert await dispatcher(pool, bulk=Window(total=5)).admit() == 0


async def test_interactive_work_skips_the_window_under_its_cap_for_each_tenant(pool: Pool) -> None:
    await wait_for_admission(pool, BIG, 100)
    await wait_for_admission(pool, BIG, 10, Lane.INTERACTIVE)
    await wait_for_admission(pool, SMALL, 1, Lane.INTERACTIVE)
    admitting = dispatcher(pool, bulk=Window(total=2), interactive=Window(tenant=3))
    assert await admitting.admit() == 2 + 4
    assert await in_flight(pool, Lane.INTERACTIVE) == {BIG: 3, SMALL: 1}
    assert await in_flight(pool, Lane.BULK) == {BIG: 2}
    await finish(pool, SMALL)
    assert await admitting.admit() == 0


async def test_a_postponed_job_comes_when_it_is_due_and_not_before(pool: Pool) -> None:
    job_id = uuid7()
    work = Work(job_id, "parse", 1, Lane.BULK, BIG, lane_subject(PARSE, Lane.BULK), b"")
    async with pool.acquire() as connection:
        await jobs.enqueue(connection, work, send=False)
    admitting = dispatcher(pool, bulk=Window(total=5))
    assert await admitting.admit() == 1
    claimed = await jobs.claim(pool, job_id, "parse", 1, worker="test", lease_seconds=60)
    assert isinstance(claimed, Claim)
    async with pool.acquire() as connection:
        await jobs.postpone(connection, claimed, 3600, Count.TRY)
    assert await admitting.admit() == 0
    await pool.execute("UPDATE jobs SET due_at = now()")
    assert await admitting.admit() == 1
    assert await pool.fetchval("SELECT count(*) FROM outbox") == 2


async def test_two_dispatchers_at_once_send_each_job_once(pool: Pool) -> None:
    await wait_for_admission(pool, BIG, 500)
    sent = 0
    while sent < 500:
        sent += sum(await asyncio.gather(*(dispatcher(pool).admit() for _ in range(2))))
    assert await pool.fetchval("SELECT count(*) FROM outbox") == 500
    assert await pool.fetchval("SELECT max(sends) FROM jobs") == 1


async def test_everything_waiting_is_admitted_in_the_end(pool: Pool) -> None:
    for tenant in (BIG, SMALL, THIRD):
        await wait_for_admission(pool, tenant, 37)
    admitting = dispatcher(pool, bulk=Window(tenant=3, total=7))
    rounds = 0
    while await pool.fetchval("SELECT count(*) FROM jobs WHERE state <> 'ended'"):
        await admitting.admit()
        flying = await in_flight(pool)
        assert flying.total() <= 7
        assert max(flying.values()) <= 3
        for tenant in flying:
            await finish(pool, tenant)
        rounds += 1
    assert rounds <= 111


# Cost: what a plan touches must not grow with what waits, nor with what has ended.


def nodes(plan: dict[str, object]) -> Iterator[dict[str, object]]:
    yield plan
    for child in plan.get("Plans", ()):  # type: ignore[attr-defined]
        yield from nodes(child)


async def touched(pool: Pool, query: str, *arguments: object) -> int:
    """The highest number of rows that any step of the query read, and that no step reads the whole table."""
    text = await pool.fetchval(f"EXPLAIN (ANALYZE, FORMAT json) {query}", *arguments)
    steps = list(nodes((text if isinstance(text, list) else json.loads(text))[0]["Plan"]))
    assert not [step for step in steps if step["Node Type"] == "Seq Scan" and step["Relation Name"] == "jobs"]
    scans = [step for step in steps if "Scan" in str(step["Node Type"]) and "Relation Name" in step]
    return max(
        int(float(str(step["Actual Rows"])) + int(str(step.get("Rows Removed by Filter", 0))))
        for step in scans
    )


@pytest.fixture
async def crowded(pool: Pool) -> Pool:
    """50,000 jobs wait, 20,000 have ended, few are in flight."""
    await wait_for_admission(pool, BIG, 49_990)
    await wait_for_admission(pool, SMALL, 10)
    await wait_for_admission(pool, THIRD, 20_000, state="ended")
    await wait_for_admission(pool, THIRD, 8, state="sent")
    await pool.execute("VACUUM ANALYZE jobs")
    return pool


async def test_admitting_touches_few_rows_however_many_wait(crowded: Pool) -> None:
    unlimited = Window()
    for window in (Window(total=16), unlimited):
        arguments = ("parse", Lane.BULK, window.tenant, window.total, 64)
        assert await touched(crowded, admission._ADMISSIBLE, *arguments) <= 100
    assert await touched(crowded, admission._ADMISSIBLE, "parse", Lane.INTERACTIVE, 10, 10, 64) <= 100


async def test_looking_for_what_is_overdue_touches_few_rows_however_many_wait(crowded: Pool) -> None:
    assert await touched(crowded, jobs._OVERDUE, 256) <= 100
