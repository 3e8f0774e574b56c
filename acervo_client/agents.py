"""Agents of organizations, and of the caller's own."""

from uuid import uuid4

from acervo.access.v1 import agents_pb2 as pb
from acervo.access.v1.agents_pb2_grpc import AgentServiceStub
from acervo_client.connection import Connection, typed_errors
from acervo_client.paging import pages


class Agents:
    """Agents that can be granted bases. An empty organization stands for the caller. Every method raises
    `AcervoError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stub = AgentServiceStub(connection.channel("access"))

    async def create(self, display_name: str, organization_id: str = "") -> pb.Agent:
        """Register an agent."""
        request = pb.CreateAgentRequest(
            request_id=str(uuid4()), organization_id=organization_id, display_name=display_name
        )
        async with typed_errors():
            return (await self._stub.CreateAgent(request, **self._connection.call())).agent

    async def rename(self, agent_id: str, display_name: str) -> pb.Agent:
        """Call an agent otherwise."""
        request = pb.RenameAgentRequest(request_id=str(uuid4()), agent_id=agent_id, display_name=display_name)
        async with typed_errors():
            return (await self._stub.RenameAgent(request, **self._connection.call())).agent

    async def delete(self, agent_id: str) -> None:
        """End an agent with all that was granted to it; effective on its next call."""
        request = pb.DeleteAgentRequest(request_id=str(uuid4()), agent_id=agent_id)
        async with typed_errors():
            await self._stub.DeleteAgent(request, **self._connection.call())

    async def list(self, organization_id: str = "") -> list[pb.Agent]:
        """Agents, oldest first."""
        found = pages(
            lambda request: self._stub.ListAgents(request, **self._connection.call()),
            pb.ListAgentsRequest(organization_id=organization_id),
        )
        return [agent async for page in found for agent in page.agents]
