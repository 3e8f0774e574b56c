import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from acervo.events.v1.work_pb2 import EmbedDocument, ParseDocument
from services.shared import jobs
from services.shared.bus import EMBED, PARSE, Lane, lane_subject
from services.shared.db import Pool, open_pool
from services.shared.ids import uuid7
from services.shared.jobs import Claim, Count, LeaseLost, Unclaimed, Work
from tests.conftest import Databases

TENANT = UUID(int=1)
LEASE = 60.0


@pytest.fixture
async def pool(databases: Databases) -> AsyncIterator[Pool]:
    pool = await open_pool(databases["ingest"], size=4, application="test")
    yield pool
    await pool.close()


def work(job_id: UUID, attempt: int = 1) -> Work:
    message = ParseDocument(document_id=str(job_id), attempt=attempt).SerializeToString()
    return Work(job_id, "parse", attempt, Lane.BULK, TENANT, lane_subject(PARSE, Lane.BULK), message)


async def sent(pool: Pool, attempt: int = 1) -> UUID:
    job_id = uuid7()
    async with pool.acquire() as connection, connection.transaction():
        await jobs.enqueue(connection, work(job_id, attempt), send=True, deadline_seconds=LEASE)
    return job_id


async def claim(pool: Pool, job_id: UUID, attempt: int = 1, lease: float = LEASE) -> Claim | Unclaimed:
    return await jobs.claim(pool, job_id, "parse", attempt, worker="test", lease_seconds=lease)


async def claimed(pool: Pool, job_id: UUID, attempt: int = 1, lease: float = LEASE) -> Claim:
    result = await claim(pool, job_id, attempt, lease)
    assert isinstance(result, Claim)
    return result


async def end(pool: Pool, held: Claim) -> None:
    result = EmbedDocument(document_id=str(held.id), attempt=held.attempt, parse_epoch=held.epoch)
    async with pool.acquire() as connection, connection.transaction():
        await jobs.end(connection, held, lane_subject(EMBED, held.lane), result)


async def outbox(pool: Pool) -> list[tuple[str, bytes]]:
    rows = await pool.fetch("SELECT subject, payload FROM outbox ORDER BY id")
    return [(row["subject"], row["payload"]) for row in rows]


async def state(pool: Pool, job_id: UUID) -> str:
    return str(await pool.fetchval("SELECT state FROM jobs WHERE id = $1", job_id))


async def test_a_job_is_claimed_by_one_worker_only(pool: Pool) -> None:
    job_id = await sent(pool)
    results = await asyncio.gather(*(claim(pool, job_id) for _ in range(8)))
    assert sum(isinstance(result, Claim) for result in results) == 1
    assert results.count(Unclaimed.BUSY) == 7


async def test_an_expired_lease_is_taken_over_with_a_higher_epoch_and_fences_the_first_holder(
    pool: Pool,
) -> None:
    job_id = await sent(pool)
    first = await claimed(pool, job_id, lease=-1)
    second = await claimed(pool, job_id)
    assert second.epoch == first.epoch + 1
    with pytest.raises(LeaseLost):
        await end(pool, first)
    await end(pool, second)
    assert await state(pool, job_id) == "ended"


async def test_a_lost_lease_rolls_the_whole_transaction_back(pool: Pool) -> None:
    job_id = await sent(pool)
    first = await claimed(pool, job_id, lease=-1)
    await claimed(pool, job_id)
    with pytest.raises(LeaseLost):
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute(
                "INSERT INTO bases (knowledge_base_id, state) VALUES ($1, 'live')", TENANT
            )
            await jobs.end(connection, first)
    assert await pool.fetchval("SELECT count(*) FROM bases") == 0


async def test_a_repeat_of_an_ended_job_emits_its_result_again(pool: Pool) -> None:
    job_id = await sent(pool)
    await end(pool, await claimed(pool, job_id))
    before = await outbox(pool)
    assert await claim(pool, job_id) is Unclaimed.ENDED
    after = await outbox(pool)
    assert after[len(before) :] == [before[-1]]
    assert before[-1][0] == "acervo.embed.bulk"


async def test_a_message_of_an_older_attempt_is_ignored_and_a_new_attempt_fences_the_old_holder(
    pool: Pool,
) -> None:
    job_id = await sent(pool)
    old = await claimed(pool, job_id)
    async with pool.acquire() as connection, connection.transaction():
        await jobs.enqueue(connection, work(job_id, attempt=2), send=True)
    assert await claim(pool, job_id, attempt=1) is Unclaimed.OTHER_ATTEMPT
    with pytest.raises(LeaseLost):
        await end(pool, old)
    assert (await claimed(pool, job_id, attempt=2)).epoch > old.epoch


async def test_enqueueing_the_same_attempt_again_changes_and_sends_nothing(pool: Pool) -> None:
    job_id = await sent(pool)
    held = await claimed(pool, job_id)
    async with pool.acquire() as connection, connection.transaction():
        await jobs.enqueue(connection, work(job_id), send=True)
    assert len(await outbox(pool)) == 1
    await end(pool, held)


async def test_a_job_of_a_thing_that_is_gone_is_absent(pool: Pool) -> None:
    job_id = await sent(pool)
    held = await claimed(pool, job_id)
    async with pool.acquire() as connection:
        await jobs.forget(connection, [job_id])
    assert await claim(pool, job_id) is Unclaimed.ABSENT
    with pytest.raises(LeaseLost):
        await end(pool, held)


@pytest.mark.parametrize(
    ("count", "tries", "crashes"), [(Count.TRY, 1, 0), (Count.CRASH, 0, 1), (Count.NOTHING, 0, 0)]
)
async def test_a_postponed_job_waits_and_counts_what_it_was_told(
    pool: Pool, count: Count, tries: int, crashes: int
) -> None:
    job_id = await sent(pool)
    held = await claimed(pool, job_id)
    async with pool.acquire() as connection:
        await jobs.postpone(connection, held, 3600, count)
    assert await claim(pool, job_id) is Unclaimed.NOT_DUE
    row = await pool.fetchrow(
        "SELECT tries, crashes, due_at > now() + interval '40 minutes' AS later FROM jobs"
    )
    assert row is not None
    assert tuple(row) == (tries, crashes, True)


async def test_what_is_past_its_deadline_or_its_lease_is_sent_again(pool: Pool) -> None:
    unclaimed, abandoned, held = await sent(pool), await sent(pool), await sent(pool)
    await pool.execute("UPDATE jobs SET due_at = now() - interval '1 s' WHERE id = $1", unclaimed)
    lost = await claimed(pool, abandoned, lease=-1)
    await claimed(pool, held)
    await pool.execute("DELETE FROM outbox")
    assert await jobs.send_overdue(pool, deadline_seconds=60) == 2
    messages = {ParseDocument.FromString(payload).document_id for _, payload in await outbox(pool)}
    assert messages == {str(unclaimed), str(abandoned)}
    assert await jobs.send_overdue(pool, deadline_seconds=60) == 0
    with pytest.raises(LeaseLost):
        await end(pool, lost)


async def test_holding_renews_the_lease(pool: Pool, eventually) -> None:  # type: ignore[no-untyped-def]
    job_id = await sent(pool)
    held = await claimed(pool, job_id, lease=2)
    before = await pool.fetchval("SELECT lease_until FROM jobs WHERE id = $1", job_id)

    async def renewed() -> bool:
        return bool(await pool.fetchval("SELECT lease_until > $1 FROM jobs", before))

    async with jobs.Held(pool, held, lease_seconds=2, heartbeat_seconds=0.05):
        await eventually(renewed)
    await end(pool, held)


async def test_a_takeover_cancels_the_body_that_held_the_job(pool: Pool) -> None:
    job_id = await sent(pool)
    held = await claimed(pool, job_id, lease=-1)
    await claimed(pool, job_id)
    with pytest.raises(LeaseLost):
        async with asyncio.timeout(20), jobs.Held(pool, held, lease_seconds=60, heartbeat_seconds=0.05):
            await asyncio.Event().wait()


async def test_cancelling_the_holder_from_outside_stays_a_cancellation(pool: Pool) -> None:
    held = await claimed(pool, await sent(pool))
    entered = asyncio.Event()

    async def body() -> None:
        async with jobs.Held(pool, held, lease_seconds=60, heartbeat_seconds=20):
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(body())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_settling_ends_a_job_once_whoever_did_it(pool: Pool) -> None:
    job_id = await sent(pool)
    async with pool.acquire() as connection:
        assert not await jobs.settle(connection, job_id, "parse", attempt=2)
        assert await jobs.settle(connection, job_id, "parse", attempt=1)
        assert not await jobs.settle(connection, job_id, "parse", attempt=1)


def test_the_backoff_doubles_up_to_its_bound() -> None:
    assert [jobs.backoff(tries) for tries in (1, 2, 3, 20, 10_000)] == [2, 4, 8, 300, 300]


async def test_a_body_that_is_cancelled_from_outside_hands_its_job_back(pool: Pool) -> None:
    job_id = await sent(pool)
    held = await claimed(pool, job_id)
    entered = asyncio.Event()

    async def body() -> None:
        async with jobs.Held(pool, held, lease_seconds=60, heartbeat_seconds=20):
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(body())
    await entered.wait()
    task.cancel()
    await asyncio.wait([task])
    row = await pool.fetchrow("SELECT state, due_at <= now() AS due, tries, crashes FROM jobs")
    assert row is not None
    assert tuple(row) == ("waiting", True, 0, 0)
    with pytest.raises(LeaseLost):
        await end(pool, held)


async def test_a_lease_is_lost_in_time_though_no_connection_is_free(databases: Databases) -> None:
    small = await open_pool(databases["ingest"], size=1, application="test")
    held = await claimed(small, await sent(small))
    async with small.acquire(), asyncio.timeout(20):
        with pytest.raises(LeaseLost):
            async with jobs.Held(small, held, lease_seconds=0.2, heartbeat_seconds=0.1):
                await asyncio.Event().wait()
    await small.close()


async def test_a_job_that_outlives_too_many_workers_is_abandoned(pool: Pool) -> None:
    job_id = await sent(pool)
    for takeovers in range(jobs.MOST_TAKEOVERS):
        held = await claimed(pool, job_id, lease=-1)
        assert (held.takeovers, held.abandoned) == (takeovers, False)
        if takeovers % 2:
            assert await jobs.send_overdue(pool, deadline_seconds=LEASE) == 1
    assert (await claimed(pool, job_id)).abandoned


async def test_a_new_attempt_forgets_the_workers_that_the_last_one_lost(pool: Pool) -> None:
    job_id = await sent(pool)
    await claimed(pool, job_id, lease=-1)
    await claimed(pool, job_id)
    async with pool.acquire() as connection, connection.transaction():
        await jobs.enqueue(connection, work(job_id, attempt=2), send=True)
    assert (await claimed(pool, job_id, attempt=2)).takeovers == 0
