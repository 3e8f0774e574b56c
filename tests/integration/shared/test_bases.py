import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from services.shared import bases
from services.shared.db import Connection, Pool
from services.shared.errors import BaseGone
from services.shared.ids import uuid7

Act = Callable[[Connection], Awaitable[None]]


async def run(pool: Pool, act: Act) -> None:
    async with pool.acquire() as connection, connection.transaction():
        await act(connection)


async def is_waiting(pool: Pool, task: "asyncio.Task[None]") -> bool:
    """Whether a task waits for a lock; fails if it ended."""
    assert not task.done()
    return bool(
        await pool.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
    )


def writing(base: UUID, item: UUID) -> Act:
    async def act(connection: Connection) -> None:
        await bases.hold(connection, base, item)

    return act


def burying(base: UUID) -> Act:
    async def act(connection: Connection) -> None:
        await bases.bury(connection, base)

    return act


def emptying(base: UUID, before: UUID) -> Act:
    async def act(connection: Connection) -> None:
        await bases.empty(connection, base, before)

    return act


Eventually = Callable[..., Awaitable[None]]


@pytest.mark.parametrize("known", [True, False], ids=["known", "not seen yet"])
@pytest.mark.parametrize("deletes", [True, False], ids=["bury", "empty"])
@pytest.mark.parametrize("committed", [True, False], ids=["commits", "rolls back"])
async def test_a_deleter_waits_for_a_writer_that_came_before(
    pool: Pool, eventually: Eventually, known: bool, deletes: bool, committed: bool
) -> None:
    base, item = uuid7(), uuid7()
    if known:
        await run(pool, writing(base, item))
    deleter = burying(base) if deletes else emptying(base, uuid7())
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await bases.hold(connection, base, item)
        task = asyncio.create_task(run(pool, deleter))
        await eventually(lambda: is_waiting(pool, task))
        await (transaction.commit() if committed else transaction.rollback())
    await task
    with pytest.raises(BaseGone):
        await run(pool, writing(base, item))


@pytest.mark.parametrize("known", [True, False], ids=["known", "not seen yet"])
@pytest.mark.parametrize("deletes", [True, False], ids=["bury", "empty"])
@pytest.mark.parametrize("committed", [True, False], ids=["commits", "rolls back"])
async def test_a_writer_waits_for_a_deleter_that_came_before_and_is_stopped_if_it_commits(
    pool: Pool, eventually: Eventually, known: bool, deletes: bool, committed: bool
) -> None:
    base, item = uuid7(), uuid7()
    if known:
        await run(pool, writing(base, item))
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await (burying(base) if deletes else emptying(base, uuid7()))(connection)
        task = asyncio.create_task(run(pool, writing(base, item)))
        await eventually(lambda: is_waiting(pool, task))
        await (transaction.commit() if committed else transaction.rollback())
    if committed:
        with pytest.raises(BaseGone):
            await task
    else:
        await task


async def test_writers_do_not_wait_for_each_other_once_the_base_is_known(pool: Pool) -> None:
    base = uuid7()
    await run(pool, writing(base, uuid7()))
    async with pool.acquire() as connection, connection.transaction():
        await bases.hold(connection, base, uuid7())
        async with asyncio.timeout(20):
            await run(pool, writing(base, uuid7()))


async def test_writers_that_follow_each_other_without_a_gap_do_not_keep_a_deleter_waiting_for_ever(
    pool: Pool, eventually: Eventually
) -> None:
    base = uuid7()
    await run(pool, writing(base, uuid7()))
    stopped = 0

    async def writer(entered: asyncio.Event, leave: asyncio.Event) -> None:
        nonlocal stopped
        try:
            async with pool.acquire() as connection, connection.transaction():
                await bases.hold(connection, base, uuid7())
                entered.set()
                await leave.wait()
        except BaseGone:
            stopped += 1

    first_in, first_out = asyncio.Event(), asyncio.Event()
    current = asyncio.create_task(writer(first_in, first_out))
    await first_in.wait()
    deleter = asyncio.create_task(run(pool, burying(base)))
    await eventually(lambda: is_waiting(pool, deleter))
    second_in, second_out = asyncio.Event(), asyncio.Event()
    following = asyncio.create_task(writer(second_in, second_out))
    second = asyncio.create_task(second_in.wait())

    async def decided() -> bool:
        waiting = await pool.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return second.done() or waiting == 2

    try:
        await eventually(decided)
        assert not second.done(), "a writer overtook a deleter that was waiting"
    finally:
        first_out.set()
        second_out.set()
        await asyncio.gather(current, following, deleter)
        second.cancel()
    assert stopped == 1


async def test_a_base_that_was_buried_before_it_was_seen_stays_buried(pool: Pool) -> None:
    base = uuid7()
    await run(pool, burying(base))
    await run(pool, burying(base))
    await run(pool, emptying(base, uuid7()))
    with pytest.raises(BaseGone):
        await run(pool, writing(base, uuid7()))


async def test_emptying_stops_what_is_older_and_lets_pass_what_is_newer(pool: Pool) -> None:
    base, older, mark, newer = uuid7(), uuid7(), uuid7(), uuid7()
    await run(pool, emptying(base, mark))
    with pytest.raises(BaseGone):
        await run(pool, writing(base, older))
    await run(pool, writing(base, mark))
    await run(pool, writing(base, newer))


async def test_an_older_mark_that_comes_late_takes_nothing_back(pool: Pool) -> None:
    base, first, item, second = uuid7(), uuid7(), uuid7(), uuid7()
    await run(pool, emptying(base, second))
    await run(pool, emptying(base, first))
    with pytest.raises(BaseGone):
        await run(pool, writing(base, item))


async def test_bases_do_not_stand_in_each_others_way(pool: Pool) -> None:
    gone, other = uuid7(), uuid7()
    await run(pool, burying(gone))
    async with pool.acquire() as connection, connection.transaction():
        await bases.bury(connection, gone)
        async with asyncio.timeout(20):
            await run(pool, writing(other, uuid7()))
