"""access as a process: health, calls, facts over a real broker, and an orderly end."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from grpc.aio import AioRpcError
from grpc_health.v1 import health_pb2, health_pb2_grpc

from acervo.events.v1.facts_pb2 import BaseDeleted, TeardownAnswered
from acervoctl.stack.ports import free_port
from services.access.bases.teardown import OWNERS
from services.shared import bus
from services.shared.broker import Broker, Outgoing
from services.shared.client import open_channel
from services.shared.db import Pool
from services.shared.ids import uuid7
from tests.conftest import Databases, NatsServer
from tests.integration.access.callers import Access
from tests.signing import Trust

Eventually = Callable[..., Awaitable[None]]


@pytest.fixture
async def running(
    databases: Databases, nats_server: NatsServer, blob_url: str, tmp_path: Path, eventually: Eventually
) -> AsyncIterator[tuple[asyncio.subprocess.Process, Access]]:
    trust = Trust(tmp_path)
    address = f"127.0.0.1:{free_port(set())}"
    environment = {
        **os.environ,
        "ACERVO_LISTEN": address,
        "ACERVO_DATABASE_URL": databases["access"],
        "ACERVO_NATS_URL": nats_server.url("access"),
        "ACERVO_BLOB_URL": blob_url,
        "ACERVO_ISSUERS": str(trust.issuers),
        "ACERVO_SERVICE_TOKENS": str(tmp_path),
        "ACERVO_LEADER_SECONDS": "1",
    }
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "services.access", env=environment)
    channel = open_channel(address)

    async def healthy() -> bool:
        try:
            answer = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
        except AioRpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    await eventually(healthy)
    yield process, Access(channel, trust)
    await channel.close()
    if process.returncode is None:
        process.kill()
        await process.wait()


async def test_a_teardown_goes_round_over_the_broker_and_frees_the_name(
    running: tuple[asyncio.subprocess.Process, Access],
    nats_server: NatsServer,
    pool: Pool,
    eventually: Eventually,
) -> None:
    process, access = running
    made = await access.base("ana", collection_name="handbook")
    await access.delete("ana", made.id)
    payload = await pool.fetchval("SELECT payload FROM facts WHERE subject = $1", bus.BASE_DELETED)
    teardown_id = BaseDeleted.FromString(payload).teardown_id

    async def relayed() -> bool:
        return not await pool.fetch("SELECT FROM outbox")

    await eventually(relayed)

    async def has_answered(service: str) -> bool:
        return not await pool.fetchval("SELECT $1 = ANY(awaited) FROM teardowns", service)

    for service in sorted(OWNERS):
        # Whoever a message says it is from: its subject decides, and that is its sender's own.
        assert not await has_answered(service)
        broker = await Broker.connect(nats_server.url(service), service)
        answered = TeardownAnswered(teardown_id=teardown_id, service="upload").SerializeToString()
        message = Outgoing(uuid7(), bus.teardown_answered(service), answered)
        assert await broker.publish([message]) == [message.id]
        await broker.close()

        await eventually(partial(has_answered, service))

    async def freed() -> bool:
        return not await pool.fetch("SELECT FROM collection_names")

    await eventually(freed)
    assert (await access.base("bea", collection_name="handbook")).collection_name == "handbook"
    process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(process.wait(), 20) == 0


async def test_what_was_done_is_sealed_soon(
    running: tuple[asyncio.subprocess.Process, Access], pool: Pool, eventually: Eventually
) -> None:
    _, access = running
    await access.base("ana")

    async def sealed() -> bool:
        return bool(await pool.fetchval("SELECT EXISTS (SELECT FROM audit_seals)"))

    await eventually(sealed)
    assert not await pool.fetch("SELECT FROM audit_unsealed")
