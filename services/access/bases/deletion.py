"""Deleting bases and organizations. Locks are taken in the order organization, name, base, secret."""

from collections.abc import Callable, Sequence
from uuid import UUID

import asyncpg

from acervo.events.v1.facts_pb2 import OrganizationDeleted
from services.access import grants
from services.access.audit import ends, log
from services.access.audit.bases import of_base
from services.access.audit.events import Action, Event, ObjectKind, details
from services.access.bases import knowledge_bases, names, teardowns
from services.access.bases.knowledge_bases import holding_from_row
from services.access.bases.teardown import begin
from services.access.people import organizations
from services.access.people.roles import Permission, roles_with
from services.access.reach import Caller, Want
from services.access.refusals import BaseInUse, BaseNotFound
from services.access.vault import changing
from services.shared import bus, outbox
from services.shared.db import Connection

NewId = Callable[[], UUID]
"""Makes UUIDv7s."""

_BASES = "SELECT * FROM knowledge_bases WHERE organization_id = $1 ORDER BY id FOR UPDATE"
_DELETE = "DELETE FROM organizations WHERE id = $1 RETURNING display_name"


async def delete_base(connection: Connection, caller: Caller, base_id: UUID, new_id: NewId) -> None:
    """Delete a base, or empty an organization's default, and start its teardown.

    Waits for whoever is at work on the name. Raises BaseNotFound where the caller may not edit the base, BaseInUse
    where it would go and agents hold it.
    """
    seen = await knowledge_bases.find(connection, caller, base_id, Want.EDIT)
    if seen is None:
        raise BaseNotFound
    await names.lock(connection, seen.collection_name)
    base = await knowledge_bases.lock(connection, caller, base_id, Want.EDIT)
    if base is None:
        raise BaseNotFound
    if not base.default_base:
        held, agents = await grants.agents_of(connection, caller, base_id)
        if held:
            raise BaseInUse(agents)
    holders = await names.count_holders(connection, [base.collection_name])
    teardown = begin(
        new_id(),
        base_id=base.id,
        collection_name=base.collection_name,
        keep_base=base.default_base,
        other_holders=holders[base.collection_name] - 1,
        watermark=new_id(),
    )
    if not base.default_base:
        await knowledge_bases.delete(connection, [base.id])
    await teardowns.start(connection, [teardown])
    event = of_base(
        Action.KNOWLEDGE_BASE_EMPTIED if base.default_base else Action.KNOWLEDGE_BASE_DELETED,
        base.id,
        base.holding,
        display_name=base.display_name,
        collection_name=base.collection_name,
    )
    await log.record(connection, caller, event)


async def delete_organization(
    connection: Connection, caller: Caller, organization_id: UUID, new_id: NewId
) -> None:
    """Delete an organization with its members, its secrets and all of its bases, the default one included.

    Raises OrganizationNotFound where the caller may not.
    """
    roles = roles_with(Permission.ORGANIZATION_DELETE)
    await organizations.lock_for_change(connection, organization_id, caller.person, roles)
    await names.lock_of_organization(connection, organization_id)
    rows = await connection.fetch(_BASES, organization_id)
    await take_down(connection, caller, rows, new_id, owner_gone=True)
    await changing.delete_of_organization(connection, caller, organization_id)
    await ends.of_organization(connection, caller, organization_id)
    name = await connection.fetchval(_DELETE, organization_id)
    event = Event(
        Action.ORGANIZATION_DELETED,
        organization_id,
        ObjectKind.ORGANIZATION,
        organization_id,
        before=details(display_name=name),
    )
    await log.record(connection, caller, event)
    deleted = OrganizationDeleted(organization_id=str(organization_id))
    await outbox.announce(connection, bus.ORGANIZATION_DELETED, deleted)


async def take_down(
    connection: Connection,
    caller: Caller,
    rows: Sequence[asyncpg.Record],
    new_id: NewId,
    *,
    owner_gone: bool = False,
) -> None:
    """Delete bases for good, whose names and rows are locked, and start their teardowns.

    `owner_gone`: the organization or the person that they belonged to goes too.
    """
    holders = await names.count_holders(connection, [row["collection_name"] for row in rows])
    started = []
    for row in rows:
        holders[row["collection_name"]] -= 1
        started.append(
            begin(
                new_id(),
                base_id=row["id"],
                collection_name=row["collection_name"],
                keep_base=False,
                other_holders=holders[row["collection_name"]],
                watermark=new_id(),
                owner_gone=owner_gone,
            )
        )
    await knowledge_bases.delete(connection, [row["id"] for row in rows])
    await teardowns.start(connection, started)
    for row in rows:
        event = of_base(
            Action.KNOWLEDGE_BASE_DELETED,
            row["id"],
            holding_from_row(row),
            display_name=row["display_name"],
            collection_name=row["collection_name"],
        )
        await log.record(connection, caller, event)
