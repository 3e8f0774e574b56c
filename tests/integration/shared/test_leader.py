import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from services.shared.db import Pool, open_pool
from services.shared.leader import lead
from tests.conftest import Databases

Eventually = Callable[..., Awaitable[None]]
TURN = 60.0


class Body:
    """A loop that says whether it runs, and in how many holders at most."""

    running = 0
    most = 0

    def __init__(self) -> None:
        self.runs = False
        self.started = 0

    async def __call__(self) -> None:
        self.runs = True
        self.started += 1
        Body.running += 1
        Body.most = max(Body.most, Body.running)
        try:
            await asyncio.Event().wait()
        finally:
            self.runs = False
            Body.running -= 1

    async def is_running(self) -> bool:
        return self.runs

    async def is_stopped(self) -> bool:
        return not self.runs


@pytest.fixture(autouse=True)
def _counted() -> None:
    Body.running = Body.most = 0


@contextlib.asynccontextmanager
async def leading(pool: Pool, holder: str, body: Body, seconds: float) -> AsyncIterator["asyncio.Task[None]"]:
    task = asyncio.create_task(lead(pool, "loop", holder, seconds, body))
    yield task
    task.cancel()
    await asyncio.wait([task])


async def holder(pool: Pool) -> str | None:
    value = await pool.fetchval("SELECT holder FROM leases WHERE name = 'loop'")
    return None if value is None else str(value)


async def test_one_holder_runs_at_a_time_and_the_next_follows_at_once_after_it_stopped(
    pool: Pool, eventually: Eventually
) -> None:
    first, second = Body(), Body()
    async with leading(pool, "second", second, 0.3):
        await eventually(second.is_running)
        async with leading(pool, "first", first, 0.3):
            assert await holder(pool) == "second"
    assert await holder(pool) is None
    async with leading(pool, "first", first, 0.3):
        await eventually(first.is_running)
    assert Body.most == 1


async def test_a_holder_that_died_is_followed_when_its_turn_is_over(
    pool: Pool, eventually: Eventually
) -> None:
    await pool.execute("INSERT INTO leases VALUES ('loop', 'dead', now() + interval '1 hour')")
    body = Body()
    async with leading(pool, "next", body, 0.3):
        await pool.execute("UPDATE leases SET expires_at = now() - interval '1 s'")
        await eventually(body.is_running)
        assert await holder(pool) == "next"


async def test_a_turn_that_is_kept_is_renewed(pool: Pool, eventually: Eventually) -> None:
    body = Body()
    async with leading(pool, "holder", body, 0.3):
        await eventually(body.is_running)
        before = await pool.fetchval("SELECT expires_at FROM leases")

        async def renewed() -> bool:
            return bool(await pool.fetchval("SELECT expires_at > $1 FROM leases", before))

        await eventually(renewed)
        assert body.started == 1


async def test_the_body_is_cancelled_when_the_turn_is_lost(pool: Pool, eventually: Eventually) -> None:
    body = Body()
    async with leading(pool, "holder", body, 0.3) as task:
        await eventually(body.is_running)
        await pool.execute("UPDATE leases SET holder = 'other', expires_at = now() + interval '1 hour'")
        await eventually(body.is_stopped)
        assert not task.done()
        assert await holder(pool) == "other"


async def test_the_body_is_cancelled_when_the_turn_cannot_be_renewed(
    databases: Databases, eventually: Eventually
) -> None:
    small = await open_pool(databases["ingest"], size=1, application="test")
    body = Body()
    async with leading(small, "holder", body, 0.6) as task:
        await eventually(body.is_running)
        async with small.acquire():
            await eventually(body.is_stopped)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(task), 20)
    await small.close()


async def test_stopping_stops_the_body_and_gives_the_turn_back(pool: Pool, eventually: Eventually) -> None:
    body = Body()
    async with leading(pool, "holder", body, TURN):
        await eventually(body.is_running)
    assert not body.runs
    assert await holder(pool) is None


async def test_a_body_that_fails_gives_the_turn_back_and_says_why(pool: Pool) -> None:
    async def body() -> None:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        await lead(pool, "loop", "holder", TURN, body)
    assert await holder(pool) is None
