"""The composition root of the gateway."""

import asyncio
import contextlib
import functools
import logging
import resource
import signal
import socket
from collections.abc import Iterator

import uvicorn

from services.gateway.connections import MAX_WAITING, Connection, Lobby
from services.gateway.door import MAX_REQUESTS, Door
from services.gateway.routes import application
from services.gateway.settings import GatewaySettings
from services.shared import telemetry
from services.shared.auth import IssuerKind, TokenVerifier, load_issuers
from services.shared.client import Stubs
from services.shared.settings import naming

SERVICE = "gateway"

log = logging.getLogger(__name__)


class Server(uvicorn.Server):
    """uvicorn, with the signals left to `Gateway`."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield


class Gateway:
    """The HTTP server. `address` is host:port, with the port that was really taken."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings
        self._stubs = Stubs(settings)
        self._draining = asyncio.Event()
        host, _, port = settings.listen.rpartition(":")
        with naming(
            "ACERVO_LISTEN", f"{settings.listen} is no host:port to listen on, or it is taken.", OSError
        ):
            self._socket = socket.create_server((host, int(port)))
        self.address = f"{host}:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(
            Door(application(settings, self._stubs, self._draining), _verifier(settings)),
            log_config=None,
            log_level=logging.WARNING,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            http=functools.partial(Connection, lobby=Lobby()),  # type: ignore[arg-type]  # any factory will do
            ws="none",
            backlog=128,
            timeout_graceful_shutdown=max(1, round(settings.drain_seconds)),
        )
        self._server = Server(config)

    def stop(self) -> None:
        """Turn unready; `run` ends once running requests are answered."""
        self._draining.set()

    async def run(self) -> None:
        """Serve until stopped."""
        serving = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        drained = asyncio.create_task(self._draining.wait())
        try:
            await asyncio.wait((serving, drained), return_when=asyncio.FIRST_COMPLETED)
            if not serving.done():
                await asyncio.sleep(self._settings.unready_seconds)
            self._server.should_exit = True
            await serving
        finally:
            drained.cancel()
            await self._stubs.close()


async def main() -> None:
    """Run the gateway until the process is asked to end."""
    settings = GatewaySettings.model_validate({})
    telemetry.configure(SERVICE, settings.log_level)
    _allow_files(2 * (MAX_REQUESTS + MAX_WAITING))
    gateway = Gateway(settings)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, gateway.stop)
    log.info("serving", extra={"address": gateway.address})
    await gateway.run()


def _verifier(settings: GatewaySettings) -> TokenVerifier:
    """Judges people and their agents: no service calls the gateway."""
    issuers = [one for one in load_issuers(settings.issuers) if one.kind is IssuerKind.USERS]
    return TokenVerifier(issuers, SERVICE)


def _allow_files(number: int) -> None:
    """Let this process open so many files, as far as it may: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < number:
        most = number if hard == resource.RLIM_INFINITY else min(number, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
