"""Organizations and their members."""

from collections.abc import Mapping
from typing import Final

from acervo.access.v1 import organizations_pb2, organizations_pb2_grpc
from services.access.bases import creation, deletion
from services.access.bases.claims import Embedding
from services.access.bases.creation import Fresh, Wish
from services.access.callers import Callers
from services.access.messages import decode, encode
from services.access.people import organizations
from services.access.reach import BaseScope, Visibility
from services.shared import server
from services.shared.db import Connection, Pool
from services.shared.fields import read_page, read_uuid
from services.shared.idempotency import Call, once
from services.shared.ids import uuid7
from services.shared.server import CallContext

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.OrganizationService/CreateOrganization": server.Callers.PEOPLE,
    "/acervo.access.v1.OrganizationService/ListOrganizations": server.Callers.PEOPLE,
    "/acervo.access.v1.OrganizationService/RenameOrganization": server.Callers.PEOPLE,
    "/acervo.access.v1.OrganizationService/AddMember": server.Callers.PEOPLE,
    "/acervo.access.v1.OrganizationService/TransferOwnership": server.Callers.PEOPLE,
    "/acervo.access.v1.OrganizationService/RemoveMember": server.Callers.PEOPLE,
    "/acervo.access.v1.OrganizationService/ListMembers": server.Callers.PEOPLE,
    "/acervo.access.v1.OrganizationService/DeleteOrganization": server.Callers.PEOPLE,
}


class OrganizationServicer(organizations_pb2_grpc.OrganizationServiceServicer):
    """Keeps organizations and their members."""

    def __init__(self, pool: Pool, callers: Callers, default_embedding: Embedding) -> None:
        self._pool = pool
        self._callers = callers
        self._default_embedding = default_embedding

    async def CreateOrganization(  # noqa: N802
        self, request: organizations_pb2.CreateOrganizationRequest, context: CallContext
    ) -> organizations_pb2.CreateOrganizationResponse:
        """An organization with its default base, owned by the caller."""
        caller = self._callers.current()
        call = Call.of(request)
        name = decode.organization_name(request)

        async def work(connection: Connection) -> organizations_pb2.CreateOrganizationResponse:
            made = await organizations.found(connection, caller, uuid7(), name, member_id=uuid7())
            wish = Wish(
                display_name=name,
                scope=BaseScope.ORG,
                organization_id=made.id,
                visibility=Visibility.ORG,
                default_base=True,
            )
            await creation.create(connection, caller, wish, Fresh.of(self._default_embedding))
            return organizations_pb2.CreateOrganizationResponse(organization=encode.organization(made))

        return await once(self._pool, call, organizations_pb2.CreateOrganizationResponse, work)

    async def ListOrganizations(  # noqa: N802
        self, request: organizations_pb2.ListOrganizationsRequest, context: CallContext
    ) -> organizations_pb2.ListOrganizationsResponse:
        """Those that the caller is a member of."""
        caller = self._callers.current()
        wanted = read_page(request)
        page = await organizations.page(self._pool, caller.person, wanted)
        return organizations_pb2.ListOrganizationsResponse(
            organizations=map(encode.organization, page.rows), next_page_token=page.next_page_token
        )

    async def RenameOrganization(  # noqa: N802
        self, request: organizations_pb2.RenameOrganizationRequest, context: CallContext
    ) -> organizations_pb2.RenameOrganizationResponse:
        """An organization called otherwise."""
        caller = self._callers.current()
        call = Call.of(request)
        organization_id, name = decode.renamed_organization(request)

        async def work(connection: Connection) -> organizations_pb2.RenameOrganizationResponse:
            made = await organizations.rename(connection, caller, organization_id, name)
            return organizations_pb2.RenameOrganizationResponse(organization=encode.organization(made))

        return await once(self._pool, call, organizations_pb2.RenameOrganizationResponse, work)

    async def AddMember(  # noqa: N802
        self, request: organizations_pb2.AddMemberRequest, context: CallContext
    ) -> organizations_pb2.AddMemberResponse:
        """A person with a role, new or changed."""
        caller = self._callers.current()
        call = Call.of(request)
        membership, role = decode.new_member(request)

        async def work(connection: Connection) -> organizations_pb2.AddMemberResponse:
            member = await organizations.put_member(connection, caller, membership, role, member_id=uuid7())
            return organizations_pb2.AddMemberResponse(member=encode.member(member))

        return await once(self._pool, call, organizations_pb2.AddMemberResponse, work)

    async def TransferOwnership(  # noqa: N802
        self, request: organizations_pb2.TransferOwnershipRequest, context: CallContext
    ) -> organizations_pb2.TransferOwnershipResponse:
        """Another member the owner, and the caller an admin."""
        caller = self._callers.current()
        call = Call.of(request)
        membership = decode.membership(request)

        async def work(connection: Connection) -> organizations_pb2.TransferOwnershipResponse:
            member = await organizations.transfer(connection, caller, membership)
            return organizations_pb2.TransferOwnershipResponse(member=encode.member(member))

        return await once(self._pool, call, organizations_pb2.TransferOwnershipResponse, work)

    async def RemoveMember(  # noqa: N802
        self, request: organizations_pb2.RemoveMemberRequest, context: CallContext
    ) -> organizations_pb2.RemoveMemberResponse:
        """A person out of an organization."""
        caller = self._callers.current()
        call = Call.of(request)
        membership = decode.membership(request)

        async def work(connection: Connection) -> organizations_pb2.RemoveMemberResponse:
            await organizations.remove_member(connection, caller, membership)
            return organizations_pb2.RemoveMemberResponse()

        return await once(self._pool, call, organizations_pb2.RemoveMemberResponse, work)

    async def ListMembers(  # noqa: N802
        self, request: organizations_pb2.ListMembersRequest, context: CallContext
    ) -> organizations_pb2.ListMembersResponse:
        """An organization's members, for one of them."""
        caller = self._callers.current()
        organization_id, wanted = decode.page_of_organization(request)
        page = await organizations.members_page(self._pool, organization_id, caller.person, wanted)
        return organizations_pb2.ListMembersResponse(
            members=map(encode.member, page.rows), next_page_token=page.next_page_token
        )

    async def DeleteOrganization(  # noqa: N802
        self, request: organizations_pb2.DeleteOrganizationRequest, context: CallContext
    ) -> organizations_pb2.DeleteOrganizationResponse:
        """An organization gone, with its members and bases."""
        caller = self._callers.current()
        call = Call.of(request)
        organization_id = read_uuid("organization_id", request.organization_id)

        async def work(connection: Connection) -> organizations_pb2.DeleteOrganizationResponse:
            await deletion.delete_organization(connection, caller, organization_id, uuid7)
            return organizations_pb2.DeleteOrganizationResponse()

        return await once(self._pool, call, organizations_pb2.DeleteOrganizationResponse, work)
