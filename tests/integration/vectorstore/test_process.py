"""vectorstore as a process: work comes over the broker, answers go out, and a kill loses nothing."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID

import pytest

from acervo.events.v1.facts_pb2 import BaseDeleted, DocumentIndexed, TeardownAnswered
from services.shared import bus
from services.shared.broker import Broker, Delivery, Outgoing
from services.shared.ids import uuid7
from tests.conftest import Databases, NatsServer
from tests.integration.ingest.access_double import AccessDouble
from tests.integration.vectorstore.stage import Document, Stage
from tests.signing import Trust

Eventually = Callable[..., Awaitable[None]]


@pytest.fixture
def environment(
    databases: Databases,
    nats_server: NatsServer,
    blob_url: str,
    trust: Trust,
    access: tuple[AccessDouble, str],
    stage: Stage,
) -> dict[str, str]:
    return {
        **os.environ,
        "ACERVO_ROLE": "worker",
        "ACERVO_DATABASE_URL": databases["vectorstore"],
        "ACERVO_NATS_URL": nats_server.url("vectorstore"),
        "ACERVO_BLOB_URL": blob_url,
        "ACERVO_ISSUERS": str(trust.issuers),
        "ACERVO_SERVICE_TOKENS": str(trust.directory / "tokens" / "vectorstore"),
        "ACERVO_ACCESS_ADDRESS": access[1],
        "ACERVO_LEADER_SECONDS": "1",
        "ACERVO_LEASE_SECONDS": "2",
        "ACERVO_HEARTBEAT_SECONDS": "0.5",
        "ACERVO_RECONCILE_SECONDS": "0.2",
    }


@asynccontextmanager
async def running(environment: dict[str, str]) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.vectorstore", env=environment
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.fixture
async def answers(nats_server: NatsServer) -> AsyncIterator[list[Delivery]]:
    """What ingest and access hear."""
    heard: list[Delivery] = []

    async def hear(delivery: Delivery) -> None:
        heard.append(delivery)

    async def dead(consumer: str, delivery: Delivery, error: str) -> None:
        raise AssertionError(f"{consumer}: {error}")

    async with AsyncExitStack() as stack:
        for service in ("ingest", "access"):
            broker = await Broker.connect(nats_server.url(service), service)
            stack.push_async_callback(broker.close)
            await broker.ensure()
            consuming = broker.consume(
                f"{service}-facts", hear, dead, slots=8, heartbeat_seconds=20, stopping=asyncio.Event()
            )
            stack.callback(asyncio.create_task(consuming).cancel)
        yield heard


async def publish(nats_server: NatsServer, service: str, subject: str, payload: bytes) -> None:
    broker = await Broker.connect(nats_server.url(service), service)
    message = Outgoing(uuid7(), subject, payload)
    assert await broker.publish([message]) == [message.id]
    await broker.close()


async def test_work_is_done_over_the_broker_and_survives_a_kill(
    stage: Stage,
    environment: dict[str, str],
    nats_server: NatsServer,
    answers: list[Delivery],
    eventually: Eventually,
) -> None:
    base = stage.base()
    documents = [await stage.write(Document(base, [f"text {n}", "more"])) for n in range(12)]

    async def send() -> None:
        for document in documents:
            work = document.work()
            await publish(nats_server, "ingest", work.subject, work.message)

    async def some() -> bool:
        return len(await stage.stored(base)) >= 3

    await send()
    async with running(environment) as process:
        await eventually(some)
        process.kill()
    await send()  # as ingest does with what was not answered in time

    async def all_told() -> bool:
        told = [
            DocumentIndexed.FromString(answer.data).document_id
            for answer in answers
            if answer.subject == bus.DOCUMENT_INDEXED
        ]
        return set(told) == {str(document.id) for document in documents}

    async with running(environment):
        await eventually(all_told, 40)
    assert await stage.stored(base) == {document.id: document.texts for document in documents}


async def test_deleted_base_is_taken_down_and_answered(
    stage: Stage,
    environment: dict[str, str],
    nats_server: NatsServer,
    answers: list[Delivery],
    eventually: Eventually,
) -> None:
    document = Document(stage.base(), ["text"])
    await stage.index(document)
    teardown = str(uuid7())
    fact = BaseDeleted(
        knowledge_base_id=document.base.id,
        teardown_id=teardown,
        collection_name=document.base.collection_name,
        last_holder=True,
    )

    async def answered() -> bool:
        return any(
            TeardownAnswered.FromString(answer.data).teardown_id == teardown
            for answer in answers
            if answer.subject == bus.teardown_answered("vectorstore")
        )

    async with running(environment):
        await publish(nats_server, "access", bus.BASE_DELETED, fact.SerializeToString())
        await eventually(answered)
    assert not await stage.stored(document.base)
    assert not await stage.pool.fetchval("SELECT count(*) FROM collections")
    state = await stage.pool.fetchval(
        "SELECT state FROM bases WHERE knowledge_base_id = $1", UUID(document.base.id)
    )
    assert state == "deleted"
