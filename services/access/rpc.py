"""The servicers of access; those of teams and grants are in `rpc_sharing`.

Handlers learn who calls, read the request, call, and encode the answer. Whether the caller may is decided where the
rows are, by the statements that read or lock them; a refusal there reads as absence does. Mutations are done once for
each request id.
"""

import secrets
from collections.abc import Mapping
from typing import Final

from acervo.access.v1 import access_pb2, access_pb2_grpc, organizations_pb2, organizations_pb2_grpc
from acervo.access.v1 import knowledge_bases_pb2 as bases_pb2
from acervo.access.v1 import knowledge_bases_pb2_grpc as bases_pb2_grpc
from services.access import creation, decode, deletion, encode, knowledge_bases, organizations
from services.access.callers import Callers
from services.access.claims import Embedding
from services.access.creation import Fresh, Wish
from services.access.reach import BaseScope, Settlement, Visibility, Want, settle
from services.access.refusals import BaseNotFound, CollectionAmbiguous, OrganizationNotFound
from services.shared import server
from services.shared.db import Connection, Pool
from services.shared.fields import read_optional_uuid, read_page, read_uuid
from services.shared.idempotency import Call, once
from services.shared.ids import uuid7
from services.shared.server import CallContext

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.AccessService/Resolve": server.Callers.ANY,
    "/acervo.access.v1.AccessService/WhoAmI": server.Callers.ANY,
    "/acervo.access.v1.OrganizationService/CreateOrganization": server.Callers.PEOPLE,
    "/acervo.access.v1.OrganizationService/ListOrganizations": server.Callers.PEOPLE,
    "/acervo.access.v1.OrganizationService/AddMember": server.Callers.PEOPLE,
    "/acervo.access.v1.OrganizationService/TransferOwnership": server.Callers.PEOPLE,
    "/acervo.access.v1.OrganizationService/RemoveMember": server.Callers.PEOPLE,
    "/acervo.access.v1.OrganizationService/ListMembers": server.Callers.PEOPLE,
    "/acervo.access.v1.OrganizationService/DeleteOrganization": server.Callers.PEOPLE,
    "/acervo.access.v1.KnowledgeBaseService/CreateKnowledgeBase": server.Callers.PEOPLE,
    "/acervo.access.v1.KnowledgeBaseService/GetKnowledgeBase": server.Callers.PEOPLE,
    "/acervo.access.v1.KnowledgeBaseService/ListKnowledgeBases": server.Callers.PEOPLE,
    "/acervo.access.v1.KnowledgeBaseService/DeleteKnowledgeBase": server.Callers.PEOPLE,
    "/acervo.access.v1.TeamService/CreateTeam": server.Callers.PEOPLE,
    "/acervo.access.v1.TeamService/ListTeams": server.Callers.PEOPLE,
    "/acervo.access.v1.TeamService/RenameTeam": server.Callers.PEOPLE,
    "/acervo.access.v1.TeamService/DeleteTeam": server.Callers.PEOPLE,
    "/acervo.access.v1.TeamService/AddTeamMember": server.Callers.PEOPLE,
    "/acervo.access.v1.TeamService/RemoveTeamMember": server.Callers.PEOPLE,
    "/acervo.access.v1.TeamService/ListTeamMembers": server.Callers.PEOPLE,
    "/acervo.access.v1.GrantService/AddGrant": server.Callers.PEOPLE,
    "/acervo.access.v1.GrantService/ListGrants": server.Callers.PEOPLE,
    "/acervo.access.v1.GrantService/RevokeGrant": server.Callers.PEOPLE,
    "/acervo.access.v1.GrantService/ExplainAccess": server.Callers.PEOPLE,
}


def _fresh(embedding: Embedding) -> Fresh:
    return Fresh(uuid7(), secrets.token_hex(3), embedding)


class AccessServicer(access_pb2_grpc.AccessServiceServicer):
    """Answers who may reach what."""

    def __init__(self, pool: Pool, callers: Callers) -> None:
        self._pool = pool
        self._callers = callers

    async def Resolve(  # noqa: N802
        self, request: access_pb2.ResolveRequest, context: CallContext
    ) -> access_pb2.ResolveResponse:
        """The bases that the targets name, or a refusal of them all."""
        caller = self._callers.acting_for(read_optional_uuid("actor_user_id", request.actor_user_id))
        targets, want = decode.targets(request)
        reached = await knowledge_bases.resolve(self._pool, caller, targets, want)
        settlement = settle(targets, [(base.id, base.collection_name) for base in reached], want)
        if settlement is Settlement.NOT_FOUND:
            raise BaseNotFound
        if settlement is Settlement.AMBIGUOUS:
            raise CollectionAmbiguous
        return access_pb2.ResolveResponse(knowledge_bases=map(encode.knowledge_base, reached))

    async def WhoAmI(  # noqa: N802
        self, request: access_pb2.WhoAmIRequest, context: CallContext
    ) -> access_pb2.WhoAmIResponse:
        """What the deployment knows of the caller."""
        caller = self._callers.acting_for(read_optional_uuid("actor_user_id", request.actor_user_id))
        return encode.who(caller)


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
        owner = caller.person
        if owner is None:
            raise OrganizationNotFound

        async def work(connection: Connection) -> organizations_pb2.CreateOrganizationResponse:
            made = await organizations.found(connection, uuid7(), name, owner=owner, member_id=uuid7())
            wish = Wish(
                display_name=name,
                scope=BaseScope.ORG,
                organization_id=made.id,
                visibility=Visibility.ORG,
                default_base=True,
            )
            await creation.create(connection, caller, wish, _fresh(self._default_embedding))
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

    async def AddMember(  # noqa: N802
        self, request: organizations_pb2.AddMemberRequest, context: CallContext
    ) -> organizations_pb2.AddMemberResponse:
        """A person with a role, new or changed."""
        caller = self._callers.current()
        call = Call.of(request)
        membership, role = decode.new_member(request)

        async def work(connection: Connection) -> organizations_pb2.AddMemberResponse:
            member = await organizations.put_member(
                connection, caller.person, membership, role, member_id=uuid7()
            )
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
            member = await organizations.transfer(connection, caller.person, membership)
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
            await organizations.remove_member(connection, caller.person, membership)
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


class KnowledgeBaseServicer(bases_pb2_grpc.KnowledgeBaseServiceServicer):
    """Keeps knowledge bases."""

    def __init__(self, pool: Pool, callers: Callers, default_embedding: Embedding) -> None:
        self._pool = pool
        self._callers = callers
        self._default_embedding = default_embedding

    async def CreateKnowledgeBase(  # noqa: N802
        self, request: bases_pb2.CreateKnowledgeBaseRequest, context: CallContext
    ) -> bases_pb2.CreateKnowledgeBaseResponse:
        """A base on a name that the caller may have."""
        caller = self._callers.current()
        call = Call.of(request)
        wish = decode.wish(request)

        async def work(connection: Connection) -> bases_pb2.CreateKnowledgeBaseResponse:
            base = await creation.create(connection, caller, wish, _fresh(self._default_embedding))
            return bases_pb2.CreateKnowledgeBaseResponse(knowledge_base=encode.knowledge_base(base))

        return await once(self._pool, call, bases_pb2.CreateKnowledgeBaseResponse, work)

    async def GetKnowledgeBase(  # noqa: N802
        self, request: bases_pb2.GetKnowledgeBaseRequest, context: CallContext
    ) -> bases_pb2.GetKnowledgeBaseResponse:
        """A base that the caller may view."""
        caller = self._callers.current()
        base_id = read_uuid("knowledge_base_id", request.knowledge_base_id)
        base = await knowledge_bases.find(self._pool, caller, base_id, Want.VIEW)
        if base is None:
            raise BaseNotFound
        return bases_pb2.GetKnowledgeBaseResponse(knowledge_base=encode.knowledge_base(base))

    async def ListKnowledgeBases(  # noqa: N802
        self, request: bases_pb2.ListKnowledgeBasesRequest, context: CallContext
    ) -> bases_pb2.ListKnowledgeBasesResponse:
        """The bases that the caller may view."""
        caller = self._callers.current()
        which, wanted = decode.bases_page(request)
        page = await knowledge_bases.page(self._pool, caller, which, wanted)
        return bases_pb2.ListKnowledgeBasesResponse(
            knowledge_bases=map(encode.knowledge_base, page.rows), next_page_token=page.next_page_token
        )

    async def DeleteKnowledgeBase(  # noqa: N802
        self, request: bases_pb2.DeleteKnowledgeBaseRequest, context: CallContext
    ) -> bases_pb2.DeleteKnowledgeBaseResponse:
        """A base gone, or an organization's default emptied."""
        caller = self._callers.current()
        call = Call.of(request)
        base_id = read_uuid("knowledge_base_id", request.knowledge_base_id)

        async def work(connection: Connection) -> bases_pb2.DeleteKnowledgeBaseResponse:
            await deletion.delete_base(connection, caller, base_id, uuid7)
            return bases_pb2.DeleteKnowledgeBaseResponse()

        return await once(self._pool, call, bases_pb2.DeleteKnowledgeBaseResponse, work)
