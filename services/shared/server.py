"""The gRPC server that every service runs: a table of callers, health, reflection, limits, a drain."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from services.shared.auth import TokenVerifier
from services.shared.client import MAX_MESSAGE_BYTES, MAX_METADATA_BYTES, MAX_STREAMS
from services.shared.interceptors import CallContext, Callers, CallInterceptor
from services.shared.settings import ServiceSettings, naming

__all__ = ["CallContext", "Callers", "Server", "build_server"]

MAX_CONCURRENT_CALLS: Final = 1024
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_metadata_size", MAX_METADATA_BYTES),
    ("grpc.max_concurrent_streams", MAX_STREAMS),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.so_reuseport", 0),
)
# Health's Watch has no row: streams that anybody may hold open for ever are not offered.
_OWN_CALLERS: Final = {
    "/grpc.health.v1.Health/Check": Callers.PUBLIC,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": Callers.PUBLIC,
}

Servicer = tuple[Callable[[Any, Any], None], object]
"""A generated `add_XServicer_to_server` and the servicer to add."""


class Server:
    """A server that listens once started. `address` is host:port, with the port that was really taken."""

    def __init__(self, server: grpc.aio.Server, health: health.aio.HealthServicer, address: str) -> None:
        self._server = server
        self._health = health
        self.address = address

    async def start(self) -> None:
        """Take calls, and report SERVING for every service."""
        await self._server.start()

    async def unready(self) -> None:
        """Report NOT_SERVING from now on, and keep answering calls."""
        await self._health.enter_graceful_shutdown()

    async def stop(self, grace_seconds: float) -> None:
        """Take no more calls, and give running ones so much time before they are cancelled."""
        await self.unready()
        await self._server.stop(grace_seconds)


async def build_server(
    settings: ServiceSettings,
    verifier: TokenVerifier,
    servicers: Sequence[Servicer],
    callers: Mapping[str, Callers],
) -> Server:
    """Make the server of `servicers` and bind `settings.listen`.

    `callers` has one row for each method, keyed by its full name
    (`/acervo.upload.v1.UploadService/UploadDocument`). Raises ValueError where a method has no row or a row
    has no method, Misconfigured where the address is taken.
    """
    methods = _methods(servicers)
    _check_table({f"/{service}/{method}" for service, names in methods.items() for method in names}, callers)
    server = grpc.aio.server(
        interceptors=[CallInterceptor(verifier, {**callers, **_OWN_CALLERS})],
        options=_OPTIONS,
        maximum_concurrent_rpcs=MAX_CONCURRENT_CALLS,
    )
    for add, servicer in servicers:
        add(servicer, server)
    status = health.aio.HealthServicer()
    for service in methods:
        await status.set(service, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(status, server)
    names = (*methods, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflection_pb2_grpc.add_ServerReflectionServicer_to_server(
        reflection.aio.ReflectionServicer(names), server
    )
    return Server(server, status, _bind(server, settings.listen))


def _bind(server: grpc.aio.Server, listen: str) -> str:
    host = listen.rpartition(":")[0]
    with naming("ACERVO_LISTEN", f"{listen} is no host:port to listen on, or it is taken.", RuntimeError):
        port = server.add_insecure_port(listen)
    return f"{host}:{port}"


def _methods(servicers: Iterable[Servicer]) -> Mapping[str, Iterable[str]]:
    recorder = _Recorder()
    for add, servicer in servicers:
        add(servicer, recorder)
    return recorder.methods


class _Recorder:
    """Stands in for a server, to learn which methods a generated `add` function registers."""

    def __init__(self) -> None:
        self.methods: dict[str, list[str]] = {}

    def add_generic_rpc_handlers(self, handlers: object) -> None:
        """Part of what generated code calls; tells no names."""

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, object]) -> None:
        """Part of what generated code calls; tells the names."""
        self.methods[service] = list(handlers)


def _check_table(methods: set[str], callers: Mapping[str, Callers]) -> None:
    if missing := sorted(methods - set(callers)):
        raise ValueError(f"no row in the table of callers: {', '.join(missing)}")
    if unknown := sorted(set(callers) - methods):
        raise ValueError(f"no such method as in the table of callers: {', '.join(unknown)}")
