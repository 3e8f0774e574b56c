"""From requests to what the rest of access works with. Whatever is wrong with a request is told at once.

A request is judged by itself here; what it names is looked up later, by those who decide on access.
"""

import unicodedata
from collections.abc import Mapping
from uuid import UUID

from acervo.access.v1 import (
    access_pb2,
    agents_pb2,
    collections_pb2,
    grants_pb2,
    knowledge_bases_pb2,
    organizations_pb2,
    teams_pb2,
)
from services.access.bases.claims import Embedding
from services.access.bases.creation import Wish
from services.access.bases.knowledge_bases import Filter
from services.access.grants import GrantWish
from services.access.messages.serving import given_serving, read_serving
from services.access.people.organizations import Membership
from services.access.people.roles import Role
from services.access.reach import BaseScope, Grantee, Targets, Visibility, Want
from services.shared.errors import FieldsInvalid
from services.shared.fields import Fields
from services.shared.ingestion_config import DEFAULT, IngestionConfig, merge
from services.shared.ingestion_config_codec import override_from_proto
from services.shared.names import check_collection_name
from services.shared.paging import PageRequest

MAX_DISPLAY_NAME = 200
# Control and format characters, surrogates, separators of lines; what is not assigned may become any of these.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
"""Several scripts, and emoji, are not written without these."""
MAX_MODEL_NAME = 200
MAX_WIDTH = 4096
MAX_TARGETS = 100

ROLES: Mapping[organizations_pb2.Role, Role] = {
    organizations_pb2.ROLE_OWNER: Role.OWNER,
    organizations_pb2.ROLE_ADMIN: Role.ADMIN,
    organizations_pb2.ROLE_BUILDER: Role.BUILDER,
    organizations_pb2.ROLE_MEMBER: Role.MEMBER,
    organizations_pb2.ROLE_VIEWER: Role.VIEWER,
}
SCOPES: Mapping[knowledge_bases_pb2.Scope, BaseScope] = {
    knowledge_bases_pb2.SCOPE_PERSONAL: BaseScope.PERSONAL,
    knowledge_bases_pb2.SCOPE_ORG: BaseScope.ORG,
    knowledge_bases_pb2.SCOPE_APP: BaseScope.APP,
}
VISIBILITIES: Mapping[knowledge_bases_pb2.Visibility, Visibility] = {
    knowledge_bases_pb2.VISIBILITY_PRIVATE: Visibility.PRIVATE,
    knowledge_bases_pb2.VISIBILITY_ORG: Visibility.ORG,
    knowledge_bases_pb2.VISIBILITY_TEAM: Visibility.TEAM,
}
PERMISSIONS: Mapping[access_pb2.Permission, Want] = {
    access_pb2.PERMISSION_VIEW: Want.VIEW,
    access_pb2.PERMISSION_EDIT: Want.EDIT,
}


class _Fields(Fields):
    """Reads what only requests to access hold."""

    def display_name(self, text: str) -> str:
        return read_display_name(self, text)

    def embedding(self, message: knowledge_bases_pb2.EmbeddingSettings) -> Embedding | None:
        if not message.model and not message.width:
            return None
        if not 1 <= len(message.model) <= MAX_MODEL_NAME or not message.model.isprintable():
            self.refuse("embedding.model", "This must name a model, and goes with a width.")
        if not 1 <= message.width <= MAX_WIDTH:
            self.refuse("embedding.width", f"This must be 1 to {MAX_WIDTH}, and goes with a model.")
        return Embedding(message.model, message.width)

    def ingestion_config(self, message: knowledge_bases_pb2.CreateKnowledgeBaseRequest) -> IngestionConfig:
        try:
            return merge(DEFAULT, override_from_proto(message.ingestion_config))
        except FieldsInvalid as invalid:
            self.refuse_all(invalid.fields)
            return DEFAULT

    def membership(self, organization: str, user: str) -> Membership:
        return Membership(self.uuid("organization_id", organization), self.uuid("user_id", user))


def read_display_name(fields: Fields, text: str) -> str:
    """What something is called, without the spaces around it."""
    name = text.strip()
    if not 1 <= len(name) <= MAX_DISPLAY_NAME:
        fields.refuse("display_name", f"This must have 1 to {MAX_DISPLAY_NAME} characters.")
    elif not _is_shown_as_written(name):
        message = "This must hold no control or direction characters, and something that is seen."
        fields.refuse("display_name", message)
    return name


def _is_shown_as_written(name: str) -> bool:
    """Whether a name looks like itself: nothing in it turns, hides or breaks the text, and something is to be seen."""
    kinds = {unicodedata.category(character) for character in name if character not in _JOINERS}
    return not kinds & _UNSEEN and any(kind[0] in "LNPS" for kind in kinds)


def organization_name(request: organizations_pb2.CreateOrganizationRequest) -> str:
    """The display name of a new organization."""
    with _Fields() as fields:
        return fields.display_name(request.display_name)


def page_of_organization(
    request: organizations_pb2.ListMembersRequest | teams_pb2.ListTeamsRequest,
) -> tuple[UUID, PageRequest]:
    """Whose members or teams are asked for, and which part of them."""
    with Fields() as fields:
        return fields.uuid("organization_id", request.organization_id), fields.page(request)


def new_member(request: organizations_pb2.AddMemberRequest) -> tuple[Membership, Role]:
    """Who is to be what in which organization."""
    with _Fields() as fields:
        membership = fields.membership(request.organization_id, request.user_id)
        return membership, fields.choice("role", request.role, ROLES, Role.VIEWER)


def membership(
    request: organizations_pb2.RemoveMemberRequest | organizations_pb2.TransferOwnershipRequest,
) -> Membership:
    """Whose place in which organization is to change."""
    with _Fields() as fields:
        return fields.membership(request.organization_id, request.user_id)


def targets(request: access_pb2.ResolveRequest) -> tuple[Targets, Want]:
    """What a `Resolve` names, and for what. Raises NameInvalid for what cannot be a collection's name."""
    ids, names = set(), set()
    with Fields() as fields:
        fields.count("targets", request.targets, MAX_TARGETS)
        want = fields.choice("permission", request.permission, PERMISSIONS, Want.VIEW)
        for place, target in enumerate(request.targets):
            if target.WhichOneof("target") == "collection_name":
                names.add(target.collection_name)
            else:
                ids.add(fields.uuid(f"targets[{place}].knowledge_base_id", target.knowledge_base_id))
    for name in names:
        check_collection_name(name)
    return Targets(frozenset(ids), frozenset(names)), want


def wish(request: knowledge_bases_pb2.CreateKnowledgeBaseRequest) -> Wish:
    """The base that is to be made. Raises NameInvalid for what cannot be a collection's name."""
    with _Fields() as fields:
        scope = fields.choice("scope", request.scope, SCOPES, BaseScope.PERSONAL)
        organization = fields.optional_uuid("organization_id", request.organization_id)
        if scope is BaseScope.ORG and not request.organization_id:
            fields.refuse("organization_id", "A base of scope ORG needs its organization.")
        if scope is BaseScope.APP and request.organization_id:
            fields.refuse("organization_id", "A base of scope APP belongs to no organization.")
        value = Wish(
            display_name=fields.display_name(request.display_name),
            scope=scope,
            collection_name=request.collection_name,
            organization_id=organization,
            visibility=_visibility(fields, request.visibility, scope),
            team_id=_team(fields, request),
            embedding=fields.embedding(request.embedding),
            serving=read_serving(fields, request, given_serving(request)),
            ingestion_config=fields.ingestion_config(request),
        )
    if value.collection_name:
        check_collection_name(value.collection_name)
    return value


def _visibility(fields: Fields, code: knowledge_bases_pb2.Visibility, scope: BaseScope) -> Visibility | None:
    unset = code == knowledge_bases_pb2.VISIBILITY_UNSPECIFIED
    if scope is BaseScope.ORG:
        return Visibility.ORG if unset else fields.choice("visibility", code, VISIBILITIES, Visibility.ORG)
    if not unset:
        fields.refuse("visibility", "Only bases of scope ORG have a visibility.")
    return None


def _team(fields: _Fields, request: knowledge_bases_pb2.CreateKnowledgeBaseRequest) -> UUID | None:
    if request.visibility == knowledge_bases_pb2.VISIBILITY_TEAM:
        return fields.uuid("team_id", request.team_id)
    if request.team_id:
        fields.refuse("team_id", "This goes with the visibility TEAM.")
    return None


def bases_page(request: knowledge_bases_pb2.ListKnowledgeBasesRequest) -> tuple[Filter, PageRequest]:
    """Which bases are asked for, and which part of them. Raises NameInvalid as `wish` does."""
    with Fields() as fields:
        organization = fields.optional_uuid("organization_id", request.organization_id)
        wanted = fields.page(request)
    if request.collection_name:
        check_collection_name(request.collection_name)
    return Filter(organization, request.collection_name or None), wanted


def operator_base(request: collections_pb2.OpenOperatorBaseRequest) -> tuple[str, Embedding | None]:
    """Which name's base is meant, and with which settings. Raises NameInvalid as `wish` does."""
    with _Fields() as fields:
        embedding = fields.embedding(request.embedding)
    check_collection_name(request.collection_name)
    return request.collection_name, embedding


def renamed_organization(request: organizations_pb2.RenameOrganizationRequest) -> tuple[UUID, str]:
    """Which organization is to be called what."""
    with _Fields() as fields:
        return fields.uuid("organization_id", request.organization_id), fields.display_name(
            request.display_name
        )


def new_team(request: teams_pb2.CreateTeamRequest) -> tuple[UUID, str]:
    """Whose team is to be made, and what it is called."""
    with _Fields() as fields:
        return fields.uuid("organization_id", request.organization_id), fields.display_name(
            request.display_name
        )


def team_name(request: teams_pb2.RenameTeamRequest) -> tuple[UUID, str]:
    """Which team is to be called what."""
    with _Fields() as fields:
        return fields.uuid("team_id", request.team_id), fields.display_name(request.display_name)


def team_member(
    request: teams_pb2.AddTeamMemberRequest | teams_pb2.RemoveTeamMemberRequest,
) -> tuple[UUID, UUID]:
    """The team and the person."""
    with Fields() as fields:
        return fields.uuid("team_id", request.team_id), fields.uuid("user_id", request.user_id)


def team_members_page(request: teams_pb2.ListTeamMembersRequest) -> tuple[UUID, PageRequest]:
    """Which team's members are asked for, and which part of them."""
    with Fields() as fields:
        return fields.uuid("team_id", request.team_id), fields.page(request)


def new_agent(request: agents_pb2.CreateAgentRequest) -> tuple[UUID | None, str]:
    """Whose agent is to be registered (None: the caller's own), and what it is called."""
    with _Fields() as fields:
        return fields.optional_uuid("organization_id", request.organization_id), fields.display_name(
            request.display_name
        )


def agents_page(request: agents_pb2.ListAgentsRequest) -> tuple[UUID | None, PageRequest]:
    """Whose agents are asked for (None: the caller's own), and which part of them."""
    with Fields() as fields:
        return fields.optional_uuid("organization_id", request.organization_id), fields.page(request)


def agent_name(request: agents_pb2.RenameAgentRequest) -> tuple[UUID, str]:
    """Which agent is to be called what."""
    with _Fields() as fields:
        return fields.uuid("agent_id", request.agent_id), fields.display_name(request.display_name)


def grant_wish(request: grants_pb2.AddGrantRequest) -> GrantWish:
    """What is to be granted to whom."""
    with Fields() as fields:
        path = request.WhichOneof("grantee")
        if path is None:
            fields.refuse("user_id", "Give this, team_id or agent_id, one of the three.")
            path = "user_id"
        return GrantWish(
            base_id=fields.uuid("knowledge_base_id", request.knowledge_base_id),
            grantee=Grantee(path.removesuffix("_id")),
            grantee_id=fields.uuid(path, getattr(request, path)),
            permission=fields.choice("permission", request.permission, PERMISSIONS, Want.VIEW),
        )


def grants_page(request: grants_pb2.ListGrantsRequest) -> tuple[UUID, PageRequest]:
    """Which base's grants are asked for, and which part of them."""
    with Fields() as fields:
        return fields.uuid("knowledge_base_id", request.knowledge_base_id), fields.page(request)


def explained(request: grants_pb2.ExplainAccessRequest) -> tuple[UUID, UUID, UUID | None]:
    """The base, the person, and the agent that acts for the person."""
    with Fields() as fields:
        return (
            fields.uuid("knowledge_base_id", request.knowledge_base_id),
            fields.uuid("user_id", request.user_id),
            fields.optional_uuid("agent_id", request.agent_id),
        )
