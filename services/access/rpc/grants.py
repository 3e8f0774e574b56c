"""Who else may reach a knowledge base, and why somebody does."""

from collections.abc import Mapping
from typing import Final

from acervo.access.v1 import grants_pb2, grants_pb2_grpc
from services.access import grants
from services.access.callers import Callers
from services.access.messages import decode, encode
from services.access.reach import Caller, CallerKind
from services.shared import server
from services.shared.db import Connection, Pool
from services.shared.fields import read_uuid
from services.shared.idempotency import Call, once
from services.shared.ids import uuid7
from services.shared.server import CallContext

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.GrantService/AddGrant": server.Callers.PEOPLE,
    "/acervo.access.v1.GrantService/ListGrants": server.Callers.PEOPLE,
    "/acervo.access.v1.GrantService/RevokeGrant": server.Callers.PEOPLE,
    "/acervo.access.v1.GrantService/ExplainAccess": server.Callers.PEOPLE,
}


class GrantServicer(grants_pb2_grpc.GrantServiceServicer):
    """Keeps grants, and tells why somebody reaches a base."""

    def __init__(self, pool: Pool, callers: Callers) -> None:
        self._pool = pool
        self._callers = callers

    async def AddGrant(  # noqa: N802
        self, request: grants_pb2.AddGrantRequest, context: CallContext
    ) -> grants_pb2.AddGrantResponse:
        """A base granted."""
        caller = self._callers.current()
        call = Call.of(request)
        wish = decode.grant_wish(request)

        async def work(connection: Connection) -> grants_pb2.AddGrantResponse:
            grant = await grants.add(connection, caller, wish, grant_id=uuid7())
            return grants_pb2.AddGrantResponse(grant=encode.grant(grant))

        return await once(self._pool, call, grants_pb2.AddGrantResponse, work)

    async def ListGrants(  # noqa: N802
        self, request: grants_pb2.ListGrantsRequest, context: CallContext
    ) -> grants_pb2.ListGrantsResponse:
        """The grants on a base, for whoever manages it."""
        caller = self._callers.current()
        base_id, wanted = decode.grants_page(request)
        page = await grants.page(self._pool, caller, base_id, wanted)
        return grants_pb2.ListGrantsResponse(
            grants=map(encode.grant, page.rows), next_page_token=page.next_page_token
        )

    async def RevokeGrant(  # noqa: N802
        self, request: grants_pb2.RevokeGrantRequest, context: CallContext
    ) -> grants_pb2.RevokeGrantResponse:
        """A grant taken back."""
        caller = self._callers.current()
        call = Call.of(request)
        grant_id = read_uuid("grant_id", request.grant_id)

        async def work(connection: Connection) -> grants_pb2.RevokeGrantResponse:
            await grants.revoke(connection, caller, grant_id)
            return grants_pb2.RevokeGrantResponse()

        return await once(self._pool, call, grants_pb2.RevokeGrantResponse, work)

    async def ExplainAccess(  # noqa: N802
        self, request: grants_pb2.ExplainAccessRequest, context: CallContext
    ) -> grants_pb2.ExplainAccessResponse:
        """Why somebody reaches a base, for whoever manages it."""
        caller = self._callers.current()
        base_id, user_id, agent_id = decode.explained(request)
        subject = self._callers.person(user_id)
        if agent_id is not None:
            subject = Caller(CallerKind.AGENT, user_id, agent_id=agent_id)
        return encode.explanation(await grants.explain(self._pool, caller, base_id, subject))
