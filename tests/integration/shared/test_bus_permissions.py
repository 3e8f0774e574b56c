"""A real broker enforces what `bus.permissions` declares."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import nats
from nats.aio.client import Client

from services.shared import bus
from services.shared.broker import Outgoing
from services.shared.ids import uuid7
from tests.conftest import NatsServer
from tests.integration.shared.conftest import Connect

Errors = asyncio.Queue[str]


@contextlib.asynccontextmanager
async def intruder(server: NatsServer, service: str) -> AsyncIterator[tuple[Client, Errors]]:
    """A client with a service's credentials that does not keep to the code."""
    errors: Errors = asyncio.Queue()

    async def note(error: Exception) -> None:
        errors.put_nowait(str(error).lower())

    client = await nats.connect(server.url(service), inbox_prefix=bus.inbox_prefix(service), error_cb=note)
    try:
        yield client, errors
    finally:
        await client.close()


async def refusal(errors: Errors) -> str:
    async with asyncio.timeout(20):
        return await errors.get()


FORBIDDEN_TO_UPLOAD = [
    "acervo.parse.bulk",
    "acervo.document.indexed",
    "acervo.base.deleted",
    "acervo.handled.access.ingest",
    "acervo.teardown.vectorstore",
    "acervo.teardown.answered",
    "$JS.API.CONSUMER.MSG.NEXT.WORK.parse-bulk",
    "$JS.API.CONSUMER.MSG.NEXT.FACTS.ingest-facts",
    "$JS.ACK.WORK.parse-bulk.1.1.1.1.0",
    "$JS.API.CONSUMER.DELETE.WORK.parse-bulk",
    "$JS.API.CONSUMER.DELETE.FACTS.upload-facts",
    "$JS.API.CONSUMER.CREATE.FACTS",
    "$JS.API.CONSUMER.CREATE.FACTS.spy",
    "$JS.API.CONSUMER.CREATE.WORK.parse-bulk.acervo.parse.bulk",
    "$JS.API.CONSUMER.DURABLE.CREATE.FACTS.spy",
    "$JS.API.CONSUMER.PAUSE.WORK.parse-bulk",
    "$JS.API.STREAM.DELETE.WORK",
    "$JS.API.STREAM.PURGE.FACTS",
    "$JS.API.STREAM.UPDATE.WORK",
    "$JS.API.STREAM.CREATE.OTHER",
    "$JS.API.STREAM.MSG.GET.FACTS",
    "$JS.API.STREAM.MSG.DELETE.WORK",
    "$JS.API.DIRECT.GET.FACTS",
    "_INBOX_ingest.x",
]


async def test_a_service_cannot_publish_as_another_nor_touch_what_the_broker_keeps(
    nats_server: NatsServer, connect: Connect
) -> None:
    await connect("access")
    async with intruder(nats_server, "upload") as (client, errors):
        for subject in FORBIDDEN_TO_UPLOAD:
            await client.publish(subject, b"{}")
            await client.flush()
            assert f'permissions violation for publish to "{subject.lower()}"' in await refusal(errors)


async def test_a_service_cannot_listen_to_anything_but_its_own_inbox(nats_server: NatsServer) -> None:
    async with intruder(nats_server, "upload") as (client, errors):
        for subject in ("_INBOX_ingest.>", "_INBOX.>", "acervo.>", ">", "$JS.>", "*.*.*"):
            await client.subscribe(subject)
            await client.flush()
            assert "permissions violation for subscription" in await refusal(errors)


async def test_each_service_may_do_what_its_work_needs(connect: Connect) -> None:
    for service in sorted(bus.PUBLISHES):
        broker = await connect(service)
        subjects = {subject.replace("*", lane) for subject in bus.PUBLISHES[service] for lane in bus.Lane}
        messages = [Outgoing(uuid7(), subject, b"x") for subject in subjects]
        assert await broker.publish(messages) == [message.id for message in messages]
    for consumer in bus.CONSUMERS.values():
        broker = await connect(consumer.service)
        subscription = await broker._js.pull_subscribe_bind(
            consumer=consumer.name, stream=consumer.stream, inbox_prefix=broker._inbox_prefix
        )
        for message in await subscription.fetch(8, timeout=5):
            await message.ack_sync()
