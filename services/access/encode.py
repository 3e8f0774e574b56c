"""From the rows of access to what goes over the wire."""

from datetime import datetime
from uuid import UUID

from google.protobuf.timestamp_pb2 import Timestamp

from acervo.access.v1 import access_pb2, knowledge_bases_pb2, organizations_pb2
from services.access.decode import ROLES, SCOPES, VISIBILITIES
from services.access.knowledge_bases import KnowledgeBase
from services.access.organizations import Member, Organization
from services.access.reach import Caller
from services.shared.ingestion_config_codec import config_to_proto

_ROLE_CODES = {role: code for code, role in ROLES.items()}
_SCOPE_CODES = {scope: code for code, scope in SCOPES.items()}
_VISIBILITY_CODES = {visibility: code for code, visibility in VISIBILITIES.items()}


def who(caller: Caller) -> access_pb2.WhoAmIResponse:
    """Who calls."""
    return access_pb2.WhoAmIResponse(
        user_id=_id(caller.user_id), service=caller.service, deployment_admin=caller.deployment_admin
    )


def organization(row: Organization) -> organizations_pb2.Organization:
    """An organization, as one of its members sees it."""
    return organizations_pb2.Organization(
        id=str(row.id),
        display_name=row.display_name,
        create_time=_time(row.create_time),
        role=_ROLE_CODES[row.role],
    )


def member(row: Member) -> organizations_pb2.Member:
    """A person in an organization."""
    return organizations_pb2.Member(
        user_id=str(row.user_id), role=_ROLE_CODES[row.role], create_time=_time(row.create_time)
    )


def knowledge_base(row: KnowledgeBase) -> knowledge_bases_pb2.KnowledgeBase:
    """A base, every field set."""
    holding = row.holding
    message = knowledge_bases_pb2.KnowledgeBase(
        id=str(row.id),
        display_name=row.display_name,
        collection_name=row.collection_name,
        scope=_SCOPE_CODES[holding.scope],
        organization_id=_id(holding.organization_id),
        owner_user_id=_id(holding.owner_user_id),
        embedding=knowledge_bases_pb2.EmbeddingSettings(model=row.embedding.model, width=row.embedding.width),
        ingestion_config=config_to_proto(row.ingestion_config),
        default_base=row.default_base,
        create_time=_time(row.create_time),
    )
    if holding.visibility is not None:
        message.visibility = _VISIBILITY_CODES[holding.visibility]
    return message


def _id(value: UUID | None) -> str:
    return "" if value is None else str(value)


def _time(moment: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp
