"""Channels to the services, and what every call carries."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TypedDict
from uuid import uuid4

import grpc

from acervo_client.errors import AcervoError

SERVICES = ("access", "upload", "ingest", "vectorstore", "sync")

Token = str | Callable[[], str]
"""A bearer token, or what answers the one to use now."""

_MAX_MESSAGE_BYTES = 4 << 20
_RETRIED = {
    "acervo.access.v1.AccessService": ("Resolve", "WhoAmI"),
    "acervo.access.v1.AuditService": ("ListAuditEvents",),
    "acervo.access.v1.CollectionService": ("InspectProvenance",),
    "acervo.access.v1.GrantService": ("ListGrants", "ExplainAccess"),
    "acervo.access.v1.KnowledgeBaseService": ("GetKnowledgeBase", "ListKnowledgeBases"),
    "acervo.access.v1.OrganizationService": ("ListOrganizations", "ListMembers"),
    "acervo.access.v1.SecretService": ("GetSecret", "ListSecrets"),
    "acervo.access.v1.TeamService": ("ListTeams", "ListTeamMembers"),
    "acervo.ingest.v1.DocumentService": ("CheckUpload", "GetDocument", "ListDocuments"),
    "acervo.sync.v1.SourceService": ("GetSource", "ListSources", "GetRun", "ListRuns"),
    "acervo.vectorstore.v1.SearchService": ("Search", "ListEmbeddingModels"),
}
"""Calls that change nothing: repeated for some seconds while a service does not answer."""

_OPTIONS = (
    ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
    # Channels of one process else share a connection, and a connection carries 256 calls.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    (
        "grpc.service_config",
        json.dumps(
            {
                "methodConfig": [
                    {
                        "name": [
                            {"service": service, "method": method}
                            for service, methods in _RETRIED.items()
                            for method in methods
                        ],
                        "retryPolicy": {
                            "maxAttempts": 5,
                            "initialBackoff": "0.2s",
                            "maxBackoff": "2s",
                            "backoffMultiplier": 2,
                            "retryableStatusCodes": ["UNAVAILABLE"],
                        },
                    }
                ]
            }
        ),
    ),
)


class Call(TypedDict):
    """What every call carries, as the keywords of a stub's method."""

    timeout: float | None
    metadata: tuple[tuple[str, str], ...]


class Connection:
    """One channel for each service, and one for streams that last, opened with the first call and after every loss."""

    def __init__(
        self,
        addresses: Mapping[str, str],
        token: Token,
        *,
        credentials: grpc.ChannelCredentials | None,
        timeout_seconds: float,
        patience_seconds: float,
    ) -> None:
        self.patience_seconds = patience_seconds
        self._timeout = timeout_seconds
        self._addresses = dict(addresses)
        self._token = token
        self._credentials = credentials
        self._channels: dict[tuple[str, bool], grpc.aio.Channel] = {}

    def channel(self, service: str, *, lasting: bool = False) -> grpc.aio.Channel:
        """The channel to a service; `lasting`: the one for streams that last, which take no other call's place.

        Raises `ValueError` where its address was not given.
        """
        channel = self._channels.get((service, lasting))
        if channel is None:
            channel = self._channels[service, lasting] = self._open(service)
        return channel

    def _open(self, service: str) -> grpc.aio.Channel:
        address = self._addresses.get(service)
        if not address:
            raise ValueError(f"the address of {service} is not known")
        if self._credentials is not None:
            return grpc.aio.secure_channel(address, self._credentials, options=_OPTIONS)
        return grpc.aio.insecure_channel(address, options=_OPTIONS)

    def call(self, timeout_seconds: float | None = None) -> Call:
        """The token, a fresh request id (which finds the call in the services' logs), and a time limit."""
        return Call(timeout=timeout_seconds or self._timeout, metadata=self._metadata())

    def stream(self) -> Call:
        """The same for a call that goes on for as long as it takes."""
        return Call(timeout=None, metadata=self._metadata())

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        token = self._token if isinstance(self._token, str) else self._token()
        if not (token and token.isascii() and token.isprintable()):
            raise AcervoError("TOKEN_INVALID", "The token is empty or holds characters that no token has.")
        return (("authorization", f"Bearer {token}"), ("x-request-id", uuid4().hex))

    async def close(self) -> None:
        """Cancel what is under way and close all channels."""
        for channel in self._channels.values():
            await channel.close()
        self._channels.clear()


@asynccontextmanager
async def typed_errors() -> AsyncIterator[None]:
    """Raise `AcervoError` in place of gRPC's own exception."""
    try:
        yield
    except grpc.aio.AioRpcError as error:
        raise AcervoError.from_rpc(error) from None
