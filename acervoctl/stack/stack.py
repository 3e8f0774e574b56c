"""A whole Acervo on one machine: PostgreSQL, NATS and all services as supervised child processes."""

import asyncio
import contextlib
import json
import logging
import os
import signal
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from acervo_client import local
from acervoctl.stack import issuer, services, vault
from acervoctl.stack.credentials import Credentials
from acervoctl.stack.home import Home, write_private
from acervoctl.stack.keeper import LOOK_SECONDS, Keeper
from acervoctl.stack.nats import Nats
from acervoctl.stack.ports import LOOPBACK, free_port
from acervoctl.stack.postgres import DATABASE, Postgres
from acervoctl.stack.program import Program
from services.shared.bootstrap import bootstrap
from services.shared.migrate import migrate_all

log = logging.getLogger(__name__)

_TOKEN_CHECK_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Options:
    """How a stack differs from the usual one.

    `services`: which are started. `environment`: variables of every service; `overrides`: of single ones.
    `ports`: of single services or `nats`; others are free ones. `start_seconds`: how long anything may take
    to become ready. `stop_seconds`: how long a service may drain before it is killed. `local_roots`:
    directories that a sync may read. `durable`: whether the stores wait for the disk; tests, which kill
    processes and not machines, need not. `look_seconds`: how often running processes are looked at; one that
    is silent six times in a row hangs, and is started again.
    """

    services: tuple[str, ...] = services.ALL
    environment: Mapping[str, str] = field(default_factory=dict)
    overrides: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    ports: Mapping[str, int] = field(default_factory=dict)
    start_seconds: float = 120
    stop_seconds: float = 30
    local_roots: tuple[str, ...] = ("/",)
    durable: bool = True
    look_seconds: float = LOOK_SECONDS


class Stack:
    """Runs while its `async with` block does; everything it started is gone afterwards.

    Entering brings PostgreSQL up, migrates it, brings NATS up and starts the services, which `wait_ready`
    waits for. Raises `StackError`. Processes are named `postgres`, `nats` and as the services are. Needs to
    be entered on a thread that lives as long as the stack: on Linux, children die with it.
    """

    def __init__(self, home: Path | None = None, options: Options | None = None) -> None:
        self.home = Home.at(home if home is not None else local.default_home(os.environ))
        self.options = options if options is not None else Options()
        self.addresses: dict[str, str] = {}
        """Service -> host:port, the gateway's included."""
        self._held = contextlib.ExitStack()
        self._keepers: dict[str, Keeper] = {}
        self._tokens: asyncio.Task[None] | None = None

    @property
    def database_urls(self) -> dict[str, str]:
        """Service -> the address of the database for its role."""
        return {service: self._postgres.url(service) for service in services.GRPC_SERVICES}

    @property
    def admin_database_url(self) -> str:
        """The address of the database for the superuser."""
        return self._postgres.admin_url

    @property
    def nats_urls(self) -> dict[str, str]:
        """Service -> the address of NATS for its user."""
        return {service: self._nats.url(service) for service in services.GRPC_SERVICES}

    @property
    def gateway_url(self) -> str:
        """Where the gateway answers HTTP; empty where it is not run."""
        address = self.addresses.get(services.GATEWAY)
        return f"http://{address}" if address else ""

    @property
    def processes(self) -> tuple[str, ...]:
        """The names of all supervised processes, in the order of their start."""
        return tuple(self._keepers)

    def token(self, subject: str = local.ADMIN) -> str:
        """A token of a local person; the default is the deployment's admin."""
        return local.person_token(self.home.root, subject)

    def pid(self, name: str) -> int | None:
        """The pid of a process, or None while it is down."""
        return self._keepers[name].pid

    def restarts(self, name: str) -> int:
        """How often a process was started again because it died."""
        return self._keepers[name].restarts

    async def wait_ready(self) -> None:
        """Wait until all processes do their jobs. Raises `StartFailed` with the end of a log."""
        await asyncio.gather(*(self._wait(keeper) for keeper in self._keepers.values()))
        described = local.Description(os.getpid(), dict(self.addresses), self.gateway_url)
        write_private(self.home.description, json.dumps(asdict(described), indent=2) + "\n")

    async def restarted(self, name: str, *, after: int) -> int:
        """Wait until a process other than the one of pid `after` does the job; return its pid."""
        return await self._keepers[name].wait_ready(self.options.start_seconds, other_than=after)

    def kill(self, name: str, number: signal.Signals = signal.SIGKILL) -> int:
        """Send a signal to a process, as somebody from outside would, and return its pid.

        Raises `ProcessLookupError` while it is down.
        """
        pid = self.pid(name)
        if pid is None:
            raise ProcessLookupError(name)
        os.kill(pid, number)
        return pid

    @contextlib.asynccontextmanager
    async def down(self, name: str, number: signal.Signals = signal.SIGKILL) -> AsyncIterator[None]:
        """Keep a process down for the length of a block, ended by `number`; wait for it afterwards."""
        keeper = self._keepers[name]
        await keeper.stop(number)
        try:
            yield
        finally:
            keeper.start()
            await self._wait(keeper)

    async def __aenter__(self) -> Self:
        self.home.create()
        self._held.enter_context(self.home.locked())
        try:
            self.home.description.unlink(missing_ok=True)
            await self._start()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()

    async def _start(self) -> None:
        ports = self._choose_ports()
        credentials = Credentials.load_or_create(self.home.keys / "credentials.json")
        self._postgres = Postgres(self.home, credentials, self.options.durable)
        self._nats = Nats(self.home, credentials, ports.pop("nats"), self.options.durable)
        self.addresses = {service: f"{LOOPBACK}:{port}" for service, port in ports.items()}
        trusted = issuer.publish(self.home)
        vault.ensure_key(self.home)
        self._write_tokens()
        self._tokens = asyncio.create_task(self._refresh_tokens())
        self._nats.prepare()
        self._keep(self._nats.program())
        await asyncio.to_thread(self._postgres.prepare)
        self._held.callback(self._postgres.clean_up)
        await self._wait(self._keep(self._postgres.program()))
        await bootstrap(self._postgres.maintenance_url, credentials.roles, database=DATABASE)
        await migrate_all(self.database_urls)
        await self._wait(self._keepers["nats"])
        self._start_services(trusted)

    def _choose_ports(self) -> dict[str, int]:
        taken = set(self.options.ports.values())
        names = ("nats", *self.options.services)
        return {name: self.options.ports.get(name) or free_port(taken) for name in names}

    def _start_services(self, trusted: Path) -> None:
        around = services.Surroundings(
            addresses=self.addresses,
            issuers=trusted,
            tokens=self.home.tokens,
            blobs=self.home.blobs,
            admins=(f"{local.PEOPLE}#{local.ADMIN}",),
            local_roots=self.options.local_roots,
            vault_keys=self.home.vault_keys,
        )
        for service in self.options.services:
            stateful = service in services.GRPC_SERVICES
            variables = services.environment(
                service,
                around,
                os.environ,
                database_url=self._postgres.url(service) if stateful else "",
                nats_url=self._nats.url(service) if stateful else "",
            )
            variables |= {**self.options.environment, **self.options.overrides.get(service, {})}
            self._keep(
                services.program(
                    service,
                    variables,
                    address=self.addresses[service],
                    log=self.home.log(service),
                    stop_seconds=self.options.stop_seconds,
                )
            )

    def _keep(self, program: Program) -> Keeper:
        keeper = self._keepers[program.name] = Keeper(program, look_seconds=self.options.look_seconds)
        keeper.start()
        return keeper

    async def _wait(self, keeper: Keeper) -> None:
        await keeper.wait_ready(self.options.start_seconds)

    def _write_tokens(self) -> None:
        issuer.write_service_tokens(self.home, services.ALL, services.GRPC_SERVICES)

    async def _refresh_tokens(self) -> None:
        """Renew the services' tokens at a third of their life, by the wall clock: machines sleep."""
        written = time.time()
        while True:
            await asyncio.sleep(_TOKEN_CHECK_SECONDS)
            if not 0 <= time.time() - written < issuer.SERVICE_TOKEN_SECONDS / 3:
                self._write_tokens()
                written = time.time()

    async def _stop(self) -> None:
        if self._tokens is not None:
            self._tokens.cancel()
        for wave in services.STOP_WAVES:
            keepers = [self._keepers[name] for name in wave if name in self._keepers]
            await asyncio.gather(*(keeper.stop() for keeper in keepers))
        self.home.description.unlink(missing_ok=True)
        self._held.close()
