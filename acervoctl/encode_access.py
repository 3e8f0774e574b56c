"""The messages of access as JSON for scripts. Keys are stable; new ones may be added."""

from typing import Any

from google.protobuf.json_format import MessageToDict

from acervo.access.v1.access_pb2 import Permission
from acervo.access.v1.agents_pb2 import Agent
from acervo.access.v1.audit_pb2 import AuditEvent, AuditFault, VerifyAuditResponse
from acervo.access.v1.budgets_pb2 import Budget
from acervo.access.v1.endpoints_pb2 import Endpoint, EndpointKind
from acervo.access.v1.grants_pb2 import ExplainAccessResponse, Grant, Ground
from acervo.access.v1.knowledge_bases_pb2 import BaseKind, KnowledgeBase, Visibility
from acervo.access.v1.organizations_pb2 import Member, Organization, Role
from acervo.access.v1.secrets_pb2 import Secret, SecretKind
from acervo.access.v1.teams_pb2 import Team
from acervoctl.encode import scope_name


def role_name(role: Role) -> str:
    """`owner` to `viewer`; empty for who is no member."""
    return _word(Role.Name(role), "ROLE_")


def kind_name(kind: BaseKind) -> str:
    """`regular`, `operator` or `legacy_unknown`."""
    return _word(BaseKind.Name(kind), "BASE_KIND_")


def organization(message: Organization) -> dict[str, Any]:
    """An organization with the caller's role in it."""
    return {
        "id": message.id,
        "display_name": message.display_name,
        "role": role_name(message.role),
        "created_at": message.create_time.ToJsonString(),
    }


def member(message: Member) -> dict[str, Any]:
    """A person in an organization."""
    return {
        "user_id": message.user_id,
        "role": role_name(message.role),
        "joined_at": message.create_time.ToJsonString(),
    }


def team(message: Team) -> dict[str, Any]:
    """A team."""
    return {
        "id": message.id,
        "display_name": message.display_name,
        "organization_id": message.organization_id,
        "created_at": message.create_time.ToJsonString(),
    }


def knowledge_base(message: KnowledgeBase) -> dict[str, Any]:
    """A base and who may reach it."""
    return {
        "id": message.id,
        "collection": message.collection_name,
        "display_name": message.display_name,
        "kind": kind_name(message.kind),
        "scope": scope_name(message.scope),
        "visibility": _word(Visibility.Name(message.visibility), "VISIBILITY_"),
        "organization_id": message.organization_id,
        "team_id": message.team_id,
        "owner_user_id": message.owner_user_id,
        "default": message.default_base,
        "model": message.embedding.model,
        "width": message.embedding.width,
        "embedding_provider": message.embedding_provider,
        "embedding_secret_id": message.embedding_secret_id,
        "embedding_endpoint_id": message.embedding_endpoint_id,
        "embedding_base_url": message.embedding_base_url,
        "ingestion_config": MessageToDict(message.ingestion_config, preserving_proto_field_name=True),
        "created_at": message.create_time.ToJsonString(),
    }


def agent(message: Agent) -> dict[str, Any]:
    """An agent: an organization's, or a person's own."""
    return {
        "id": message.id,
        "display_name": message.display_name,
        "organization_id": message.organization_id,
        "owner_user_id": message.owner_user_id,
        "created_at": message.create_time.ToJsonString(),
    }


def grant(message: Grant) -> dict[str, Any]:
    """A grant; `to` is `user`, `team` or `agent`."""
    field = message.WhichOneof("grantee") or ""
    return {
        "id": message.id,
        "knowledge_base_id": message.knowledge_base_id,
        "to": field.removesuffix("_id"),
        "grantee_id": getattr(message, field, ""),
        "permission": _word(Permission.Name(message.permission), "PERMISSION_"),
        "giver_user_id": message.giver_user_id,
        "granted_at": message.create_time.ToJsonString(),
    }


def secret(message: Secret) -> dict[str, Any]:
    """A secret; what it holds is never answered."""
    return {
        "id": message.id,
        "kind": _word(SecretKind.Name(message.kind), "SECRET_KIND_"),
        "display_name": message.display_name,
        "hint": message.hint,
        "visibility": _word(Visibility.Name(message.visibility), "VISIBILITY_"),
        "organization_id": message.organization_id,
        "team_id": message.team_id,
        "owner_user_id": message.owner_user_id,
        "created_at": message.create_time.ToJsonString(),
        "updated_at": message.update_time.ToJsonString(),
        "value_set_at": message.value_time.ToJsonString(),
    }


def endpoint(message: Endpoint) -> dict[str, Any]:
    """An endpoint; one without an organization is the deployment's."""
    return {
        "id": message.id,
        "kind": _word(EndpointKind.Name(message.kind), "ENDPOINT_KIND_"),
        "display_name": message.display_name,
        "base_url": message.base_url,
        "organization_id": message.organization_id,
        "owner_user_id": message.owner_user_id,
        "created_at": message.create_time.ToJsonString(),
        "updated_at": message.update_time.ToJsonString(),
    }


def explanation(message: ExplainAccessResponse) -> dict[str, Any]:
    """What somebody may do, and why; nothing to view it by means that the base is out of reach."""
    return {
        "role": role_name(message.role),
        "view": [_word(Ground.Name(ground), "GROUND_") for ground in message.view],
        "edit": [_word(Ground.Name(ground), "GROUND_") for ground in message.edit],
    }


def audit_event(message: AuditEvent) -> dict[str, Any]:
    """An event of the audit log; `seal` is null while it has none."""
    seal = message.seal
    return {
        "id": message.id,
        "create_time": message.create_time.ToJsonString(),
        "organization_id": message.organization_id,
        "deployment": message.deployment,
        "actor_user_id": message.actor_user_id,
        "actor_agent_id": message.actor_agent_id,
        "actor_service": message.actor_service,
        "action": message.action,
        "object_kind": message.object_kind,
        "object_id": message.object_id,
        "before": dict(message.before),
        "after": dict(message.after),
        "seal": {"sequence": seal.sequence, "hash": seal.hash.hex()} if message.HasField("seal") else None,
    }


def verification(message: VerifyAuditResponse) -> dict[str, Any]:
    """How far the audit chain was found right; `broken` is null where it is whole."""
    broken = message.broken
    return {
        "head": f"{message.head.sequence}:{message.head.hash.hex()}",
        "sealed": message.head.sequence,
        "waiting": message.waiting_count,
        "waiting_since": message.oldest_waiting_time.ToJsonString() if message.waiting_count else None,
        "broken": {
            "fault": _word(AuditFault.Name(broken.fault), "AUDIT_FAULT_"),
            "sequence": broken.sequence,
            "event_id": broken.event_id,
        }
        if message.HasField("broken")
        else None,
    }


def budget(message: Budget) -> dict[str, Any]:
    """A budget in micro-dollars, and what the month has come to. `limit_micros` is null where there is none."""
    return {
        "organization_id": message.organization_id,
        "limit_micros": message.limit_micros if message.HasField("limit_micros") else None,
        "spent_micros": message.spent_micros,
        "reserved_micros": message.reserved_micros,
        "period_start": message.period_start_time.ToJsonString(),
        "period_end": message.period_end_time.ToJsonString(),
    }


def _word(name: str, prefix: str) -> str:
    word = name.removeprefix(prefix).lower()
    return "" if word == "unspecified" else word
