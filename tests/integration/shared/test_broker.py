import asyncio
from collections.abc import Awaitable, Callable

import pytest

from services.shared import bus
from services.shared.broker import Broker, Delivery, HandBack, Outgoing, Undecodable
from services.shared.bus import DOCUMENT_INDEXED, EMBED, PARSE, Lane, lane_subject
from services.shared.ids import uuid7
from tests.conftest import NatsServer
from tests.integration.shared.conftest import Connect, Consuming

BULK = lane_subject(PARSE, Lane.BULK)
INTERACTIVE = lane_subject(PARSE, Lane.INTERACTIVE)
Eventually = Callable[..., Awaitable[None]]


def outgoing(payload: bytes = b"x", subject: str = BULK) -> Outgoing:
    return Outgoing(uuid7(), subject, payload)


class Recorder:
    """A handler that remembers what it got, and can be held up."""

    def __init__(self) -> None:
        self.got: list[bytes] = []
        self.running = 0
        self.most = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, delivery: Delivery) -> None:
        self.got.append(delivery.data)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.gate.wait()
        finally:
            self.running -= 1

    def has(self, count: int) -> Callable[[], Awaitable[bool]]:
        async def enough() -> bool:
            return len(self.got) >= count

        return enough


async def pending(broker: Broker, consumer: str, stream: str = "WORK") -> tuple[int, int]:
    """How many messages wait for a consumer, and how many were delivered without an answer."""
    info = await broker._js.consumer_info(stream, consumer)
    return info.num_pending or 0, info.num_ack_pending or 0


async def is_idle(broker: Broker, consumer: str, stream: str = "WORK") -> bool:
    return await pending(broker, consumer, stream) == (0, 0)


async def test_a_message_published_twice_is_stored_once(connect: Connect) -> None:
    broker = await connect("ingest")
    message = outgoing()
    assert await broker.publish([message]) == [message.id]
    assert await broker.publish([message, message]) == [message.id, message.id]
    assert await pending(broker, "parse-bulk") == (1, 0)


async def test_all_of_more_than_a_batch_are_published_and_handled(
    connect: Connect, consuming: Consuming, eventually: Eventually
) -> None:
    broker, handler = await connect("ingest"), Recorder()
    messages = [outgoing(str(n).encode()) for n in range(200)]
    assert await broker.publish(messages) == [message.id for message in messages]
    async with consuming(broker, "parse-bulk", handler, slots=32):
        await eventually(handler.has(200))
        await eventually(lambda: is_idle(broker, "parse-bulk"))
    assert sorted(handler.got) == sorted(message.payload for message in messages)


async def test_no_more_handlers_run_than_there_are_slots(
    connect: Connect, consuming: Consuming, eventually: Eventually
) -> None:
    broker, handler = await connect("ingest"), Recorder()
    handler.gate.clear()
    await broker.publish([outgoing() for _ in range(20)])
    async with consuming(broker, "parse-bulk", handler, slots=3):
        await eventually(handler.has(3))
        assert await pending(broker, "parse-bulk") == (17, 3)
        handler.gate.set()
        await eventually(lambda: is_idle(broker, "parse-bulk"))
    assert handler.most <= 3
    assert len(handler.got) == 20


async def test_each_lane_and_service_gets_its_own(
    connect: Connect, consuming: Consuming, eventually: Eventually
) -> None:
    ingest, vectorstore = await connect("ingest"), await connect("vectorstore")
    parsing, embedding = Recorder(), Recorder()
    await ingest.publish([outgoing(b"p", INTERACTIVE), outgoing(b"e", lane_subject(EMBED, Lane.BULK))])
    async with (
        consuming(ingest, "parse-interactive", parsing),
        consuming(vectorstore, "embed-bulk", embedding),
    ):
        await eventually(parsing.has(1))
        await eventually(embedding.has(1))
    assert (parsing.got, embedding.got) == ([b"p"], [b"e"])


async def test_a_handler_that_raises_gets_its_message_again(
    connect: Connect, consuming: Consuming, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.shared.broker._HAND_BACK_SECONDS", 0.05)
    broker, seen = await connect("ingest"), Recorder()

    async def handler(delivery: Delivery) -> None:
        await seen(delivery)
        if len(seen.got) < 3:
            raise RuntimeError("not now")

    await broker.publish([outgoing()])
    async with consuming(broker, "parse-bulk", handler):
        await eventually(seen.has(3))
        await eventually(lambda: is_idle(broker, "parse-bulk"))
    assert len(seen.got) == 3


async def test_a_message_that_is_handed_back_comes_again_and_is_no_dead_letter(
    connect: Connect, consuming: Consuming, eventually: Eventually
) -> None:
    broker, handler = await connect("ingest"), Recorder()
    refused: list[bytes] = []

    async def refuse_once(delivery: Delivery) -> None:
        if not refused:
            refused.append(delivery.data)
            raise HandBack
        await handler(delivery)

    await broker.publish([outgoing(b"x")])
    async with consuming(broker, "parse-bulk", refuse_once) as dead:
        await eventually(handler.has(1))
        await eventually(lambda: is_idle(broker, "parse-bulk"))
    assert (refused, handler.got, dead.kept) == ([b"x"], [b"x"], [])


async def test_an_undecodable_message_is_set_aside_once_and_holds_up_nothing(
    connect: Connect, consuming: Consuming, eventually: Eventually
) -> None:
    broker, seen = await connect("ingest"), Recorder()

    async def handler(delivery: Delivery) -> None:
        if delivery.data == b"bad":
            raise Undecodable("no such version")
        await seen(delivery)

    await broker.publish([outgoing(b"bad"), outgoing(b"good")])
    async with consuming(broker, "parse-bulk", handler) as dead:
        await eventually(seen.has(1))
        await eventually(lambda: is_idle(broker, "parse-bulk"))
    assert dead.kept == [("parse-bulk", Delivery(BULK, b"bad"))]


async def test_a_dead_letter_that_cannot_be_kept_comes_again_and_the_consumer_goes_on(
    connect: Connect, consuming: Consuming, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.shared.broker._HAND_BACK_SECONDS", 0.05)
    broker, seen = await connect("ingest"), Recorder()

    async def handler(delivery: Delivery) -> None:
        await seen(delivery)
        if delivery.data == b"bad":
            raise Undecodable("no such version")

    tries = 0

    async def keep(consumer: str, delivery: Delivery, error: str) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise ConnectionResetError("the database is away")

    await broker.publish([outgoing(b"bad")])
    task = asyncio.create_task(
        broker.consume("parse-bulk", handler, keep, slots=2, heartbeat_seconds=20, stopping=asyncio.Event())
    )
    try:
        await eventually(seen.has(2))
        await broker.publish([outgoing(b"good")])
        await eventually(seen.has(3))
        await eventually(lambda: is_idle(broker, "parse-bulk"))
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert tries == 2


async def test_a_cancelled_handler_leaves_its_message_to_the_next_worker(
    quick: None, connect: Connect, consuming: Consuming, eventually: Eventually
) -> None:
    broker, first, second = await connect("ingest"), Recorder(), Recorder()
    first.gate.clear()
    await broker.publish([outgoing()])
    async with consuming(broker, "parse-bulk", first):
        await eventually(first.has(1))
    async with consuming(broker, "parse-bulk", second):
        await eventually(second.has(1))
        await eventually(lambda: is_idle(broker, "parse-bulk"))


async def test_heartbeats_keep_the_message_of_a_long_handler_from_being_delivered_twice(
    quick: None, connect: Connect, consuming: Consuming, eventually: Eventually
) -> None:
    broker, kept, left = await connect("ingest"), Recorder(), Recorder()
    kept.gate.clear()
    left.gate.clear()
    await broker.publish([outgoing(subject=BULK), outgoing(subject=INTERACTIVE)])
    async with (
        consuming(broker, "parse-bulk", kept, heartbeat=0.2),
        consuming(broker, "parse-interactive", left, heartbeat=3600),
    ):
        # Without heartbeats the message comes again, so the time in which it would have is over.
        await eventually(left.has(3))
        assert len(kept.got) == 1
        kept.gate.set()
        await eventually(lambda: is_idle(broker, "parse-bulk"))


async def test_stopping_lets_running_handlers_end_and_starts_no_other(
    connect: Connect, eventually: Eventually
) -> None:
    broker, handler, stopping = await connect("ingest"), Recorder(), asyncio.Event()
    handler.gate.clear()
    await broker.publish([outgoing(), outgoing(), outgoing()])

    async def dead_letter(consumer: str, delivery: Delivery, error: str) -> None:
        raise AssertionError

    task = asyncio.create_task(
        broker.consume("parse-bulk", handler, dead_letter, slots=1, heartbeat_seconds=20, stopping=stopping)
    )
    await eventually(handler.has(1))
    stopping.set()
    handler.gate.set()
    await asyncio.wait_for(task, 20)
    assert len(handler.got) == 1

    async def the_others_wait() -> bool:
        return await pending(broker, "parse-bulk") == (2, 0)

    await eventually(the_others_wait)


async def test_more_messages_than_were_asked_for_go_back_and_take_no_slot(
    connect: Connect, consuming: Consuming, eventually: Eventually
) -> None:
    """What comes just after a fetch has timed out is given to the next one, whatever its size."""
    broker, handler = await connect("ingest"), Recorder()
    real = broker._js.pull_subscribe_bind

    async def greedy(*args: object, **options: object) -> object:
        subscription = await real(*args, **options)  # type: ignore[arg-type]
        fetch = subscription.fetch

        async def more(batch: int, **options: float) -> object:
            return await fetch(batch + 3, **options)

        subscription.fetch = more  # type: ignore[method-assign,assignment]
        return subscription

    broker._js.pull_subscribe_bind = greedy  # type: ignore[method-assign,assignment]
    handler.gate.clear()
    await broker.publish([outgoing(str(n).encode()) for n in range(12)])
    async with consuming(broker, "parse-bulk", handler, slots=2):
        await eventually(handler.has(2))
        handler.gate.set()
        await eventually(lambda: is_idle(broker, "parse-bulk"))
    assert handler.most == 2
    assert len(set(handler.got)) == 12


async def test_a_killed_broker_delays_and_a_wiped_one_is_declared_again(
    nats_server: NatsServer,
    connect: Connect,
    consuming: Consuming,
    eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("services.shared.broker._PUBLISH_SECONDS", 1)
    broker, handler = await connect("ingest"), Recorder()
    async with consuming(broker, "parse-bulk", handler):
        await broker.publish([outgoing(b"before")])
        await eventually(handler.has(1))
        nats_server.kill()
        nats_server.start()
        after_kill = outgoing(b"killed")
        await eventually(lambda: broker.publish([after_kill]), 40)
        await eventually(handler.has(2), 40)
        nats_server.wipe()
        after_wipe = outgoing(b"wiped")
        await eventually(lambda: broker.publish([after_wipe]), 40)
        await eventually(handler.has(3), 40)
    assert handler.got == [b"before", b"killed", b"wiped"]


async def test_what_was_published_before_the_broker_was_killed_is_there_when_it_comes_back(
    nats_server: NatsServer, connect: Connect, consuming: Consuming, eventually: Eventually
) -> None:
    broker, handler = await connect("ingest"), Recorder()
    messages = [outgoing(str(n).encode()) for n in range(50)]
    assert len(await broker.publish(messages)) == 50
    nats_server.kill()
    nats_server.start()
    async with consuming(broker, "parse-bulk", handler):
        await eventually(handler.has(50), 40)
    assert len(set(handler.got)) == 50


async def test_a_full_stream_refuses_and_keeps_what_it_has(
    connect: Connect, consuming: Consuming, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(bus.MAX_BYTES, bus.Stream.WORK, 16 * 1024)
    broker, handler = await connect("ingest"), Recorder()
    messages = [outgoing(str(n).encode().ljust(1024)) for n in range(40)]
    acknowledged = set(await broker.publish(messages))
    assert 0 < len(acknowledged) < 40
    async with consuming(broker, "parse-bulk", handler):
        rest = [message for message in messages if message.id not in acknowledged]

        async def published() -> bool:
            acknowledged.update(await broker.publish([m for m in rest if m.id not in acknowledged]))
            return len(acknowledged) == 40

        await eventually(published)
        await eventually(lambda: is_idle(broker, "parse-bulk"))
    assert set(handler.got) == {message.payload for message in messages}


async def test_streams_with_other_limits_are_left_as_they_are(
    nats_server: NatsServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(bus.MAX_BYTES, bus.Stream.WORK, 16 * 1024)
    await connect("ingest")
    monkeypatch.undo()
    other = await connect("vectorstore")
    info = await other._js.stream_info("WORK")
    assert info.config.max_bytes == 16 * 1024


async def test_a_fact_that_nobody_hears_yet_is_taken_and_dropped(connect: Connect) -> None:
    broker = await connect("upload")
    fact = Outgoing(uuid7(), "acervo.file.deleted", b"x", uuid7())
    assert await broker.publish([fact]) == [fact.id]
    assert (await broker._js.stream_info("FACTS")).state.messages == 0


async def test_a_fact_is_heard_by_each_service_that_is_declared_to(
    connect: Connect, consuming: Consuming, eventually: Eventually
) -> None:
    vectorstore, ingest, sync = [await connect(name) for name in ("vectorstore", "ingest", "sync")]
    heard, not_heard = Recorder(), Recorder()
    await vectorstore.publish([outgoing(b"indexed", DOCUMENT_INDEXED)])
    async with consuming(ingest, "ingest-facts", heard), consuming(sync, "sync-facts", not_heard):
        await eventually(heard.has(1))
        await eventually(lambda: is_idle(ingest, "ingest-facts", "FACTS"))
    assert not_heard.got == []
