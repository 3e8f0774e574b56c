"""The registry of agents."""

from collections.abc import Mapping
from typing import Final

from acervo.access.v1 import agents_pb2, agents_pb2_grpc
from services.access.callers import Callers
from services.access.messages import decode, encode
from services.access.people import agents
from services.shared import server
from services.shared.db import Connection, Pool
from services.shared.fields import read_uuid
from services.shared.idempotency import Call, once
from services.shared.ids import uuid7
from services.shared.server import CallContext

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.AgentService/CreateAgent": server.Callers.PEOPLE,
    "/acervo.access.v1.AgentService/ListAgents": server.Callers.PEOPLE,
    "/acervo.access.v1.AgentService/RenameAgent": server.Callers.PEOPLE,
    "/acervo.access.v1.AgentService/DeleteAgent": server.Callers.PEOPLE,
}


class AgentServicer(agents_pb2_grpc.AgentServiceServicer):
    """Keeps the registry of agents."""

    def __init__(self, pool: Pool, callers: Callers) -> None:
        self._pool = pool
        self._callers = callers

    async def CreateAgent(  # noqa: N802
        self, request: agents_pb2.CreateAgentRequest, context: CallContext
    ) -> agents_pb2.CreateAgentResponse:
        """A new agent."""
        caller = self._callers.current()
        call = Call.of(request)
        organization_id, name = decode.new_agent(request)

        async def work(connection: Connection) -> agents_pb2.CreateAgentResponse:
            agent = await agents.create(connection, caller, organization_id, name, agent_id=uuid7())
            return agents_pb2.CreateAgentResponse(agent=encode.agent(agent))

        return await once(self._pool, call, agents_pb2.CreateAgentResponse, work)

    async def ListAgents(  # noqa: N802
        self, request: agents_pb2.ListAgentsRequest, context: CallContext
    ) -> agents_pb2.ListAgentsResponse:
        """An organization's agents, or the caller's own."""
        caller = self._callers.current()
        organization_id, wanted = decode.agents_page(request)
        page = await agents.page(self._pool, organization_id, caller.person, wanted)
        return agents_pb2.ListAgentsResponse(
            agents=map(encode.agent, page.rows), next_page_token=page.next_page_token
        )

    async def RenameAgent(  # noqa: N802
        self, request: agents_pb2.RenameAgentRequest, context: CallContext
    ) -> agents_pb2.RenameAgentResponse:
        """An agent with another name."""
        caller = self._callers.current()
        call = Call.of(request)
        agent_id, name = decode.agent_name(request)

        async def work(connection: Connection) -> agents_pb2.RenameAgentResponse:
            agent = await agents.rename(connection, caller, agent_id, name)
            return agents_pb2.RenameAgentResponse(agent=encode.agent(agent))

        return await once(self._pool, call, agents_pb2.RenameAgentResponse, work)

    async def DeleteAgent(  # noqa: N802
        self, request: agents_pb2.DeleteAgentRequest, context: CallContext
    ) -> agents_pb2.DeleteAgentResponse:
        """An agent gone, with what was granted to it."""
        caller = self._callers.current()
        call = Call.of(request)
        agent_id = read_uuid("agent_id", request.agent_id)

        async def work(connection: Connection) -> agents_pb2.DeleteAgentResponse:
            await agents.delete(connection, caller, agent_id)
            return agents_pb2.DeleteAgentResponse()

        return await once(self._pool, call, agents_pb2.DeleteAgentResponse, work)
