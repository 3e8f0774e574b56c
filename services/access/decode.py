"""From requests to what the rest of access works with. Whatever is wrong with a request is told at once.

A request is judged by itself here; what it names is looked up later, by those who decide on access.
"""

import unicodedata
from collections.abc import Mapping
from typing import TypeVar
from uuid import UUID

from acervo.access.v1 import access_pb2, knowledge_bases_pb2, organizations_pb2
from services.access.claims import Embedding
from services.access.creation import Wish
from services.access.knowledge_bases import Filter
from services.access.organizations import Membership
from services.access.pages import DEFAULT_SIZE, MAX_SIZE, START, PageRequest, read_token
from services.access.reach import BaseScope, Targets, Visibility, Want
from services.access.roles import Role
from services.shared.errors import FieldsInvalid, FieldViolation
from services.shared.ingestion_config import DEFAULT, IngestionConfig, merge
from services.shared.ingestion_config_codec import override_from_proto
from services.shared.names import check_collection_name

MAX_DISPLAY_NAME = 200
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
}
_WANTS: Mapping[access_pb2.Permission, Want] = {
    access_pb2.PERMISSION_VIEW: Want.VIEW,
    access_pb2.PERMISSION_EDIT: Want.EDIT,
}
_NIL = UUID(int=0)

Code = TypeVar("Code")
Value = TypeVar("Value")


class _Fields:
    """Reads fields and collects what is wrong with them; `check` refuses once all were read.

    A field that cannot be read gets a stand-in of its type, which nobody sees.
    """

    def __init__(self) -> None:
        self._violations: list[FieldViolation] = []

    def refuse(self, path: str, message: str) -> None:
        self._violations.append(FieldViolation(path, message))

    def check(self) -> None:
        """Raises FieldsInvalid where any field was refused."""
        if self._violations:
            raise FieldsInvalid(self._violations)

    def optional_uuid(self, path: str, text: str) -> UUID | None:
        return self.uuid(path, text) if text else None

    def uuid(self, path: str, text: str) -> UUID:
        try:
            value = UUID(text)
        except ValueError:
            value = _NIL
        if str(value) != text.lower() or value == _NIL:
            self.refuse(path, "This must be a UUID.")
        return value

    def choice(self, path: str, code: Code, known: Mapping[Code, Value], stand_in: Value) -> Value:
        if code not in known:
            self.refuse(path, "This must be one of the values of its enum.")
        return known.get(code, stand_in)

    def display_name(self, text: str) -> str:
        name = text.strip()
        if not 1 <= len(name) <= MAX_DISPLAY_NAME:
            self.refuse("display_name", f"This must have 1 to {MAX_DISPLAY_NAME} characters.")
        elif any(unicodedata.category(character) == "Cc" for character in name):
            self.refuse("display_name", "This must not hold control characters.")
        return name

    def page(self, size: int, token: str) -> PageRequest:
        if not 0 <= size <= MAX_SIZE:
            self.refuse("page_size", f"This must be 1 to {MAX_SIZE}.")
        after = START
        try:
            after = read_token(token)
        except ValueError:
            self.refuse("page_token", "This must be the next_page_token of a page of the same listing.")
        return PageRequest(size or DEFAULT_SIZE, after)

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
            self._violations += invalid.fields
            return DEFAULT


def actor(text: str) -> UUID | None:
    """The person in whose name a service asks; None for the caller itself."""
    fields = _Fields()
    value = fields.optional_uuid("actor_user_id", text)
    fields.check()
    return value


def organization_name(request: organizations_pb2.CreateOrganizationRequest) -> str:
    """The display name of a new organization."""
    fields = _Fields()
    name = fields.display_name(request.display_name)
    fields.check()
    return name


def organization_id(text: str) -> UUID:
    """The organization that a request names."""
    fields = _Fields()
    value = fields.uuid("organization_id", text)
    fields.check()
    return value


def base_id(text: str) -> UUID:
    """The base that a request names."""
    fields = _Fields()
    value = fields.uuid("knowledge_base_id", text)
    fields.check()
    return value


def page(size: int, token: str) -> PageRequest:
    """The part of a listing that a request asks for."""
    fields = _Fields()
    value = fields.page(size, token)
    fields.check()
    return value


def members_page(request: organizations_pb2.ListMembersRequest) -> tuple[UUID, PageRequest]:
    """Whose members are asked for, and which part of them."""
    fields = _Fields()
    organization = fields.uuid("organization_id", request.organization_id)
    wanted = fields.page(request.page_size, request.page_token)
    fields.check()
    return organization, wanted


def new_member(request: organizations_pb2.AddMemberRequest) -> tuple[Membership, Role]:
    """Who is to be what in which organization."""
    fields = _Fields()
    membership = _membership(fields, request.organization_id, request.user_id)
    role = fields.choice("role", request.role, ROLES, Role.VIEWER)
    fields.check()
    return membership, role


def membership(request: organizations_pb2.RemoveMemberRequest) -> Membership:
    """Who is to leave which organization."""
    fields = _Fields()
    value = _membership(fields, request.organization_id, request.user_id)
    fields.check()
    return value


def _membership(fields: _Fields, organization: str, user: str) -> Membership:
    return Membership(fields.uuid("organization_id", organization), fields.uuid("user_id", user))


def targets(request: access_pb2.ResolveRequest) -> tuple[Targets, Want]:
    """What a `Resolve` names, and for what. Raises NameInvalid for what cannot be a collection's name."""
    fields = _Fields()
    if not 1 <= len(request.targets) <= MAX_TARGETS:
        fields.refuse("targets", f"There must be 1 to {MAX_TARGETS}.")
    want = fields.choice("permission", request.permission, _WANTS, Want.VIEW)
    ids, names = set(), set()
    for place, target in enumerate(request.targets):
        if target.WhichOneof("target") == "collection_name":
            names.add(target.collection_name)
        else:
            ids.add(fields.uuid(f"targets[{place}].knowledge_base_id", target.knowledge_base_id))
    fields.check()
    for name in names:
        check_collection_name(name)
    return Targets(frozenset(ids), frozenset(names)), want


def wish(request: knowledge_bases_pb2.CreateKnowledgeBaseRequest) -> Wish:
    """The base that is to be made. Raises NameInvalid for what cannot be a collection's name."""
    fields = _Fields()
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
        embedding=fields.embedding(request.embedding),
        ingestion_config=fields.ingestion_config(request),
    )
    fields.check()
    if value.collection_name:
        check_collection_name(value.collection_name)
    return value


def _visibility(fields: _Fields, code: knowledge_bases_pb2.Visibility, scope: BaseScope) -> Visibility | None:
    unset = code == knowledge_bases_pb2.VISIBILITY_UNSPECIFIED
    if scope is BaseScope.ORG:
        return Visibility.ORG if unset else fields.choice("visibility", code, VISIBILITIES, Visibility.ORG)
    if not unset:
        fields.refuse("visibility", "Only bases of scope ORG have a visibility.")
    return None


def bases_page(request: knowledge_bases_pb2.ListKnowledgeBasesRequest) -> tuple[Filter, PageRequest]:
    """Which bases are asked for, and which part of them. Raises NameInvalid as `wish` does."""
    fields = _Fields()
    organization = fields.optional_uuid("organization_id", request.organization_id)
    wanted = fields.page(request.page_size, request.page_token)
    fields.check()
    if request.collection_name:
        check_collection_name(request.collection_name)
    return Filter(organization, request.collection_name or None), wanted
