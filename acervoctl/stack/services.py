"""The services of a local stack: how each is run, what it is told, and when it is ready."""

import asyncio
import http.client
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from acervoctl.stack.program import Health, Probe, Program

GRPC_SERVICES = ("access", "upload", "ingest", "vectorstore", "sync")
GATEWAY = "gateway"
ALL = (*GRPC_SERVICES, GATEWAY)

STOP_WAVES: tuple[tuple[str, ...], ...] = (
    (GATEWAY,),
    ("sync", "upload"),
    ("ingest",),
    ("vectorstore",),
    ("access",),
    ("nats",),
    ("postgres",),
)
"""Who is stopped together, first to last: whoever calls goes before what it calls."""

FAST_DEADLINES: Mapping[str, str] = {
    "ACERVO_LEASE_SECONDS": "6",
    "ACERVO_HEARTBEAT_SECONDS": "2",
    "ACERVO_LEADER_SECONDS": "2",
    "ACERVO_EMIT_DEADLINE_SECONDS": "5",
    "ACERVO_RECONCILE_SECONDS": "0.5",
    "ACERVO_PENDING_BLOB_SECONDS": "20",
    "ACERVO_DRAIN_SECONDS": "5",
}
"""Settings under which a stack notices a death within seconds: for tests that kill."""

_PROBE_SECONDS = 2.0
_SILENCE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
_CLIENT_VARIABLES = ("ACERVO_TOKEN", "ACERVO_HOME", "ACERVO_USER")
_CHANNEL_OPTIONS = (("grpc.use_local_subchannel_pool", 1),)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all services of a stack share. `addresses` is service -> host:port, the gateway's included."""

    addresses: Mapping[str, str]
    issuers: Path
    tokens: Path
    blobs: Path
    admins: tuple[str, ...]
    local_roots: tuple[str, ...]
    vault_keys: Path


def environment(
    service: str,
    around: Surroundings,
    inherited: Mapping[str, str],
    *,
    database_url: str = "",
    nats_url: str = "",
) -> dict[str, str]:
    """What the process of a service finds in its environment, on top of what the supervisor was given."""
    own = {
        "ACERVO_LISTEN": around.addresses[service],
        "ACERVO_ISSUERS": str(around.issuers),
        "ACERVO_SERVICE_TOKENS": str(around.tokens / service),
        "ACERVO_DATABASE_URL": database_url,
        "ACERVO_NATS_URL": nats_url,
        "ACERVO_BLOB_URL": around.blobs.as_uri(),
    }
    for peer in GRPC_SERVICES:
        if peer in around.addresses:
            own[f"ACERVO_{peer.upper()}_ADDRESS"] = around.addresses[peer]
    if service == "access":
        own["ACERVO_ADMINS"] = ",".join(around.admins)
        own["ACERVO_VAULT_KEYS_FILE"] = str(around.vault_keys)
    if service == "sync":
        own["ACERVO_SYNC_ROOTS"] = os.pathsep.join(around.local_roots)
    kept = {
        name: value
        for name, value in inherited.items()
        if name not in _CLIENT_VARIABLES and not name.startswith("ACERVO_ADDRESS_")
    }
    return {**kept, **own}


def program(
    service: str, variables: Mapping[str, str], *, address: str, log: Path, stop_seconds: float
) -> Program:
    """What the supervisor runs for a service."""
    return Program(
        name=service,
        argv=(sys.executable, "-m", f"services.{service}"),
        environment=variables,
        log=log,
        probe=probe(service, address),
        stop_seconds=stop_seconds,
    )


def probe(service: str, address: str) -> Probe:
    """How a service at host:port is looked at: by its health service, the gateway by its page."""
    return _http_probe(address) if service == GATEWAY else _grpc_probe(address)


def _grpc_probe(address: str) -> Probe:
    async def look() -> Health:
        if not await _listens(address):
            return Health.SILENT
        async with grpc.aio.insecure_channel(address, options=_CHANNEL_OPTIONS) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            try:
                answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=_PROBE_SECONDS)
            except grpc.aio.AioRpcError as error:
                return Health.SILENT if error.code() in _SILENCE else Health.UNREADY
            serving = answer.status == health_pb2.HealthCheckResponse.SERVING
            return Health.READY if serving else Health.UNREADY

    return look


def _http_probe(address: str) -> Probe:
    url = f"http://{address}/healthz"

    def get() -> Health:
        try:
            with urllib.request.urlopen(url, timeout=_PROBE_SECONDS) as answer:
                return Health.READY if answer.status == 200 else Health.UNREADY
        except urllib.error.HTTPError:
            return Health.UNREADY
        except (OSError, http.client.HTTPException):
            return Health.SILENT

    async def look() -> Health:
        return await asyncio.to_thread(get) if await _listens(address) else Health.SILENT

    return look


async def _listens(address: str) -> bool:
    """Whether anybody accepts connections there: cheaper than a channel that has to back off."""
    host, _, port = address.rpartition(":")
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            _, writer = await asyncio.open_connection(host, int(port))
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
