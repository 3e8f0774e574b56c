"""Organizations and their members."""

from uuid import uuid4

from acervo.access.v1 import organizations_pb2 as pb
from acervo.access.v1.organizations_pb2_grpc import OrganizationServiceStub
from acervo_client.connection import Connection, typed_errors
from acervo_client.paging import pages


class Organizations:
    """The organizations that the caller is a member of. Every method raises `AcervoError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stub = OrganizationServiceStub(connection.channel("access"))

    async def create(self, display_name: str) -> pb.Organization:
        """Make an organization with its default base; the caller owns it."""
        request = pb.CreateOrganizationRequest(request_id=str(uuid4()), display_name=display_name)
        async with typed_errors():
            return (await self._stub.CreateOrganization(request, **self._connection.call())).organization

    async def delete(self, organization_id: str) -> None:
        """Delete an organization with its members and bases; the removal goes on in the background."""
        request = pb.DeleteOrganizationRequest(request_id=str(uuid4()), organization_id=organization_id)
        async with typed_errors():
            await self._stub.DeleteOrganization(request, **self._connection.call())

    async def rename(self, organization_id: str, display_name: str) -> pb.Organization:
        """Call an organization otherwise."""
        request = pb.RenameOrganizationRequest(
            request_id=str(uuid4()), organization_id=organization_id, display_name=display_name
        )
        async with typed_errors():
            return (await self._stub.RenameOrganization(request, **self._connection.call())).organization

    async def transfer(self, organization_id: str, user_id: str) -> pb.Member:
        """Make another member the owner, and the caller an admin."""
        request = pb.TransferOwnershipRequest(
            request_id=str(uuid4()), organization_id=organization_id, user_id=user_id
        )
        async with typed_errors():
            return (await self._stub.TransferOwnership(request, **self._connection.call())).member

    async def members(self, organization_id: str) -> list[pb.Member]:
        """The members of an organization, in the order of coming in."""
        found = pages(
            lambda request: self._stub.ListMembers(request, **self._connection.call()),
            pb.ListMembersRequest(organization_id=organization_id),
        )
        return [member async for page in found for member in page.members]

    async def put_member(self, organization_id: str, user_id: str, role: pb.Role) -> pb.Member:
        """Take a person in, or change the role of a member."""
        request = pb.AddMemberRequest(
            request_id=str(uuid4()), organization_id=organization_id, user_id=user_id, role=role
        )
        async with typed_errors():
            return (await self._stub.AddMember(request, **self._connection.call())).member

    async def remove_member(self, organization_id: str, user_id: str) -> None:
        """Take a person out; effective on that person's next call."""
        request = pb.RemoveMemberRequest(
            request_id=str(uuid4()), organization_id=organization_id, user_id=user_id
        )
        async with typed_errors():
            await self._stub.RemoveMember(request, **self._connection.call())

    async def list(self) -> list[pb.Organization]:
        """All of them, oldest first."""
        found = pages(
            lambda request: self._stub.ListOrganizations(request, **self._connection.call()),
            pb.ListOrganizationsRequest(),
        )
        return [organization async for page in found for organization in page.organizations]
