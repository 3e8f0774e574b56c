"""What tests stand on: real servers, started once for all tests, and a fresh database for each."""

import asyncio
import contextlib
import os
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from acervoctl.stack.credentials import Credentials
from acervoctl.stack.home import Home, temporary_home
from acervoctl.stack.nats import Nats
from acervoctl.stack.ports import free_port
from acervoctl.stack.postgres import Postgres
from acervoctl.stack.program import Health, Program
from services.shared.blobs import BlobStore
from services.shared.bootstrap import SERVICES, bootstrap
from services.shared.migrate import migrate_all
from tests.recycling import Recycling

_TEMPLATE = "template_acervo"
_START_SECONDS = 30


@dataclass(frozen=True)
class PostgresServer:
    """A running server whose template database holds every schema, empty."""

    postgres: Postgres

    def url(self, service: str, database: str) -> str:
        return self.postgres.url(service).replace("@/acervo?", f"@/{database}?")

    @property
    def maintenance_url(self) -> str:
        return self.postgres.maintenance_url


@dataclass(frozen=True)
class Databases:
    """One fresh database: an address for each service, and one for the superuser."""

    urls: dict[str, str]
    admin_url: str

    def __getitem__(self, service: str) -> str:
        return self.urls[service]


def _start(program: Program, *extra: str) -> "subprocess.Popen[bytes]":
    user = program.user
    process = subprocess.Popen(
        (*program.argv, *extra),
        env=dict(program.environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        user=user,
        group=user,
        extra_groups=[] if user else None,
    )
    deadline = time.monotonic() + _START_SECONDS
    while not asyncio.run(_is_ready(program)):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise RuntimeError(f"{program.name} did not start")
        time.sleep(0.02)
    return process


async def _is_ready(program: Program) -> bool:
    return await program.probe() is Health.READY


def _stop(process: "subprocess.Popen[bytes]", program: Program) -> None:
    process.send_signal(program.stop_signal)
    process.wait(timeout=_START_SECONDS)


@pytest.fixture(scope="session")
def home() -> Iterator[Home]:
    with temporary_home() as path:
        home = Home.at(path)
        home.create()
        yield home


@pytest.fixture(scope="session")
def postgres_server(home: Home) -> Iterator[PostgresServer]:
    credentials = Credentials.load_or_create(home.keys / "credentials.json")
    postgres = Postgres(home, credentials)
    postgres.prepare()
    program = postgres.program()
    process = _start(program, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
    server = PostgresServer(postgres)
    asyncio.run(bootstrap(server.maintenance_url, credentials.roles, database=_TEMPLATE))
    asyncio.run(migrate_all({service: server.url(service, _TEMPLATE) for service in SERVICES}))
    yield server
    _stop(process, program)


@pytest.fixture(scope="session")
def recycling(postgres_server: PostgresServer) -> Recycling:
    return Recycling(postgres_server.maintenance_url, _TEMPLATE)


@contextlib.asynccontextmanager
async def fresh_databases(postgres_server: PostgresServer, recycling: Recycling) -> AsyncIterator[Databases]:
    """An empty database with every schema, for a test or a module of tests."""
    name = await recycling.take()
    urls = {service: postgres_server.url(service, name) for service in SERVICES}
    yield Databases(urls, recycling.address(name))
    await recycling.give_back(name)


@pytest.fixture
async def databases(postgres_server: PostgresServer, recycling: Recycling) -> AsyncIterator[Databases]:
    async with fresh_databases(postgres_server, recycling) as databases:
        yield databases


class NatsServer:
    """A running broker of one test's own, which may be killed, wiped and started again."""

    def __init__(self, nats: Nats) -> None:
        self._nats = nats
        self._program = nats.program()
        self._process = _start_threaded(self._program)

    def url(self, service: str) -> str:
        return self._nats.url(service)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def start(self) -> None:
        self._process = _start_threaded(self._program)

    def wipe(self) -> None:
        """Kill the broker, remove all that it stored, and start it again."""
        self.kill()
        subprocess.run(("rm", "-rf", str(self._nats.home.nats / "store")), check=True)
        self.start()


def _start_threaded(program: Program) -> "subprocess.Popen[bytes]":
    """Start a program from within a running event loop."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(_start, program).result()


@contextlib.contextmanager
def fresh_nats() -> Iterator[NatsServer]:
    """An empty broker, for a test or a module of tests."""
    with temporary_home("acervo-nats-") as path:
        home = Home.at(path)
        home.create()
        nats = Nats(home, Credentials.load_or_create(home.keys / "credentials.json"), free_port(set()))
        nats.prepare()
        server = NatsServer(nats)
        yield server
        server.kill()


@pytest.fixture
def nats_server() -> Iterator[NatsServer]:
    with fresh_nats() as server:
        yield server


@pytest.fixture
async def blob_url(tmp_path: Path) -> str:
    """Empty blob storage that every service has claimed."""
    url = f"file://{tmp_path}/blobs"
    for service in SERVICES:
        await BlobStore.open(url).mark(service)
    return url


Condition = Callable[[], Awaitable[object]]


@pytest.fixture
def eventually() -> Callable[..., Awaitable[None]]:
    """Wait until a condition holds: `await eventually(condition)`, failing after `seconds`."""

    async def wait(condition: Condition, seconds: float = 20) -> None:
        deadline = time.monotonic() + seconds
        while not await condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"{condition} did not come true within {seconds} s")
            await asyncio.sleep(0.02)

    return wait


@pytest.fixture(scope="session")
def shared_corpus() -> Path:
    """The public corpus beside the clone; tests that want it are skipped, saying so, where it is not there."""
    path = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "dev"
    if not path.is_dir():
        pytest.skip(f"no corpus at {os.path.relpath(path)}")
    return path
