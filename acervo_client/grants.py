"""Grants on bases, and why somebody reaches one."""

from typing import TypedDict, Unpack
from uuid import uuid4

from acervo.access.v1 import access_pb2
from acervo.access.v1 import grants_pb2 as pb
from acervo.access.v1.grants_pb2_grpc import GrantServiceStub
from acervo_client.connection import Connection, typed_errors
from acervo_client.paging import pages


class Grantee(TypedDict, total=False):
    """Who is granted a base: one of the three."""

    user_id: str
    team_id: str
    agent_id: str


class Grants:
    """The grants on bases that the caller manages. Every method raises `AcervoError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stub = GrantServiceStub(connection.channel("access"))

    async def add(
        self, knowledge_base_id: str, permission: access_pb2.Permission, **grantee: Unpack[Grantee]
    ) -> pb.Grant:
        """Grant a base, or widen what was granted."""
        request = pb.AddGrantRequest(
            request_id=str(uuid4()), knowledge_base_id=knowledge_base_id, permission=permission, **grantee
        )
        async with typed_errors():
            return (await self._stub.AddGrant(request, **self._connection.call())).grant

    async def list(self, knowledge_base_id: str) -> list[pb.Grant]:
        """The grants on a base, oldest first."""
        found = pages(
            lambda request: self._stub.ListGrants(request, **self._connection.call()),
            pb.ListGrantsRequest(knowledge_base_id=knowledge_base_id),
        )
        return [grant async for page in found for grant in page.grants]

    async def revoke(self, grant_id: str) -> None:
        """Take a grant back; effective on the next call of whoever had it."""
        request = pb.RevokeGrantRequest(request_id=str(uuid4()), grant_id=grant_id)
        async with typed_errors():
            await self._stub.RevokeGrant(request, **self._connection.call())

    async def explain(
        self, knowledge_base_id: str, user_id: str, *, agent_id: str = ""
    ) -> pb.ExplainAccessResponse:
        """What a person, or an agent that acts for the person, may do with a base, and why."""
        request = pb.ExplainAccessRequest(
            knowledge_base_id=knowledge_base_id, user_id=user_id, agent_id=agent_id
        )
        async with typed_errors():
            return await self._stub.ExplainAccess(request, **self._connection.call())
