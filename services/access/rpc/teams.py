"""The teams of organizations."""

from collections.abc import Mapping
from typing import Final

from acervo.access.v1 import teams_pb2, teams_pb2_grpc
from services.access.callers import Callers
from services.access.messages import decode, encode
from services.access.people import teams
from services.shared import server
from services.shared.db import Connection, Pool
from services.shared.fields import read_uuid
from services.shared.idempotency import Call, once
from services.shared.ids import uuid7
from services.shared.server import CallContext

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.TeamService/CreateTeam": server.Callers.PEOPLE,
    "/acervo.access.v1.TeamService/ListTeams": server.Callers.PEOPLE,
    "/acervo.access.v1.TeamService/RenameTeam": server.Callers.PEOPLE,
    "/acervo.access.v1.TeamService/DeleteTeam": server.Callers.PEOPLE,
    "/acervo.access.v1.TeamService/AddTeamMember": server.Callers.PEOPLE,
    "/acervo.access.v1.TeamService/RemoveTeamMember": server.Callers.PEOPLE,
    "/acervo.access.v1.TeamService/ListTeamMembers": server.Callers.PEOPLE,
}


class TeamServicer(teams_pb2_grpc.TeamServiceServicer):
    """Keeps the teams of organizations."""

    def __init__(self, pool: Pool, callers: Callers) -> None:
        self._pool = pool
        self._callers = callers

    async def CreateTeam(  # noqa: N802
        self, request: teams_pb2.CreateTeamRequest, context: CallContext
    ) -> teams_pb2.CreateTeamResponse:
        """A new team."""
        caller = self._callers.current()
        call = Call.of(request)
        organization_id, name = decode.new_team(request)

        async def work(connection: Connection) -> teams_pb2.CreateTeamResponse:
            team = await teams.create(connection, caller, organization_id, name, team_id=uuid7())
            return teams_pb2.CreateTeamResponse(team=encode.team(team))

        return await once(self._pool, call, teams_pb2.CreateTeamResponse, work)

    async def ListTeams(  # noqa: N802
        self, request: teams_pb2.ListTeamsRequest, context: CallContext
    ) -> teams_pb2.ListTeamsResponse:
        """An organization's teams, for one of its members."""
        caller = self._callers.current()
        organization_id, wanted = decode.page_of_organization(request)
        page = await teams.page(self._pool, organization_id, caller.person, wanted)
        return teams_pb2.ListTeamsResponse(
            teams=map(encode.team, page.rows), next_page_token=page.next_page_token
        )

    async def RenameTeam(  # noqa: N802
        self, request: teams_pb2.RenameTeamRequest, context: CallContext
    ) -> teams_pb2.RenameTeamResponse:
        """A team with another name."""
        caller = self._callers.current()
        call = Call.of(request)
        team_id, name = decode.team_name(request)

        async def work(connection: Connection) -> teams_pb2.RenameTeamResponse:
            team = await teams.rename(connection, caller, team_id, name)
            return teams_pb2.RenameTeamResponse(team=encode.team(team))

        return await once(self._pool, call, teams_pb2.RenameTeamResponse, work)

    async def DeleteTeam(  # noqa: N802
        self, request: teams_pb2.DeleteTeamRequest, context: CallContext
    ) -> teams_pb2.DeleteTeamResponse:
        """A team gone, with what was granted to it."""
        caller = self._callers.current()
        call = Call.of(request)
        team_id = read_uuid("team_id", request.team_id)

        async def work(connection: Connection) -> teams_pb2.DeleteTeamResponse:
            await teams.delete(connection, caller, team_id)
            return teams_pb2.DeleteTeamResponse()

        return await once(self._pool, call, teams_pb2.DeleteTeamResponse, work)

    async def AddTeamMember(  # noqa: N802
        self, request: teams_pb2.AddTeamMemberRequest, context: CallContext
    ) -> teams_pb2.AddTeamMemberResponse:
        """A member of the organization in a team."""
        caller = self._callers.current()
        call = Call.of(request)
        team_id, user_id = decode.team_member(request)

        async def work(connection: Connection) -> teams_pb2.AddTeamMemberResponse:
            await teams.put_member(connection, caller, team_id, user_id, member_id=uuid7())
            return teams_pb2.AddTeamMemberResponse()

        return await once(self._pool, call, teams_pb2.AddTeamMemberResponse, work)

    async def RemoveTeamMember(  # noqa: N802
        self, request: teams_pb2.RemoveTeamMemberRequest, context: CallContext
    ) -> teams_pb2.RemoveTeamMemberResponse:
        """A person out of a team."""
        caller = self._callers.current()
        call = Call.of(request)
        team_id, user_id = decode.team_member(request)

        async def work(connection: Connection) -> teams_pb2.RemoveTeamMemberResponse:
            await teams.remove_member(connection, caller, team_id, user_id)
            return teams_pb2.RemoveTeamMemberResponse()

        return await once(self._pool, call, teams_pb2.RemoveTeamMemberResponse, work)

    async def ListTeamMembers(  # noqa: N802
        self, request: teams_pb2.ListTeamMembersRequest, context: CallContext
    ) -> teams_pb2.ListTeamMembersResponse:
        """Who is in a team, for members of its organization."""
        caller = self._callers.current()
        team_id, wanted = decode.team_members_page(request)
        page = await teams.members_page(self._pool, team_id, caller.person, wanted)
        return teams_pb2.ListTeamMembersResponse(
            user_ids=[str(member.user_id) for member in page.rows], next_page_token=page.next_page_token
        )
