"""The servicers of teams and grants. They are as those of `rpc`, and their callers stand in its table."""

from acervo.access.v1 import grants_pb2, grants_pb2_grpc, teams_pb2, teams_pb2_grpc
from services.access import decode, encode, grants, teams
from services.access.callers import Callers
from services.access.reach import Caller, CallerKind
from services.shared.db import Connection, Pool
from services.shared.fields import read_uuid
from services.shared.idempotency import Call, once
from services.shared.ids import uuid7
from services.shared.server import CallContext


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
            team = await teams.create(connection, caller.person, organization_id, name, team_id=uuid7())
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
            team = await teams.rename(connection, caller.person, team_id, name)
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
            await teams.delete(connection, caller.person, team_id)
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
            await teams.put_member(connection, caller.person, team_id, user_id, member_id=uuid7())
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
            await teams.remove_member(connection, caller.person, team_id, user_id)
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
