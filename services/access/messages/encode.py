"""From the rows of access to what goes over the wire."""

from datetime import UTC, date, datetime, time
from uuid import UUID

from google.protobuf.timestamp_pb2 import Timestamp

from acervo.access.v1 import (
    access_pb2,
    agents_pb2,
    audit_pb2,
    budgets_pb2,
    collections_pb2,
    grants_pb2,
    knowledge_bases_pb2,
    organizations_pb2,
    teams_pb2,
)
from services.access.audit.reading import Logged
from services.access.bases.knowledge_bases import KnowledgeBase
from services.access.bases.unowned import Provenance
from services.access.budget import Month, next_period
from services.access.grants import Explanation, Grant
from services.access.messages.decode import PERMISSIONS, ROLES, SCOPES, VISIBILITIES
from services.access.people.agents import Agent
from services.access.people.organizations import Member, Organization
from services.access.people.teams import Team
from services.access.reach import BaseKind, Caller, Ground
from services.shared.ingestion_config_codec import config_to_proto

_ROLE_CODES = {role: code for code, role in ROLES.items()}
_SCOPE_CODES = {scope: code for code, scope in SCOPES.items()}
_VISIBILITY_CODES = {visibility: code for code, visibility in VISIBILITIES.items()}
_PERMISSION_CODES = {want: code for code, want in PERMISSIONS.items()}
_KIND_CODES = {
    BaseKind.REGULAR: knowledge_bases_pb2.BASE_KIND_REGULAR,
    BaseKind.OPERATOR: knowledge_bases_pb2.BASE_KIND_OPERATOR,
    BaseKind.LEGACY_UNKNOWN: knowledge_bases_pb2.BASE_KIND_LEGACY_UNKNOWN,
}
_GROUND_CODES = {
    Ground.APP: grants_pb2.GROUND_APP,
    Ground.DEPLOYMENT_ADMIN: grants_pb2.GROUND_DEPLOYMENT_ADMIN,
    Ground.PERSONAL: grants_pb2.GROUND_PERSONAL,
    Ground.OWN: grants_pb2.GROUND_OWN,
    Ground.ORGANIZATION: grants_pb2.GROUND_ORGANIZATION,
    Ground.TEAM: grants_pb2.GROUND_TEAM,
    Ground.ROLE: grants_pb2.GROUND_ROLE,
    Ground.USER_GRANT: grants_pb2.GROUND_USER_GRANT,
    Ground.TEAM_GRANT: grants_pb2.GROUND_TEAM_GRANT,
    Ground.AGENT_GRANT: grants_pb2.GROUND_AGENT_GRANT,
}


def who(caller: Caller) -> access_pb2.WhoAmIResponse:
    """Who calls."""
    return access_pb2.WhoAmIResponse(
        user_id=_id(caller.user_id),
        service=caller.service,
        deployment_admin=caller.deployment_admin,
        agent_id=_id(caller.agent_id),
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


def knowledge_base(row: KnowledgeBase, *, key: bool = False) -> knowledge_bases_pb2.KnowledgeBase:
    """A base, every field set; which key it embeds with only where `key` is to be told."""
    holding = row.holding
    message = knowledge_bases_pb2.KnowledgeBase(
        id=str(row.id),
        display_name=row.display_name,
        collection_name=row.collection_name,
        scope=_SCOPE_CODES[holding.scope],
        organization_id=_id(holding.organization_id),
        owner_user_id=_id(holding.owner_user_id),
        team_id=_id(holding.team_id),
        embedding=knowledge_bases_pb2.EmbeddingSettings(model=row.embedding.model, width=row.embedding.width),
        embedding_provider=row.serving.provider,
        embedding_secret_id=_id(row.serving.secret_id) if key else "",
        embedding_endpoint_id=_id(row.serving.endpoint_id),
        embedding_base_url=row.serving.base_url,
        ingestion_config=config_to_proto(row.ingestion_config),
        default_base=row.default_base,
        create_time=_time(row.create_time),
        kind=_KIND_CODES[holding.kind],
    )
    if holding.visibility is not None:
        message.visibility = _VISIBILITY_CODES[holding.visibility]
    return message


def provenance(found: Provenance) -> collections_pb2.InspectProvenanceResponse:
    """What a collection is made of."""
    counts = [
        collections_pb2.ProvenanceCount(
            kind=_KIND_CODES[count.kind], base_count=count.bases, knowledge_base_ids=map(str, count.ids)
        )
        for count in found.counts
    ]
    return collections_pb2.InspectProvenanceResponse(counts=counts, teardown_count=found.teardowns)


def team(row: Team) -> teams_pb2.Team:
    """A team, every field set."""
    return teams_pb2.Team(
        id=str(row.id),
        organization_id=str(row.organization_id),
        display_name=row.display_name,
        create_time=_time(row.create_time),
    )


def agent(row: Agent) -> agents_pb2.Agent:
    """An agent, every field set that it has."""
    return agents_pb2.Agent(
        id=str(row.id),
        organization_id=_id(row.organization_id),
        owner_user_id=_id(row.owner_user_id),
        display_name=row.display_name,
        create_time=_time(row.create_time),
    )


def grant(row: Grant) -> grants_pb2.Grant:
    """A grant, every field set."""
    message = grants_pb2.Grant(
        id=str(row.id),
        knowledge_base_id=str(row.knowledge_base_id),
        permission=_PERMISSION_CODES[row.permission],
        giver_user_id=str(row.giver_user_id),
        create_time=_time(row.create_time),
    )
    setattr(message, f"{row.grantee}_id", str(row.grantee_id))
    return message


def explanation(why: Explanation) -> grants_pb2.ExplainAccessResponse:
    """Why somebody reaches a base."""
    return grants_pb2.ExplainAccessResponse(
        role=organizations_pb2.ROLE_UNSPECIFIED if why.role is None else _ROLE_CODES[why.role],
        view=[_GROUND_CODES[ground] for ground in why.view],
        edit=[_GROUND_CODES[ground] for ground in why.edit],
    )


def audit_event(row: Logged) -> audit_pb2.AuditEvent:
    """An event of the audit log."""
    entry, seal = row.entry, row.seal
    message = audit_pb2.AuditEvent(
        id=str(entry.id),
        create_time=_time(entry.create_time),
        organization_id=_id(entry.organization_id),
        deployment=entry.deployment,
        actor_user_id=_id(entry.actor_user_id),
        actor_agent_id=_id(entry.actor_agent_id),
        actor_service=entry.actor_service or "",
        action=entry.action,
        object_kind=entry.object_kind,
        object_id=str(entry.object_id),
        before=entry.before,
        after=entry.after,
    )
    if seal is not None:
        message.seal.sequence = seal.sequence
        message.seal.previous_hash = seal.previous_hash
        message.seal.hash = seal.hash
    return message


def budget(organization_id: UUID, month: Month, period: date) -> budgets_pb2.Budget:
    """A budget, and what the month has come to."""
    return budgets_pb2.Budget(
        organization_id=str(organization_id),
        limit_micros=month.limit,
        spent_micros=month.spent,
        reserved_micros=month.reserved,
        period_start_time=_time(datetime.combine(period, time(), UTC)),
        period_end_time=_time(datetime.combine(next_period(period), time(), UTC)),
    )


def reserved(until: datetime) -> budgets_pb2.ReserveSpendResponse:
    """An amount set aside."""
    return budgets_pb2.ReserveSpendResponse(expire_time=_time(until))


def _id(value: UUID | None) -> str:
    return "" if value is None else str(value)


def _time(moment: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp
