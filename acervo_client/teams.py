"""Teams of organizations."""

from uuid import uuid4

from acervo.access.v1 import teams_pb2 as pb
from acervo.access.v1.teams_pb2_grpc import TeamServiceStub
from acervo_client.connection import Connection, typed_errors
from acervo_client.paging import pages


class Teams:
    """The teams of the caller's organizations. Every method raises `AcervoError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stub = TeamServiceStub(connection.channel("access"))

    async def create(self, organization_id: str, display_name: str) -> pb.Team:
        """Make an empty team."""
        request = pb.CreateTeamRequest(
            request_id=str(uuid4()), organization_id=organization_id, display_name=display_name
        )
        async with typed_errors():
            return (await self._stub.CreateTeam(request, **self._connection.call())).team

    async def rename(self, team_id: str, display_name: str) -> pb.Team:
        """Call a team otherwise."""
        request = pb.RenameTeamRequest(request_id=str(uuid4()), team_id=team_id, display_name=display_name)
        async with typed_errors():
            return (await self._stub.RenameTeam(request, **self._connection.call())).team

    async def delete(self, team_id: str) -> None:
        """Delete a team with what was granted to it; bases that were visible to it turn private."""
        request = pb.DeleteTeamRequest(request_id=str(uuid4()), team_id=team_id)
        async with typed_errors():
            await self._stub.DeleteTeam(request, **self._connection.call())

    async def members(self, team_id: str) -> list[str]:
        """The ids of the persons in a team, in the order of coming in."""
        found = pages(
            lambda request: self._stub.ListTeamMembers(request, **self._connection.call()),
            pb.ListTeamMembersRequest(team_id=team_id),
        )
        return [user_id async for page in found for user_id in page.user_ids]

    async def add_member(self, team_id: str, user_id: str) -> None:
        """Take a member of the organization into a team."""
        request = pb.AddTeamMemberRequest(request_id=str(uuid4()), team_id=team_id, user_id=user_id)
        async with typed_errors():
            await self._stub.AddTeamMember(request, **self._connection.call())

    async def remove_member(self, team_id: str, user_id: str) -> None:
        """Take a person out of a team; effective on that person's next call."""
        request = pb.RemoveTeamMemberRequest(request_id=str(uuid4()), team_id=team_id, user_id=user_id)
        async with typed_errors():
            await self._stub.RemoveTeamMember(request, **self._connection.call())

    async def list(self, organization_id: str) -> list[pb.Team]:
        """An organization's teams, oldest first."""
        found = pages(
            lambda request: self._stub.ListTeams(request, **self._connection.call()),
            pb.ListTeamsRequest(organization_id=organization_id),
        )
        return [team async for page in found for team in page.teams]
