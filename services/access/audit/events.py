"""What an audit event tells: who did what to which object, in names and ids.

Pure: no clock, no ids, no I/O.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class ObjectKind(StrEnum):
    """What was acted upon."""

    ORGANIZATION = "organization"
    PERSON = "person"
    TEAM = "team"
    KNOWLEDGE_BASE = "knowledge_base"
    AGENT = "agent"
    GRANT = "grant"
    SECRET = "secret"  # noqa: S105 - the name of a kind
    VAULT = "vault"
    ENDPOINT = "endpoint"
    SYNC_SOURCE = "sync_source"


class Action(StrEnum):
    """What was done: the kind of thing, a dot, and what became of it."""

    ACCOUNT_DELETED = "account.deleted"
    ORGANIZATION_CREATED = "organization.created"
    ORGANIZATION_DELETED = "organization.deleted"
    ORGANIZATION_RENAMED = "organization.renamed"
    ORGANIZATION_TRANSFERRED = "organization.transferred"
    MEMBER_ADDED = "member.added"
    MEMBER_CHANGED = "member.changed"
    MEMBER_REMOVED = "member.removed"
    TEAM_CREATED = "team.created"
    TEAM_RENAMED = "team.renamed"
    TEAM_DELETED = "team.deleted"
    TEAM_MEMBER_ADDED = "team_member.added"
    TEAM_MEMBER_REMOVED = "team_member.removed"
    KNOWLEDGE_BASE_CREATED = "knowledge_base.created"
    KNOWLEDGE_BASE_UPDATED = "knowledge_base.updated"
    KNOWLEDGE_BASE_CONFIRMED = "knowledge_base.confirmed"
    """Its content, of unknown origin till then, is an operator's."""
    KNOWLEDGE_BASE_ADOPTED = "knowledge_base.adopted"
    """An operator's hidden base is an app base."""
    KNOWLEDGE_BASE_EMPTIED = "knowledge_base.emptied"
    KNOWLEDGE_BASE_DELETED = "knowledge_base.deleted"
    AGENT_CREATED = "agent.created"
    AGENT_RENAMED = "agent.renamed"
    AGENT_DELETED = "agent.deleted"
    GRANT_ADDED = "grant.added"
    GRANT_REVOKED = "grant.revoked"
    SECRET_CREATED = "secret.created"  # noqa: S105 - the name of an action
    SECRET_UPDATED = "secret.updated"  # noqa: S105
    SECRET_REPLACED = "secret.replaced"  # noqa: S105
    """It holds something else."""
    SECRET_DELETED = "secret.deleted"  # noqa: S105
    SECRET_BOUND = "secret.bound"  # noqa: S105
    SECRET_UNBOUND = "secret.unbound"  # noqa: S105
    SECRET_OPENED = "secret.opened"  # noqa: S105
    SECRET_REFUSED = "secret.refused"  # noqa: S105
    """A service asked for what it was not given, or what is gone."""
    ENDPOINT_CREATED = "endpoint.created"
    ENDPOINT_UPDATED = "endpoint.updated"
    ENDPOINT_DELETED = "endpoint.deleted"
    VAULT_REWRAPPED = "vault.rewrapped"
    BUDGET_CHANGED = "budget.changed"
    SYNC_SOURCE_CREATED = "sync_source.created"
    SYNC_SOURCE_UPDATED = "sync_source.updated"
    SYNC_SOURCE_DELETED = "sync_source.deleted"


class Detail(StrEnum):
    """What `before` and `after` may tell. Names, ids and choices; no document and no secret has a place here."""

    DISPLAY_NAME = "display_name"
    COLLECTION_NAME = "collection_name"
    KNOWLEDGE_BASE_ID = "knowledge_base_id"
    SCOPE = "scope"
    VISIBILITY = "visibility"
    TEAM_ID = "team_id"
    USER_ID = "user_id"
    AGENT_ID = "agent_id"
    ROLE = "role"
    GRANTEE_KIND = "grantee_kind"
    GRANTEE_ID = "grantee_id"
    PERMISSION = "permission"
    SECRET_ID = "secret_id"  # noqa: S105 - the name of a field
    SECRET_KIND = "secret_kind"  # noqa: S105
    ENDPOINT_KIND = "endpoint_kind"
    ENDPOINT_ID = "endpoint_id"
    BASE_URL = "base_url"
    PROVIDER = "provider"
    PURPOSE = "purpose"
    OUTCOME = "outcome"
    KEY_VERSION = "key_version"
    LIMIT_MICROS = "limit_micros"
    CONNECTOR = "connector"
    SOURCE_ID = "source_id"


Details = Mapping[Detail, str]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was done. Who did it is told by whoever records it."""

    action: Action
    organization_id: UUID | None
    """In whose log it stands. None: in the deployment's, or in that of the person who acted."""
    object_kind: ObjectKind
    object_id: UUID
    before: Details = field(default_factory=dict)
    after: Details = field(default_factory=dict)
    deployment: bool = False
    """Whether it concerns the whole deployment, as app bases do, and is for its admins to read."""

    def __post_init__(self) -> None:
        if self.deployment and self.organization_id is not None:
            raise ValueError("what is an organization's is not the deployment's")
        unknown = {*self.before, *self.after} - set(Detail)
        if unknown:
            raise ValueError(f"an audit event tells nothing of {sorted(unknown)}")


def details(**known: UUID | str | None) -> Details:
    """Details by their names; whatever is None is left out. Raises ValueError for one that there is not."""
    return {Detail(name): str(value) for name, value in known.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Entry:
    """An event as it stands in the log, whichever version wrote it."""

    id: UUID
    """UUIDv7."""
    create_time: datetime
    organization_id: UUID | None
    deployment: bool
    actor_kind: str
    actor_user_id: UUID | None
    """The person, or the one that an agent acted for."""
    actor_agent_id: UUID | None
    actor_service: str | None
    action: str
    object_kind: str
    object_id: UUID
    before: Mapping[str, str]
    after: Mapping[str, str]
