"""What the audit log tells of the sources of sync, which says by a fact what became of one."""

from dataclasses import dataclass
from uuid import UUID

from services.access.audit import log
from services.access.audit.events import Action, Event, ObjectKind, details
from services.access.reach import Caller, CallerKind
from services.shared.db import Connection

# Of a base that is gone, its own last event tells where it stood.
_STOOD = """
SELECT organization_id, scope = 'app' AS deployment, 1 AS place FROM knowledge_bases WHERE id = $1
UNION ALL
(SELECT organization_id, deployment, 2 FROM audit_events
  WHERE object_kind = 'knowledge_base' AND object_id = $1 ORDER BY id DESC LIMIT 1)
ORDER BY place LIMIT 1
"""


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
    stood = await connection.fetchrow(_STOOD, change.base_id)
    event = event_of(
        change,
        organization_id=None if stood is None else stood["organization_id"],
        deployment=stood is not None and stood["deployment"],
    )
    await log.record(connection, Caller(CallerKind.PERSON, actor), event, event_id=change_id)


def event_of(change: SourceChange, *, organization_id: UUID | None, deployment: bool) -> Event:
    """A change as the log tells it: what it fills, with which secret, and which base it left."""
    told = details(
        connector=change.connector,
        knowledge_base_id=change.base_id,
        secret_id=change.secret_id,
        source_id=change.cloned_source_id,
    )
    gone = change.action is Action.SYNC_SOURCE_DELETED
    return Event(
        change.action,
        organization_id,
        ObjectKind.SYNC_SOURCE,
        change.source_id,
        before=told if gone else details(knowledge_base_id=change.previous_base_id),
        after={} if gone else told,
        deployment=deployment,
    )
