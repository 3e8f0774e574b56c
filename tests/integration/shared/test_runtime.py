"""The life of a process, seen from outside."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from acervo.events.v1.facts_pb2 import BaseDeleted, FactHandled
from acervoctl.stack.ports import free_port
from services.shared import bus, outbox
from services.shared.broker import Delivery, Undecodable
from services.shared.bus import PARSE, Lane, lane_subject
from services.shared.db import Pool
from services.shared.ids import uuid7
from services.shared.runtime import Runtime
from services.shared.settings import ServiceSettings
from tests.conftest import Databases, NatsServer
from tests.integration.shared.conftest import Connect, Consuming

Eventually = Callable[..., Awaitable[None]]
BULK = lane_subject(PARSE, Lane.BULK)
SERVING = health_pb2.HealthCheckResponse.SERVING


@pytest.fixture
def environment(
    tmp_path: Path, databases: Databases, nats_server: NatsServer, blob_url: str
) -> Mapping[str, str]:
    (tmp_path / "issuers.json").write_text("[]")
    return {
        "ACERVO_DATABASE_URL": databases["ingest"],
        "ACERVO_NATS_URL": nats_server.url("ingest"),
        "ACERVO_BLOB_URL": blob_url,
        "ACERVO_ISSUERS": str(tmp_path / "issuers.json"),
        "ACERVO_SERVICE_TOKENS": str(tmp_path),
        "ACERVO_LISTEN": f"127.0.0.1:{free_port(set())}",
        "ACERVO_LEADER_SECONDS": "1",
    }


@contextlib.asynccontextmanager
async def service(environment: Mapping[str, str], **more: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("tiny_service.py")),
        env={**os.environ, "PYTHONPATH": f"{Path.cwd()}:{Path.cwd() / 'gen'}", **environment, **more},
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def settings_of(environment: Mapping[str, str]) -> ServiceSettings:
    given = {name.removeprefix("ACERVO_").lower(): value for name, value in environment.items()}
    return ServiceSettings.model_validate(given)


async def health(environment: Mapping[str, str]) -> int | None:
    async with grpc.aio.insecure_channel(environment["ACERVO_LISTEN"]) as channel:
        try:
            stub = health_pb2_grpc.HealthStub(channel)
            answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=2)
        except grpc.aio.AioRpcError:
            return None
        return int(answer.status)


def is_serving(environment: Mapping[str, str]) -> Callable[[], Awaitable[bool]]:
    async def serving() -> bool:
        return bool(await health(environment) == SERVING)

    return serving


async def notes(pool: Pool) -> set[str]:
    rows = await pool.fetch("SELECT name FROM leases WHERE name LIKE '%:%' OR name = 'go'")
    return {row["name"] for row in rows}


def noted(pool: Pool, *names: str) -> Callable[[], Awaitable[bool]]:
    async def are_there() -> bool:
        return set(names) <= await notes(pool)

    return are_there


async def ask(pool: Pool, *names: str) -> None:
    async with pool.acquire() as connection, connection.transaction():
        for name in names:
            await outbox.put(connection, BULK, name.encode())


async def go(pool: Pool) -> None:
    await pool.execute("INSERT INTO leases VALUES ('go', '', now())")


async def test_at_sigterm_a_process_lets_running_work_end_and_starts_no_other(
    pool: Pool, environment: Mapping[str, str], connect: Connect, eventually: Eventually
) -> None:
    broker = await connect("ingest")
    async with service(environment) as process:
        await eventually(is_serving(environment))
        await ask(pool, "first", "second")
        await eventually(noted(pool, "started:first"))
        process.send_signal(signal.SIGTERM)

        async def unready() -> bool:
            return bool(await health(environment) != SERVING)

        await eventually(unready)
        await go(pool)
        assert await asyncio.wait_for(process.wait(), 20) == 0
    assert await notes(pool) == {"go", "started:first", "ended:first"}
    info = await broker._js.consumer_info("WORK", "parse-bulk")
    assert (info.num_pending, info.num_ack_pending) == (1, 0)
    assert await pool.fetchval("SELECT count(*) FROM leases WHERE name LIKE 'ingest.%'") == 0


async def test_work_that_does_not_end_in_time_is_cancelled_and_the_process_ends(
    pool: Pool, environment: Mapping[str, str], eventually: Eventually
) -> None:
    async with service(environment, ACERVO_DRAIN_SECONDS="0.2") as process:
        await ask(pool, "first")
        await eventually(noted(pool, "started:first"))
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 20) == 0
    assert "ended:first" not in await notes(pool)


async def test_database_and_broker_may_come_after_the_process(
    pool: Pool,
    environment: Mapping[str, str],
    nats_server: NatsServer,
    tmp_path: Path,
    eventually: Eventually,
) -> None:
    url = environment["ACERVO_DATABASE_URL"]
    sockets = parse_qs(urlsplit(url).query)["host"][0]
    later = tmp_path / "s"
    nats_server.kill()
    async with service(environment, ACERVO_DATABASE_URL=url.replace(sockets, str(later))) as process:
        later.symlink_to(sockets)
        assert await health(environment) is None
        nats_server.start()
        await eventually(is_serving(environment), 40)
        await ask(pool, "first")
        await go(pool)
        await eventually(noted(pool, "ended:first"))
        assert process.returncode is None


async def test_an_undecodable_message_that_comes_again_is_kept_once(
    pool: Pool, environment: Mapping[str, str]
) -> None:
    async with Runtime.open(settings_of(environment), "ingest") as runtime:
        for data in (b"bad", b"bad", b"worse"):
            await runtime._dead_letter("parse-bulk", Delivery(BULK, data), "no such \0 version")
    rows = await pool.fetch("SELECT payload, error FROM dead_letters ORDER BY payload")
    assert [row["payload"] for row in rows] == [b"bad", b"worse"]
    assert rows[0]["error"] == "no such \N{REPLACEMENT CHARACTER} version"


async def test_a_process_whose_connection_the_broker_closes_for_good_ends(
    environment: Mapping[str, str],
) -> None:
    """It would be healthy to look at, and do nothing for ever."""
    async with Runtime.open(settings_of(environment), "ingest") as runtime:
        await runtime.broker._client._process_err("'User Authentication Revoked'")
        await asyncio.wait_for(runtime.run(), 20)


async def nothing(delivery: Delivery) -> None:
    """Handles whatever comes."""


async def test_a_service_forgets_what_it_announced_once_all_that_hear_it_have_handled_it(
    databases: Databases,
    environment: Mapping[str, str],
    nats_server: NatsServer,
    connect: Connect,
    consuming: Consuming,
    eventually: Eventually,
) -> None:
    own = {"ACERVO_DATABASE_URL": databases["access"], "ACERVO_NATS_URL": nats_server.url("access")}
    async with contextlib.AsyncExitStack() as stack:
        for name in bus.listeners(bus.BASE_DELETED):
            await stack.enter_async_context(consuming(await connect(name), f"{name}-facts", nothing))
        access = await stack.enter_async_context(Runtime.open(settings_of({**environment, **own}), "access"))
        access.background()
        access.facts(dict.fromkeys(bus.CONSUMERS["access-facts"].subjects[:-1], nothing))
        async with access.pool.acquire() as connection, connection.transaction():
            await outbox.announce(connection, bus.BASE_DELETED, BaseDeleted(knowledge_base_id=str(uuid7())))

        async def is_forgotten() -> bool:
            return bool(await access.pool.fetchval("SELECT count(*) = 0 FROM facts"))

        await eventually(is_forgotten)


@pytest.mark.parametrize("subjects", [(), (bus.teardown_answered("sync"), bus.BASE_DELETED)])
async def test_a_service_handles_exactly_the_facts_that_it_is_declared_to_hear(
    databases: Databases, environment: Mapping[str, str], nats_server: NatsServer, subjects: tuple[str, ...]
) -> None:
    own = {"ACERVO_DATABASE_URL": databases["access"], "ACERVO_NATS_URL": nats_server.url("access")}
    async with Runtime.open(settings_of({**environment, **own}), "access") as access:
        with pytest.raises(ValueError, match="access-facts hears"):
            access.facts(dict.fromkeys(subjects, nothing))


async def test_an_answer_that_names_no_fact_is_set_aside(environment: Mapping[str, str]) -> None:
    async with Runtime.open(settings_of(environment), "ingest") as runtime:
        with pytest.raises(Undecodable):
            await runtime._fact_handled(
                Delivery("acervo.handled.ingest.sync", FactHandled(fact_id="x").SerializeToString())
            )


async def test_a_service_without_jobs_forgets_old_requests_too(
    environment: Mapping[str, str], eventually: Eventually
) -> None:
    async with Runtime.open(settings_of(environment), "ingest") as runtime:
        insert = "INSERT INTO requests VALUES ($1, $2, '', '', now() - make_interval(days => $3))"
        for caller, age in (("old", 8), ("young", 6)):
            await runtime.pool.execute(insert, caller, uuid7(), age)
        runtime.background()

        async def is_forgotten() -> bool:
            return [row["caller"] for row in await runtime.pool.fetch("SELECT caller FROM requests")] == [
                "young"
            ]

        await eventually(is_forgotten)
