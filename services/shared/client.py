"""Calls to the other services: one lazy channel each, the right token, deadline and id passed on.

await peers.ingest().CheckUpload(request, **peers.forward("ingest")) await peers.access().Resolve(request,
**peers.own("access"))

A refused call raises `grpc.aio.AioRpcError`; `refusals` makes it the typed error that the peer
raised, which is also what the server's interceptor does with one that nobody catches.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, Protocol, TypedDict
from uuid import uuid4

import grpc
from grpc.aio import AioRpcError

from acervo.access.v1.access_pb2_grpc import AccessServiceStub
from acervo.access.v1.knowledge_bases_pb2_grpc import KnowledgeBaseServiceStub
from acervo.access.v1.organizations_pb2_grpc import OrganizationServiceStub
from acervo.common.v1 import error_reason_pb2 as pb
from acervo.ingest.v1.documents_pb2_grpc import DocumentServiceStub
from acervo.sync.v1.sources_pb2_grpc import SourceServiceStub
from acervo.upload.v1.upload_pb2_grpc import UploadServiceStub
from acervo.vectorstore.v1.collections_pb2_grpc import CollectionServiceStub
from acervo.vectorstore.v1.search_pb2_grpc import SearchServiceStub
from services.shared import auth, telemetry
from services.shared.auth import PrincipalKind, ServiceTokens
from services.shared.errors import AcervoError
from services.shared.rpc_status import from_rpc_error

if TYPE_CHECKING:
    from acervo.access.v1.access_pb2_grpc import AccessServiceAsyncStub
    from acervo.access.v1.knowledge_bases_pb2_grpc import KnowledgeBaseServiceAsyncStub
    from acervo.access.v1.organizations_pb2_grpc import OrganizationServiceAsyncStub
    from acervo.ingest.v1.documents_pb2_grpc import DocumentServiceAsyncStub
    from acervo.sync.v1.sources_pb2_grpc import SourceServiceAsyncStub
    from acervo.upload.v1.upload_pb2_grpc import UploadServiceAsyncStub
    from acervo.vectorstore.v1.collections_pb2_grpc import CollectionServiceAsyncStub
    from acervo.vectorstore.v1.search_pb2_grpc import SearchServiceAsyncStub

__all__ = [
    "CallOptions",
    "Peers",
    "Stubs",
    "call_options",
    "enter",
    "from_rpc_error",
    "open_channel",
    "refusals",
]

AUTHORIZATION_KEY: Final = "authorization"
REQUEST_ID_KEY: Final = "x-request-id"
DEFAULT_TIMEOUT_SECONDS: Final = 30.0
MAX_MESSAGE_BYTES: Final = 4 << 20
MAX_METADATA_BYTES: Final = 16 << 10
MAX_STREAMS: Final = 256

_IDEMPOTENT: Final = {
    "acervo.access.v1.AccessService": ("Resolve", "WhoAmI"),
    "acervo.access.v1.KnowledgeBaseService": ("GetKnowledgeBase", "ListKnowledgeBases"),
    "acervo.access.v1.OrganizationService": ("ListOrganizations", "ListMembers"),
    "acervo.ingest.v1.DocumentService": ("CheckUpload", "CreateDocument", "GetDocument", "ListDocuments"),
    "acervo.sync.v1.SourceService": ("GetSource", "ListSources", "GetRun", "ListRuns"),
    "acervo.vectorstore.v1.CollectionService": ("GetCollectionStats",),
    "acervo.vectorstore.v1.SearchService": ("Search", "ListEmbeddingModels"),
}
_SERVICE_CONFIG: Final = {
    "methodConfig": [
        {
            "name": [
                {"service": service, "method": method}
                for service, methods in _IDEMPOTENT.items()
                for method in methods
            ],
            "retryPolicy": {
                "maxAttempts": 4,
                "initialBackoff": "0.1s",
                "maxBackoff": "1s",
                "backoffMultiplier": 2.5,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ]
}
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_metadata_size", MAX_METADATA_BYTES),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.service_config", json.dumps(_SERVICE_CONFIG)),
)

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class CallOptions(TypedDict):
    """What every call to a peer carries, as the keywords of a stub's method."""

    timeout: float
    metadata: tuple[tuple[str, str], ...]


def enter(remaining_seconds: float | None) -> None:
    """Note how long the caller of this task still waits; None where it set no deadline."""
    _deadline.set(None if remaining_seconds is None else time.monotonic() + remaining_seconds)


@contextmanager
def refusals() -> Iterator[None]:
    """Raise what a peer refuses a call with as the AcervoError that it is."""
    try:
        yield
    except AioRpcError as error:
        raise from_rpc_error(error) from None


def open_channel(address: str) -> grpc.aio.Channel:
    """A channel to host:port that connects with the first call, and again after every loss.

    It shares its connection with no other channel: a connection carries `MAX_STREAMS` calls, and more wait.
    """
    return grpc.aio.insecure_channel(address, options=_OPTIONS)


def call_options(token: str, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> CallOptions:
    """Carry `token`, this task's request id, and `timeout_seconds` or what is left of the caller's deadline.

    Raises AcervoError (DEADLINE_EXCEEDED) where nothing is left.
    """
    deadline = _deadline.get()
    timeout = timeout_seconds if deadline is None else min(timeout_seconds, deadline - time.monotonic())
    if timeout <= 0:
        raise AcervoError(pb.ERROR_REASON_DEADLINE_EXCEEDED)
    request_id = telemetry.request_id.get() or uuid4().hex
    return CallOptions(
        timeout=timeout, metadata=((AUTHORIZATION_KEY, f"Bearer {token}"), (REQUEST_ID_KEY, request_id))
    )


class Addresses(Protocol):
    """Where the services are: host:port each."""

    @property
    def access_address(self) -> str: ...
    @property
    def upload_address(self) -> str: ...
    @property
    def ingest_address(self) -> str: ...
    @property
    def vectorstore_address(self) -> str: ...
    @property
    def sync_address(self) -> str: ...


class Stubs:
    """The services, one channel each, made with its first use, and one for watches.

    Watches last: on a channel of their own they take no other call's place.
    """

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._channels: dict[str, grpc.aio.Channel] = {}

    def access(self) -> "AccessServiceAsyncStub":
        """Who may reach what."""
        return AccessServiceStub(self._channel("access", self._addresses.access_address))

    def knowledge_bases(self) -> "KnowledgeBaseServiceAsyncStub":
        """Knowledge bases, at access."""
        return KnowledgeBaseServiceStub(self._channel("access", self._addresses.access_address))

    def organizations(self) -> "OrganizationServiceAsyncStub":
        """Organizations, at access."""
        return OrganizationServiceStub(self._channel("access", self._addresses.access_address))

    def upload(self) -> "UploadServiceAsyncStub":
        """Bytes in."""
        return UploadServiceStub(self._channel("upload", self._addresses.upload_address))

    def ingest(self) -> "DocumentServiceAsyncStub":
        """Documents."""
        return DocumentServiceStub(self._channel("ingest", self._addresses.ingest_address))

    def watches(self) -> "DocumentServiceAsyncStub":
        """Documents, to be watched."""
        return DocumentServiceStub(self._channel("watches", self._addresses.ingest_address))

    def search(self) -> "SearchServiceAsyncStub":
        """Search, at vectorstore."""
        return SearchServiceStub(self._channel("vectorstore", self._addresses.vectorstore_address))

    def collections(self) -> "CollectionServiceAsyncStub":
        """Counts of what is stored, at vectorstore."""
        return CollectionServiceStub(self._channel("vectorstore", self._addresses.vectorstore_address))

    def sources(self) -> "SourceServiceAsyncStub":
        """Sources and runs, at sync."""
        return SourceServiceStub(self._channel("sync", self._addresses.sync_address))

    async def close(self) -> None:
        """Cancel what is under way and close all channels."""
        for channel in self._channels.values():
            await channel.close()
        self._channels.clear()

    def _channel(self, name: str, address: str) -> grpc.aio.Channel:
        channel = self._channels.get(name)
        if channel is None:
            channel = self._channels[name] = open_channel(address)
        return channel


class Peers(Stubs):
    """The other services, as this one calls them: for whoever calls it, or in its own name."""

    def __init__(self, addresses: Addresses, tokens: ServiceTokens) -> None:
        super().__init__(addresses)
        self._tokens = tokens

    def forward(self, service: str, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> CallOptions:
        """Call on behalf of the person who calls us.

        A service that calls us is not passed on: own token then.
        """
        principal = auth.current()
        if principal.kind is PrincipalKind.SERVICE:
            return self.own(service, timeout_seconds)
        return call_options(principal.token, timeout_seconds)

    def own(self, service: str, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> CallOptions:
        """Call `service` in this service's own name."""
        return call_options(self._tokens.token(service), timeout_seconds)
