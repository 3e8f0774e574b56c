"""The stores of a local stack: PostgreSQL and NATS, killed, stopped, side by side."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg
import nats
import psutil
import pytest
import pytest_asyncio
from nats.js.api import StreamConfig

from acervoctl.stack.errors import HomeBusy
from acervoctl.stack.home import temporary_home
from acervoctl.stack.program import Health
from acervoctl.stack.services import probe
from acervoctl.stack.stack import Options, Stack
from services.shared import bus

STORES = Options(services=(), durable=False)


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def home() -> Iterator[Path]:
    with temporary_home() as path:
        yield path


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack() -> AsyncIterator[Stack]:
    """A stack that the tests of this file share: each leaves it running."""
    with temporary_home() as path:
        async with Stack(path, STORES) as running:
            await running.wait_ready()
            yield running


async def execute(url: str, statement: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


async def test_postgres_that_is_killed_comes_back_with_what_it_had_confirmed(stack: Stack) -> None:
    url = stack.admin_database_url
    await execute(url, "CREATE TABLE kept AS SELECT 42 AS answer")
    await stack.restarted("postgres", after=stack.kill("postgres"))
    assert await execute(url, "SELECT answer FROM kept") == 42


@pytest.mark.parametrize("name", ["postgres", "nats"])
async def test_a_process_that_hangs_is_found_and_started_again(home: Path, name: str) -> None:
    async with Stack(home, replace(STORES, look_seconds=0.1)) as stack:
        await stack.wait_ready()
        await stack.restarted(name, after=stack.kill(name, signal.SIGSTOP))
        assert stack.restarts(name) == 1
        assert await execute(stack.admin_database_url, "SELECT 1") == 1


async def test_a_service_that_hangs_does_not_answer_and_one_without_its_database_does(home: Path) -> None:
    async with Stack(home, Options(services=("access", "gateway"), durable=False)) as stack:
        await stack.wait_ready()
        looks = {service: probe(service, address) for service, address in stack.addresses.items()}
        assert [await look() for look in looks.values()] == [Health.READY] * 2
        async with stack.down("postgres"):
            assert await looks["access"]() is not Health.SILENT
        for service, look in looks.items():
            stack.kill(service, signal.SIGSTOP)
            assert await look() is Health.SILENT
            stack.kill(service, signal.SIGCONT)


async def test_a_stale_pid_file_whose_pid_is_another_programs_by_now_keeps_nothing_from_starting(
    home: Path,
) -> None:
    async with Stack(home, STORES) as first:
        pid_file = first.home.postgres / "data" / "postmaster.pid"
        _, *rest = pid_file.read_text().splitlines()
    pid_file.write_text("\n".join([str(os.getppid()), *rest]) + "\n")
    async with Stack(home, STORES) as second:
        assert await execute(second.admin_database_url, "SELECT 1") == 1


async def test_a_home_whose_path_is_too_long_for_a_socket_works_and_leaves_nothing_elsewhere(
    home: Path,
) -> None:
    home.chmod(0o711)
    async with Stack(home / ("long" * 30), STORES) as stack:
        assert await execute(stack.admin_database_url, "SELECT 1") == 1
        sockets = Path(parse_qs(urlsplit(stack.admin_database_url).query)["host"][0])
        assert sockets.is_dir()
    assert not sockets.exists()


async def test_nats_that_is_killed_keeps_its_streams_and_one_that_is_wiped_is_empty(stack: Stack) -> None:
    await stack.restarted("nats", after=stack.kill("nats"))
    config = StreamConfig(name=bus.Stream.FACTS, subjects=["acervo.base.*"])

    async def on_broker(wanted: str) -> object:
        client = await nats.connect(
            stack.nats_urls["ingest"], inbox_prefix=bus.inbox_prefix("ingest").encode()
        )
        try:
            streams = client.jetstream()
            if wanted == "make":
                return await streams.add_stream(config)
            return (await streams.account_info()).streams
        finally:
            await client.close()

    await on_broker("make")
    await stack.restarted("nats", after=stack.kill("nats"))
    assert await on_broker("count") == 1
    async with stack.down("nats"):
        shutil.rmtree(stack.home.nats / "store")
    assert await on_broker("count") == 0


async def test_two_stacks_run_side_by_side_and_share_nothing(stack: Stack) -> None:
    with temporary_home() as other_home:
        async with Stack(other_home, STORES) as other:
            await other.wait_ready()
            assert set(stack.nats_urls.values()).isdisjoint(other.nats_urls.values())
            await execute(stack.admin_database_url, "CREATE TABLE mine ()")
            assert await execute(other.admin_database_url, "SELECT to_regclass('mine')") is None
            with pytest.raises(nats.errors.Error):
                swapped = stack.nats_urls["ingest"].rpartition("@")[0]
                address = other.nats_urls["ingest"].rpartition("@")[2]
                await nats.connect(f"{swapped}@{address}", allow_reconnect=False, connect_timeout=5)


async def test_a_second_stack_in_the_same_home_says_which_pid_runs(stack: Stack) -> None:
    with pytest.raises(HomeBusy, match=f"pid {os.getpid()}"):
        async with Stack(stack.home.root, STORES):
            pass
    assert await execute(stack.admin_database_url, "SELECT 1") == 1


async def test_nobody_without_a_password_gets_in(stack: Stack) -> None:
    url = stack.admin_database_url.replace(f":{_password(stack.admin_database_url)}@", ":wrong@")
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(url)


def _password(url: str) -> str:
    return url.partition("://")[2].partition("@")[0].partition(":")[2]


async def test_a_service_may_not_read_the_tables_of_another(stack: Stack) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await execute(stack.database_urls["upload"], "SELECT count(*) FROM ingest.jobs")
    assert await execute(stack.database_urls["ingest"], "SELECT count(*) FROM jobs") == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a child to its parent's life")
async def test_a_supervisor_that_is_killed_leaves_nothing_running_and_a_home_that_starts_again(
    home: Path, eventually: Callable[..., Awaitable[None]]
) -> None:
    code = (
        "import asyncio, pathlib, sys\n"
        "from acervoctl.stack.stack import Options, Stack\n"
        "async def main():\n"
        "    async with Stack(pathlib.Path(sys.argv[1]), Options(services=(), durable=False)) as stack:\n"
        "        print(*[stack.pid(name) for name in stack.processes], flush=True)\n"
        "        await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )

    def run_and_kill() -> list[int]:
        command = (sys.executable, "-c", code, str(home))
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as supervisor:
            assert supervisor.stdout is not None
            children = [int(pid) for pid in supervisor.stdout.readline().split()]
            supervisor.send_signal(signal.SIGKILL)
            return children

    children = await asyncio.to_thread(run_and_kill)
    async with Stack(home, STORES) as again:
        await again.wait_ready()
    assert len(children) == 2

    async def gone() -> bool:
        return not any(psutil.pid_exists(pid) for pid in children)

    await eventually(gone)
