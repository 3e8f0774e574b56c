"""The rows of the audit log."""

from uuid import UUID

import asyncpg

from services.access.audit.events import Entry, Event
from services.access.audit.seals import Seal
from services.access.reach import Caller
from services.shared.db import Connection
from services.shared.ids import uuid7

_RECORD = """
WITH event AS (
    INSERT INTO audit_events (id, organization_id, deployment, actor_kind, actor_user_id, actor_agent_id, actor_service,
                              action, object_kind, object_id, before, after)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (id) DO NOTHING RETURNING id
)
INSERT INTO audit_unsealed (event_id) SELECT id FROM event
"""


async def record(
    connection: Connection, caller: Caller, event: Event, *, event_id: UUID | None = None
) -> None:
    """Write down what the caller did, in the transaction that does it.

    What is heard of more than once has an `event_id` of its own, a UUIDv7, and is written down once.

    Raises ValueError for an event in a log that nobody could read.
    """
    if caller.user_id is None and event.organization_id is None and not event.deployment:
        raise ValueError(f"what a service does is told to no person: {event.action}")
    await connection.execute(
        _RECORD,
        event_id or uuid7(),
        event.organization_id,
        event.deployment,
        caller.kind,
        caller.user_id,
        caller.agent_id,
        caller.service or None,
        event.action,
        event.object_kind,
        event.object_id,
        dict(event.before),
        dict(event.after),
    )


def entry_from_row(row: asyncpg.Record) -> Entry:
    """An event out of a row of `audit_events`."""
    return Entry(
        id=row["id"],
        create_time=row["create_time"],
        organization_id=row["organization_id"],
        deployment=row["deployment"],
        actor_kind=row["actor_kind"],
        actor_user_id=row["actor_user_id"],
        actor_agent_id=row["actor_agent_id"],
        actor_service=row["actor_service"],
        action=row["action"],
        object_kind=row["object_kind"],
        object_id=row["object_id"],
        before=row["before"],
        after=row["after"],
    )


def seal_from_row(row: asyncpg.Record) -> Seal:
    """A seal out of a row of `audit_seals`."""
    return Seal(row["sequence"], row["event_id"], row["previous_hash"], row["hash"])
