import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import UUID

import nats
import pytest

from acervo.events.v1.facts_pb2 import BaseDeleted, DocumentDeleted, FactHandled, MemberRemoved
from acervo.events.v1.work_pb2 import ParseDocument
from services.shared import bus, jobs, outbox
from services.shared.broker import Broker, Delivery, Outgoing
from services.shared.bus import BASE_DELETED, DOCUMENT_DELETED, MEMBER_REMOVED, PARSE, Lane, lane_subject
from services.shared.db import Listener, Pool, Signal, open_pool
from services.shared.ids import uuid7
from services.shared.jobs import Work
from services.shared.outbox import Answers, Relay
from tests.conftest import Databases, NatsServer
from tests.integration.shared.conftest import Connect, Consuming

BULK = lane_subject(PARSE, Lane.BULK)
Eventually = Callable[..., Awaitable[None]]


@pytest.fixture
async def access(databases: Databases) -> AsyncIterator[Pool]:
    pool = await open_pool(databases["access"], size=4, application="test")
    yield pool
    await pool.close()


async def emit(pool: Pool, count: int = 1) -> list[UUID]:
    async with pool.acquire() as connection, connection.transaction():
        message = ParseDocument(document_id=str(uuid7()), attempt=1)
        return [await outbox.emit(connection, BULK, message) for _ in range(count)]


async def left(pool: Pool) -> int:
    return int(await pool.fetchval("SELECT count(*) FROM outbox"))


def is_empty(pool: Pool) -> Callable[[], Awaitable[bool]]:
    async def empty() -> bool:
        return await left(pool) == 0

    return empty


async def stored(broker: Broker, stream: str = "WORK") -> int:
    return (await broker._js.stream_info(stream)).state.messages


@contextlib.asynccontextmanager
async def relaying(*relays: Relay) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(relay.run()) for relay in relays]
    yield
    assert not any(task.done() for task in tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_what_was_committed_is_published_once_and_forgotten(pool: Pool, connect: Connect) -> None:
    broker = await connect("ingest")
    await emit(pool, 3)
    relay = Relay(pool, broker, Signal())
    assert await relay.publish_batch() == 3
    assert await relay.publish_batch() == 0
    assert (await left(pool), await stored(broker)) == (0, 3)


async def test_nothing_leaves_a_transaction_that_is_open_or_rolled_back(pool: Pool, connect: Connect) -> None:
    broker = await connect("ingest")
    relay = Relay(pool, broker, Signal())
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await outbox.emit(connection, BULK, ParseDocument(attempt=1))
        assert await relay.publish_batch() == 0
        await transaction.rollback()
    assert await relay.publish_batch() == 0
    assert await stored(broker) == 0


async def test_a_row_whose_deletion_was_lost_is_not_stored_twice(pool: Pool, connect: Connect) -> None:
    broker = await connect("ingest")
    await emit(pool, 5)
    rows = await pool.fetch("SELECT id, subject, payload, fact_id FROM outbox")
    await broker.publish([Outgoing(*row) for row in rows])
    assert await Relay(pool, broker, Signal()).publish_batch() == 5
    assert (await left(pool), await stored(broker)) == (0, 5)


async def test_two_relays_at_once_store_each_event_once(
    pool: Pool, connect: Connect, eventually: Eventually
) -> None:
    broker, other = await connect("ingest"), await connect("ingest")
    await emit(pool, 600)
    async with relaying(Relay(pool, broker, Signal()), Relay(pool, other, Signal())):
        await eventually(is_empty(pool))
    assert await stored(broker) == 600


async def test_a_commit_wakes_the_relay(
    pool: Pool,
    databases: Databases,
    connect: Connect,
    eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("services.shared.outbox._POLL_SECONDS", 3600)
    broker = await connect("ingest")
    listener = Listener(databases["ingest"], "ingest")
    listening = asyncio.create_task(listener.run())
    with listener.signal("outbox") as signal:
        async with relaying(Relay(pool, broker, signal)):
            for count in (1, 2, 3):
                await emit(pool)
                await eventually(is_empty(pool))
                assert await stored(broker) == count
    listening.cancel()


async def test_a_full_stream_leaves_rows_that_go_when_there_is_room(
    pool: Pool,
    connect: Connect,
    consuming: Consuming,
    eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(bus.MAX_BYTES, bus.Stream.WORK, 8 * 1024)
    broker = await connect("ingest")
    await emit(pool, 120)
    assert await Relay(pool, broker, Signal()).publish_batch() == 120
    kept = await left(pool)
    assert 0 < kept < 120
    seen: list[bytes] = []

    async def handler(delivery: Delivery) -> None:
        seen.append(delivery.data)

    async with relaying(Relay(pool, broker, Signal())), consuming(broker, "parse-bulk", handler, slots=64):
        await eventually(is_empty(pool))

        async def all_seen() -> bool:
            return len(seen) == 120

        await eventually(all_seen)


async def test_a_full_stream_holds_back_none_of_the_other_ones_events(
    pool: Pool, connect: Connect, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(bus.MAX_BYTES, bus.Stream.WORK, 8 * 1024)
    broker = await connect("ingest")
    await emit(pool, outbox.BATCH * 2)

    async def no_facts() -> bool:
        return not await pool.fetchval("SELECT count(*) FROM outbox WHERE subject = $1", DOCUMENT_DELETED)

    async with relaying(Relay(pool, broker, Signal())):
        for _ in range(3):
            async with pool.acquire() as connection, connection.transaction():
                await outbox.emit(connection, DOCUMENT_DELETED, DocumentDeleted(document_id=str(uuid7())))
            await eventually(no_facts)
    assert await left(pool) > outbox.BATCH


async def test_a_message_that_the_streams_would_never_take_is_refused_in_its_transaction(pool: Pool) -> None:
    """In the outbox it would be in the way of all others, for ever."""
    work = Work(uuid7(), "parse", 1, Lane.BULK, uuid7(), BULK, bytes(bus.MAX_MESSAGE_BYTES))
    async with pool.acquire() as connection:
        with pytest.raises(ValueError, match="bytes"):
            await outbox.put(connection, BULK, bytes(bus.MAX_MESSAGE_BYTES))
        with pytest.raises(ValueError, match="no stream takes"):
            await outbox.put(connection, "acervo.parsing", b"")
        with pytest.raises(ValueError, match="bytes"):
            await jobs.enqueue(connection, work, send=False)


async def test_a_wiped_broker_gets_what_was_not_acknowledged(
    pool: Pool, nats_server: NatsServer, connect: Connect, consuming: Consuming, eventually: Eventually
) -> None:
    broker = await connect("ingest")
    seen: set[bytes] = set()

    async def handler(delivery: Delivery) -> None:
        seen.add(delivery.data)

    async with relaying(Relay(pool, broker, Signal())), consuming(broker, "parse-bulk", handler):
        await emit(pool)
        await eventually(is_empty(pool))
        nats_server.wipe()
        await emit(pool)
        await eventually(is_empty(pool), 40)

        async def second_seen() -> bool:
            return len(seen) == 2

        await eventually(second_seen, 40)


# Facts that are announced.


async def announce(pool: Pool, again_seconds: float = 0.0) -> BaseDeleted:
    fact = BaseDeleted(knowledge_base_id=str(uuid7()))
    async with pool.acquire() as connection, connection.transaction():
        await outbox.announce(connection, BASE_DELETED, fact, again_seconds=again_seconds)
    return fact


async def awaiting(pool: Pool) -> set[str]:
    return {name for row in await pool.fetch("SELECT awaiting FROM facts") for name in row["awaiting"]}


async def test_a_fact_that_nobody_hears_is_sent_once(access: Pool) -> None:
    async with access.acquire() as connection, connection.transaction():
        await outbox.announce(connection, MEMBER_REMOVED, MemberRemoved())
    assert await access.fetchval("SELECT count(*) FROM facts") == 0
    assert await left(access) == 1


async def test_an_announced_fact_awaits_all_that_hear_it_and_is_forgotten_after_the_last(
    access: Pool,
) -> None:
    await announce(access)
    hearers = bus.listeners(BASE_DELETED)
    assert await awaiting(access) == set(hearers) == {"upload", "ingest", "vectorstore", "sync"}
    fact_id = await access.fetchval("SELECT id FROM facts")
    answers = Answers(access)
    await asyncio.gather(*(answers.handled(fact_id, name) for name in hearers[1:]))
    assert await awaiting(access) == {hearers[0]}
    await answers.handled(fact_id, hearers[1])
    await answers.handled(fact_id, hearers[0])
    assert await access.fetchval("SELECT count(*) FROM facts") == 0
    await answers.handled(fact_id, hearers[0])


async def test_a_fact_is_sent_again_while_it_is_not_handled_and_less_and_less_often(access: Pool) -> None:
    await announce(access, again_seconds=0)
    waits: list[float] = []
    for _ in range(7):
        assert await outbox.announce_again(access, again_seconds=10) == 1
        assert await outbox.announce_again(access, again_seconds=10) == 0
        waits.append(
            round(await access.fetchval("SELECT extract(epoch FROM due_at - now())::float FROM facts"))
        )
        await access.execute("UPDATE facts SET due_at = now()")
    assert waits == [20, 40, 80, 160, 320, 320, 320]
    assert await left(access) == 8
    assert await access.fetchval("SELECT count(DISTINCT fact_id) FROM outbox") == 1


async def test_a_fact_lost_with_the_broker_reaches_every_hearer_in_the_end(
    access: Pool, nats_server: NatsServer, connect: Connect, consuming: Consuming, eventually: Eventually
) -> None:
    broker = await connect("access")
    answers = Answers(access)
    heard: dict[str, list[bytes]] = {}

    def hear(service: str) -> Callable[[Delivery], Awaitable[None]]:
        async def handler(delivery: Delivery) -> None:
            heard.setdefault(service, []).append(delivery.data)

        return handler

    async def note(delivery: Delivery) -> None:
        answer = FactHandled.FromString(delivery.data)
        await answers.handled(UUID(answer.fact_id), delivery.subject.rpartition(".")[2])

    fact = await announce(access)
    assert await Relay(access, broker, Signal()).publish_batch() == 1
    nats_server.wipe()

    async def declared() -> bool:
        with contextlib.suppress(nats.errors.Error):
            await broker.ensure()
            return True
        return False

    await eventually(declared)
    await outbox.announce_again(access)
    async with contextlib.AsyncExitStack() as stack:
        for service in bus.listeners(BASE_DELETED):
            hearer = await connect(service)
            await stack.enter_async_context(consuming(hearer, f"{service}-facts", hear(service)))
        await stack.enter_async_context(consuming(broker, "access-facts", note))
        await stack.enter_async_context(relaying(Relay(access, broker, Signal())))

        async def forgotten() -> bool:
            return bool(await access.fetchval("SELECT count(*) = 0 FROM facts"))

        await eventually(forgotten)
    payload = fact.SerializeToString()
    assert heard == {service: [payload] for service in bus.listeners(BASE_DELETED)}
