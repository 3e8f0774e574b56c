"""What the audit log tells of the sources of sync, which says by a fact what became of one."""

from dataclasses import dataclass
from uuid import UUID

from services.access.audit import log
from services.access.audit.events import Action, Event, ObjectKind, details
from services.access.reach import Caller, CallerKind
from services.shared.db import Connection

# Of a base that is gone, its own last event tells. What a member's personal base is called is not told.
_STOOD = """
SELECT organization_id, scope = 'app' AS deployment, 1 AS place,
       CASE WHEN scope <> 'personal' OR organization_id IS NULL THEN collection_name END AS collection_name
  FROM knowledge_bases WHERE id = $1
UNION ALL
(SELECT organization_id, deployment, 2, coalesce(after ->> 'collection_name', before ->> 'collection_name')
   FROM audit_events WHERE object_kind = 'knowledge_base' AND object_id = $1 ORDER BY id DESC LIMIT 1)
ORDER BY place LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Stood:
    """In which log a base stands, or stood, and what its collection is called there."""

    organization_id: UUID | None = None
    deployment: bool = False
    collection_name: str | None = None

    def same_log(self, other: "Stood") -> bool:
        """Whether whoever reads of one base may read of the other."""
        return (self.organization_id, self.deployment) == (other.organization_id, other.deployment)


@dataclass(frozen=True, slots=True)
class SourceChange:
    """What a person did to a source."""

    action: Action
    source_id: UUID
    connector: str
    base_id: UUID
    """Of the base that it fills, or filled."""
    previous_base_id: UUID | None
    """Of the one that it left; None: none."""
    secret_id: UUID | None
    cloned_source_id: UUID | None
    """Of the source that it was cloned from."""


async def record(connection: Connection, actor: UUID, change: SourceChange, *, change_id: UUID) -> None:
    """Write down a change, once for each `change_id`, in the log in which its base stands."""
    stood = await _find(connection, change.base_id)
    left = None if change.previous_base_id is None else await _find(connection, change.previous_base_id)
    event = event_of(change, stood, left)
    await log.record(connection, Caller(CallerKind.PERSON, actor), event, event_id=change_id)


async def _find(connection: Connection, base_id: UUID) -> Stood:
    row = await connection.fetchrow(_STOOD, base_id)
    return (
        Stood() if row is None else Stood(row["organization_id"], row["deployment"], row["collection_name"])
    )


def event_of(change: SourceChange, stood: Stood, left: Stood | None) -> Event:
    """A change as the log tells it: what it fills, with which secret, and which base it left."""
    told = details(
        connector=change.connector,
        knowledge_base_id=change.base_id,
        collection_name=stood.collection_name,
        secret_id=change.secret_id,
        source_id=change.cloned_source_id,
    )
    before = details(
        knowledge_base_id=change.previous_base_id,
        collection_name=left.collection_name if left is not None and left.same_log(stood) else None,
    )
    gone = change.action is Action.SYNC_SOURCE_DELETED
    return Event(
        change.action,
        stood.organization_id,
        ObjectKind.SYNC_SOURCE,
        change.source_id,
        before=told if gone else before,
        after={} if gone else told,
        deployment=stood.deployment,
    )
