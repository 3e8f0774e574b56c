"""How tests call ingest: as a person, or as upload."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from grpc.aio import AioRpcError

from acervo.access.v1.access_pb2 import PERMISSION_EDIT, PERMISSION_VIEW, Permission
from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from services.shared.client import CallOptions, call_options
from services.shared.errors import AcervoError, reason_name
from services.shared.ids import uuid7
from services.shared.ingestion_config import DEFAULT
from services.shared.ingestion_config_codec import config_to_proto
from services.shared.rpc_status import from_rpc_error
from tests.integration.ingest.access_double import AccessDouble
from tests.signing import Trust

if TYPE_CHECKING:
    from acervo.ingest.v1.documents_pb2_grpc import DocumentServiceAsyncStub


class Calls:
    """A stub of ingest, tokens to call it with, and bases that people may reach."""

    def __init__(self, stub: "DocumentServiceAsyncStub", trust: Trust, access: AccessDouble) -> None:
        self.stub = stub
        self.access = access
        self._trust = trust

    def person(self, name: str = "ana") -> CallOptions:
        return call_options(self._trust.person(name))

    def upload(self) -> CallOptions:
        return call_options(self._trust.service("upload", "ingest"))

    def base(
        self, person: str = "ana", *permissions: Permission, collection: str = "handbook"
    ) -> KnowledgeBase:
        """Make a base that a person may view and edit, unless `permissions` say otherwise."""
        base = KnowledgeBase(
            id=str(uuid7()), collection_name=collection, ingestion_config=config_to_proto(DEFAULT)
        )
        self.access.grant(person, base, *(permissions or (PERMISSION_VIEW, PERMISSION_EDIT)))
        return base

    async def refused(self, call: Awaitable[object]) -> AcervoError:
        """The typed error that a call is refused with."""
        with pytest.raises(AioRpcError) as refusal:
            await call
        return from_rpc_error(refusal.value)

    async def reason(self, call: Awaitable[object]) -> str:
        """The name of the reason that a call is refused with."""
        return reason_name((await self.refused(call)).reason)


def base_id(base: KnowledgeBase) -> UUID:
    return UUID(base.id)
