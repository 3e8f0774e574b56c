"""Embedded NATS with JetStream: its configuration and its process. It listens on loopback alone."""

import asyncio
import json
import os
from dataclasses import dataclass

from acervoctl.stack.credentials import Credentials
from acervoctl.stack.home import Home, write_private
from acervoctl.stack.ports import LOOPBACK
from acervoctl.stack.program import Health, Program
from acervoctl.stack.tools import find_tool
from services.shared import bus

_STORE_BYTES = 2 << 30
_READY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Nats:
    """The NATS server of one home. `durable`: whether what it acknowledged survives a power cut."""

    home: Home
    credentials: Credentials
    port: int
    durable: bool = True

    def url(self, service: str) -> str:
        """The address of the server for a service's user."""
        return f"nats://{service}:{self.credentials.bus[service]}@{LOOPBACK}:{self.port}"

    def prepare(self) -> None:
        """Write the configuration, which holds passwords, for the server's own eyes."""
        write_private(self.home.nats / "nats.conf", json.dumps(self._configuration(), indent=2))

    def _configuration(self) -> dict[str, object]:
        return {
            "host": LOOPBACK,
            "port": self.port,
            "server_name": "acervo",
            "jetstream": {
                "store_dir": str(self.home.nats / "store"),
                "max_file_store": _STORE_BYTES,
                # One node: what was acknowledged must be on disk.
                "sync_interval": "always" if self.durable else "10s",
            },
            "authorization": {"users": [self._user(service) for service in self.credentials.bus]},
        }

    def _user(self, service: str) -> dict[str, object]:
        allowed = bus.permissions(service)
        return {
            "user": service,
            "password": self.credentials.bus[service],
            "permissions": {"publish": list(allowed.publish), "subscribe": list(allowed.subscribe)},
        }

    def program(self) -> Program:
        """What the supervisor runs."""
        return Program(
            name="nats",
            argv=(find_tool("nats-server"), "--config", str(self.home.nats / "nats.conf")),
            environment={"PATH": os.environ.get("PATH", os.defpath)},
            log=self.home.log("nats"),
            probe=self._probe,
        )

    async def _probe(self) -> Health:
        """A server that is ready greets, and says that JetStream is on."""
        try:
            async with asyncio.timeout(_READY_SECONDS):
                reader, writer = await asyncio.open_connection(LOOPBACK, self.port)
                try:
                    greeting = await reader.readline()
                finally:
                    writer.close()
        except (OSError, TimeoutError):
            return Health.SILENT
        verb, _, info = greeting.partition(b" ")
        ready = verb == b"INFO" and json.loads(info).get("jetstream") is True
        return Health.READY if ready else Health.UNREADY
