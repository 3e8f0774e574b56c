import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from services.shared.db import Listener, Pool, Signal
from tests.conftest import Databases

Eventually = Callable[..., Awaitable[None]]


@pytest.fixture
async def listener(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Listener]:
    monkeypatch.setattr("services.shared.db._RECONNECT_SECONDS", 0.05)
    listener = Listener(databases["ingest"], "ingest")
    task = asyncio.create_task(listener.run())
    yield listener
    assert not task.done()
    task.cancel()
    await asyncio.wait([task])


async def notify(pool: Pool, channel: str, payload: str = "") -> None:
    await pool.execute("SELECT pg_notify($1, $2)", channel, payload)


async def soon(queue: "asyncio.Queue[str | None]") -> str | None:
    async with asyncio.timeout(20):
        return await queue.get()


async def cut(pool: Pool) -> int:
    """Terminate the connection that listens; how many there were."""
    return int(
        await pool.fetchval(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND query LIKE 'LISTEN%'"
        )
    )


async def test_payloads_of_the_own_schemas_channel_come_in_order(pool: Pool, listener: Listener) -> None:
    with listener.payloads("things") as queue:
        assert await soon(queue) is None
        for payload in ("1", "2", "3"):
            await notify(pool, "upload.things", "of another")
            await notify(pool, "ingest.others", "of another")
            await notify(pool, "ingest.things", payload)
        assert [await soon(queue) for _ in range(3)] == ["1", "2", "3"]


async def test_what_was_missed_while_disconnected_is_told_and_hearing_goes_on(
    pool: Pool, listener: Listener, eventually: Eventually
) -> None:
    with listener.payloads("things") as queue, listener.signal("things") as signal:
        assert await soon(queue) is None
        for _ in range(2):
            signal._event.clear()

            async def is_cut() -> bool:
                return await cut(pool) > 0

            await eventually(is_cut)
            assert await soon(queue) is None
            assert signal._event.is_set()
            await notify(pool, "ingest.things", "after")
            assert await soon(queue) == "after"


async def test_a_reader_that_falls_behind_is_told_that_it_missed_some(
    pool: Pool, listener: Listener, eventually: Eventually
) -> None:
    with listener.payloads("things", size=3) as queue, listener.payloads("things") as all_of_them:
        assert await soon(all_of_them) is None
        for n in range(4):
            await notify(pool, "ingest.things", str(n))
        assert [await soon(all_of_them) for _ in range(4)] == ["0", "1", "2", "3"]
        assert queue.qsize() <= 3
        assert None in [queue.get_nowait() for _ in range(queue.qsize())]


async def test_whoever_stopped_listening_is_left_alone(pool: Pool, listener: Listener) -> None:
    with listener.payloads("things") as queue:
        assert await soon(queue) is None
    with listener.payloads("things") as other:
        await notify(pool, "ingest.things", "x")
        assert await soon(other) == "x"
    assert queue.empty()


@pytest.mark.parametrize("table", ["outbox", "jobs"])
async def test_a_commit_to_the_outbox_or_the_jobs_is_heard(
    pool: Pool, listener: Listener, table: str
) -> None:
    statements = {
        "outbox": "INSERT INTO outbox (id, subject, payload) VALUES (gen_random_uuid(), 's', '')",
        "jobs": "INSERT INTO jobs (id, stage, attempt, state, lane, tenant_id, subject, message)"
        " VALUES (gen_random_uuid(), 's', 1, 'waiting', 'bulk', gen_random_uuid(), 's', '')",
    }
    with listener.payloads(table) as queue:
        assert await soon(queue) is None
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute(statements[table])
            assert queue.empty()
        assert await soon(queue) == ""


async def test_waiting_for_a_signal_misses_nothing_that_came_before_and_ends_at_its_deadline() -> None:
    signal = Signal()
    signal.set()
    async with asyncio.timeout(20):
        await signal.wait(3600)
        await signal.wait(0)
