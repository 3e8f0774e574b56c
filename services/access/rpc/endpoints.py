"""Endpoints."""

from collections.abc import Mapping
from typing import Final

from acervo.access.v1 import endpoints_pb2 as pb
from acervo.access.v1 import endpoints_pb2_grpc
from services.access import endpoints
from services.access.callers import Callers
from services.access.messages import endpoints as messages
from services.access.outward import check_outward
from services.shared import server
from services.shared.db import Connection, Pool
from services.shared.egress import Allowed
from services.shared.fields import read_uuid
from services.shared.idempotency import Call, answered, once
from services.shared.ids import uuid7
from services.shared.server import CallContext

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.EndpointService/CreateEndpoint": server.Callers.PEOPLE,
    "/acervo.access.v1.EndpointService/GetEndpoint": server.Callers.PEOPLE,
    "/acervo.access.v1.EndpointService/ListEndpoints": server.Callers.PEOPLE,
    "/acervo.access.v1.EndpointService/UpdateEndpoint": server.Callers.PEOPLE,
    "/acervo.access.v1.EndpointService/ResolveEndpoint": server.Callers.SERVICES,
    "/acervo.access.v1.EndpointService/DeleteEndpoint": server.Callers.PEOPLE,
}


class EndpointServicer(endpoints_pb2_grpc.EndpointServiceServicer):
    """Keeps the addresses of servers of models.

    What the deployment's admin registers for all is opened by that; what others type is checked, before a transaction
    begins, since asking for a host's addresses may take long.
    """

    def __init__(self, pool: Pool, callers: Callers, allowed: Allowed) -> None:
        self._pool = pool
        self._callers = callers
        self._allowed = allowed

    async def CreateEndpoint(  # noqa: N802
        self, request: pb.CreateEndpointRequest, context: CallContext
    ) -> pb.CreateEndpointResponse:
        """A new endpoint."""
        caller = self._callers.current()
        call = Call.of(request)
        wish = messages.wish(request)
        if (before := await answered(self._pool, call, pb.CreateEndpointResponse)) is not None:
            return before
        await endpoints.check_registrar(self._pool, caller, wish.organization_id)
        if wish.organization_id is not None:
            await check_outward("base_url", wish.base_url, self._allowed)

        async def work(connection: Connection) -> pb.CreateEndpointResponse:
            made = await endpoints.create(connection, caller, wish, endpoint_id=uuid7())
            return pb.CreateEndpointResponse(endpoint=messages.endpoint(made))

        return await once(self._pool, call, pb.CreateEndpointResponse, work)

    async def GetEndpoint(  # noqa: N802
        self, request: pb.GetEndpointRequest, context: CallContext
    ) -> pb.GetEndpointResponse:
        """An endpoint that the caller sees."""
        caller = self._callers.current()
        endpoint_id = read_uuid("endpoint_id", request.endpoint_id)
        found = await endpoints.find(self._pool, caller, endpoint_id)
        return pb.GetEndpointResponse(endpoint=messages.endpoint(found))

    async def ListEndpoints(  # noqa: N802
        self, request: pb.ListEndpointsRequest, context: CallContext
    ) -> pb.ListEndpointsResponse:
        """The endpoints that the caller sees."""
        caller = self._callers.current()
        organization_id, wanted = messages.listing(request)
        page = await endpoints.page(self._pool, caller, organization_id, wanted)
        return pb.ListEndpointsResponse(
            endpoints=map(messages.endpoint, page.rows), next_page_token=page.next_page_token
        )

    async def UpdateEndpoint(  # noqa: N802
        self, request: pb.UpdateEndpointRequest, context: CallContext
    ) -> pb.UpdateEndpointResponse:
        """An endpoint as it is now."""
        caller = self._callers.current()
        call = Call.of(request)
        endpoint_id, change = messages.change(request)
        if (before := await answered(self._pool, call, pb.UpdateEndpointResponse)) is not None:
            return before
        seen = await endpoints.find_editable(self._pool, caller, endpoint_id)
        if change.base_url is not None and seen.organization_id is not None:
            await check_outward("base_url", change.base_url, self._allowed)

        async def work(connection: Connection) -> pb.UpdateEndpointResponse:
            changed = await endpoints.update(connection, caller, endpoint_id, change)
            return pb.UpdateEndpointResponse(endpoint=messages.endpoint(changed))

        return await once(self._pool, call, pb.UpdateEndpointResponse, work)

    async def ResolveEndpoint(  # noqa: N802
        self, request: pb.ResolveEndpointRequest, context: CallContext
    ) -> pb.ResolveEndpointResponse:
        """The endpoint of a base."""
        base_id = read_uuid("knowledge_base_id", request.knowledge_base_id)
        found = await endpoints.find_of_base(self._pool, base_id)
        return pb.ResolveEndpointResponse(endpoint=messages.endpoint(found))

    async def DeleteEndpoint(  # noqa: N802
        self, request: pb.DeleteEndpointRequest, context: CallContext
    ) -> pb.DeleteEndpointResponse:
        """An endpoint gone."""
        caller = self._callers.current()
        call = Call.of(request)
        endpoint_id = read_uuid("endpoint_id", request.endpoint_id)

        async def work(connection: Connection) -> pb.DeleteEndpointResponse:
            await endpoints.delete(connection, caller, endpoint_id)
            return pb.DeleteEndpointResponse()

        return await once(self._pool, call, pb.DeleteEndpointResponse, work)
