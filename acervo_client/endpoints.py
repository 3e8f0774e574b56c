"""Endpoints: registered servers of models."""

from uuid import uuid4

from acervo.access.v1 import endpoints_pb2 as pb
from acervo.access.v1.endpoints_pb2_grpc import EndpointServiceStub
from acervo_client.connection import Connection, typed_errors
from acervo_client.paging import pages


class Endpoints:
    """Servers that speak as OpenAI does, of organizations and of the deployment. Every method raises `AcervoError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stub = EndpointServiceStub(connection.channel("access"))

    async def create(
        self,
        display_name: str,
        base_url: str,
        *,
        organization_id: str = "",
        kind: pb.EndpointKind = pb.ENDPOINT_KIND_UNSPECIFIED,
    ) -> pb.Endpoint:
        """Register a server of an organization; without one, of the deployment."""
        request = pb.CreateEndpointRequest(
            request_id=str(uuid4()),
            organization_id=organization_id,
            display_name=display_name,
            kind=kind,
            base_url=base_url,
        )
        async with typed_errors():
            return (await self._stub.CreateEndpoint(request, **self._connection.call())).endpoint

    async def get(self, endpoint_id: str) -> pb.Endpoint:
        """One endpoint."""
        request = pb.GetEndpointRequest(endpoint_id=endpoint_id)
        async with typed_errors():
            return (await self._stub.GetEndpoint(request, **self._connection.call())).endpoint

    async def update(
        self,
        endpoint_id: str,
        *,
        display_name: str | None = None,
        kind: pb.EndpointKind = pb.ENDPOINT_KIND_UNSPECIFIED,
        base_url: str | None = None,
    ) -> pb.Endpoint:
        """Change an endpoint; what is left out stays."""
        request = pb.UpdateEndpointRequest(
            request_id=str(uuid4()),
            endpoint_id=endpoint_id,
            display_name=display_name,
            kind=kind,
            base_url=base_url,
        )
        async with typed_errors():
            return (await self._stub.UpdateEndpoint(request, **self._connection.call())).endpoint

    async def delete(self, endpoint_id: str) -> None:
        """Delete an endpoint; bases that named it name none from then on."""
        request = pb.DeleteEndpointRequest(request_id=str(uuid4()), endpoint_id=endpoint_id)
        async with typed_errors():
            await self._stub.DeleteEndpoint(request, **self._connection.call())

    async def list(self, organization_id: str = "") -> list[pb.Endpoint]:
        """The deployment's endpoints and those of an organization that the caller sees, oldest first."""
        found = pages(
            lambda request: self._stub.ListEndpoints(request, **self._connection.call()),
            pb.ListEndpointsRequest(organization_id=organization_id),
        )
        return [endpoint async for page in found for endpoint in page.endpoints]
