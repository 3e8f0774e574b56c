"""A whole process's parts go on by themselves after the database has cut all connections, and the broker is gone."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from acervo.events.v1.work_pb2 import EmbedDocument, ParseDocument
from services.shared import jobs
from services.shared.admission import Policy, Window
from services.shared.broker import Delivery
from services.shared.bus import EMBED, PARSE, Lane, lane_subject
from services.shared.db import Pool
from services.shared.ids import uuid7
from services.shared.jobs import Claim, Held, LeaseLost, Work
from services.shared.runtime import Runtime
from services.shared.settings import ServiceSettings
from tests.conftest import Databases, NatsServer

Eventually = Callable[..., Awaitable[None]]
COUNT = 30


@pytest.fixture
async def runtime(
    tmp_path: Path, databases: Databases, nats_server: NatsServer, blob_url: str
) -> AsyncIterator[Runtime]:
    (tmp_path / "issuers.json").write_text("[]")
    settings = ServiceSettings(
        database_url=databases["ingest"],
        nats_url=nats_server.url("ingest"),
        blob_url=blob_url,
        issuers=tmp_path / "issuers.json",
        service_tokens=tmp_path,
        leader_seconds=0.6,
        lease_seconds=1,
        heartbeat_seconds=0.3,
        emit_deadline_seconds=1,
        reconcile_seconds=0.1,
    )
    async with Runtime.open(settings, "ingest") as runtime:
        yield runtime


class Parsing:
    """Does jobs as a service does, and counts whose ends were committed."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.ends: Counter[UUID] = Counter()

    async def __call__(self, delivery: Delivery) -> None:
        message = ParseDocument.FromString(delivery.data)
        pool, settings = self._runtime.pool, self._runtime.settings
        held = await jobs.claim(
            pool, UUID(message.document_id), "parse", 1, worker="w", lease_seconds=settings.lease_seconds
        )
        if not isinstance(held, Claim):
            return
        try:
            async with Held(
                pool, held, lease_seconds=settings.lease_seconds, heartbeat_seconds=settings.heartbeat_seconds
            ):
                await self._end(pool, held)
        except LeaseLost:
            return

    async def _end(self, pool: Pool, held: Claim) -> None:
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute(
                "INSERT INTO bases (knowledge_base_id, state) VALUES ($1, 'live')", held.id
            )
            await asyncio.sleep(0.02)
            await jobs.end(
                connection, held, lane_subject(EMBED, held.lane), EmbedDocument(document_id=str(held.id))
            )
        self.ends[held.id] += 1


async def enqueue(pool: Pool) -> None:
    async with pool.acquire() as connection, connection.transaction():
        for _ in range(COUNT):
            job_id = uuid7()
            message = ParseDocument(document_id=str(job_id), attempt=1).SerializeToString()
            subject = lane_subject(PARSE, Lane.BULK)
            await jobs.enqueue(
                connection, Work(job_id, "parse", 1, Lane.BULK, uuid7(), subject, message), send=False
            )


async def cut_all(databases: Databases) -> None:
    """What a restart of the database does to everybody's connections."""
    connection = await asyncpg.connect(databases.admin_url)
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename = 'acervo_ingest'"
    )
    await connection.close()


async def query(databases: Databases, statement: str) -> int:
    connection = await asyncpg.connect(databases["ingest"])
    try:
        return int(await connection.fetchval(statement))
    finally:
        await connection.close()


Fault = Callable[[Databases, NatsServer], Awaitable[None]]


async def cut_the_database(databases: Databases, nats_server: NatsServer) -> None:
    await cut_all(databases)


async def kill_the_broker(databases: Databases, nats_server: NatsServer) -> None:
    nats_server.kill()
    nats_server.start()


async def wipe_the_broker(databases: Databases, nats_server: NatsServer) -> None:
    nats_server.wipe()


async def cut_and_wipe(databases: Databases, nats_server: NatsServer) -> None:
    nats_server.wipe()
    await cut_all(databases)


@pytest.mark.parametrize("fault", [cut_the_database, kill_the_broker, wipe_the_broker, cut_and_wipe])
async def test_every_job_is_done_once_whatever_breaks_in_between(
    runtime: Runtime, databases: Databases, nats_server: NatsServer, eventually: Eventually, fault: Fault
) -> None:
    parsing = Parsing(runtime)
    runtime.background(Policy("parse", bulk=Window(total=6)))
    runtime.consume("parse-bulk", parsing, slots=3)
    await enqueue(runtime.pool)
    for done in (COUNT // 4, COUNT // 2):

        async def got_so_far(done: int = done) -> bool:
            return await query(databases, "SELECT count(*) FROM bases") >= done

        await eventually(got_so_far, 60)
        await fault(databases, nats_server)

    async def all_ended() -> bool:
        return await query(databases, "SELECT count(*) FROM jobs WHERE state <> 'ended'") == 0

    await eventually(all_ended, 60)

    async def all_sent() -> bool:
        return await query(databases, "SELECT count(*) FROM outbox") == 0

    await eventually(all_sent, 60)
    assert await query(databases, "SELECT count(*) FROM bases") == COUNT
    assert max(parsing.ends.values()) == 1
