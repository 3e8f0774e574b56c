"""Parts that the tests of the data core are made of."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from services.shared import bus
from services.shared.broker import Broker, Delivery, Handler
from services.shared.db import Pool, open_pool
from tests.conftest import Databases, NatsServer


@pytest.fixture
async def pool(databases: Databases) -> AsyncIterator[Pool]:
    pool = await open_pool(databases["ingest"], size=6, application="test")
    yield pool
    await pool.close()


Connect = Callable[[str], Awaitable[Broker]]


@pytest.fixture
async def connect(nats_server: NatsServer) -> AsyncIterator[Connect]:
    """Connect to the test's own broker as a service, with the streams declared."""
    brokers: list[Broker] = []

    async def connect(service: str) -> Broker:
        broker = await Broker.connect(nats_server.url(service), service)
        brokers.append(broker)
        await broker.ensure()
        return broker

    yield connect
    for broker in brokers:
        await broker.close()


class DeadLetters:
    """Remembers what was set aside."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, Delivery]] = []

    async def __call__(self, consumer: str, delivery: Delivery, error: str) -> None:
        self.kept.append((consumer, delivery))


Consuming = Callable[..., AbstractAsyncContextManager[DeadLetters]]


@pytest.fixture
def consuming() -> Consuming:
    """Consume while a block runs; the consumer is cancelled at its end."""

    @contextlib.asynccontextmanager
    async def consuming(
        broker: Broker, name: str, handler: Handler, *, slots: int = 4, heartbeat: float = 20
    ) -> AsyncIterator[DeadLetters]:
        dead = DeadLetters()
        task = asyncio.create_task(
            broker.consume(
                name, handler, dead, slots=slots, heartbeat_seconds=heartbeat, stopping=asyncio.Event()
            )
        )
        yield dead
        assert not task.done(), f"the consumer ended: {task}"
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    return consuming


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let unacknowledged messages come again after a second."""
    monkeypatch.setattr(bus, "ACK_WAIT_SECONDS", 1)
