"""Agents: an organization's, or a person's own. Grants go before agents, as locks are taken everywhere."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

import asyncpg

from services.access.audit import ends, log
from services.access.audit.events import Action, Details, Event, ObjectKind, details
from services.access.people import organizations
from services.access.people.roles import Permission, roles_with
from services.access.reach import Caller
from services.access.refusals import AgentNotFound, OrganizationNotFound
from services.shared.db import Connection, Pool
from services.shared.paging import Page, PageRequest

_INSERT = """
INSERT INTO agents (id, organization_id, owner_user_id, display_name) VALUES ($1, $2, $3, $4) RETURNING *
"""
_PAGE = "SELECT * FROM agents WHERE organization_id = $1 AND id > $2 ORDER BY id LIMIT $3"
_OWN_PAGE = "SELECT * FROM agents WHERE owner_user_id = $1 AND id > $2 ORDER BY id LIMIT $3"
_FIND = """
SELECT a.* FROM agents a
  LEFT JOIN members m ON m.organization_id = a.organization_id AND m.user_id = $2
 WHERE a.id = $1 AND (a.owner_user_id = $2 OR m.role = ANY ($3::text[]))
"""
_RENAME = "UPDATE agents SET display_name = $2 WHERE id = $1 RETURNING *"
_REVOKE = "DELETE FROM grants WHERE agent_id = $1"
_DELETE = "DELETE FROM agents WHERE id = $1 RETURNING true"
_REVOKE_OWN = "DELETE FROM grants WHERE agent_id IN (SELECT id FROM agents WHERE owner_user_id = $1)"
_DELETE_OWN = "DELETE FROM agents WHERE owner_user_id = $1 RETURNING *"
_GRANTABLE = """
SELECT true FROM agents
 WHERE id = $1 AND (organization_id = $2 OR $2::uuid IS NULL AND owner_user_id = $3)
"""
_MANAGERS = list(roles_with(Permission.MEMBERS_MANAGE))


@dataclass(frozen=True, slots=True)
class Agent:
    """A program that acts for people, and reaches what was granted to it."""

    id: UUID
    organization_id: UUID | None
    owner_user_id: UUID | None
    """None but for a person's own."""
    display_name: str
    create_time: datetime

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> Self:
        return cls(
            id=row["id"],
            organization_id=row["organization_id"],
            owner_user_id=row["owner_user_id"],
            display_name=row["display_name"],
            create_time=row["create_time"],
        )


async def create(
    connection: Connection, caller: Caller, organization_id: UUID | None, display_name: str, *, agent_id: UUID
) -> Agent:
    """Register an agent of an organization, or of the caller's own. Raises OrganizationNotFound or AgentNotFound."""
    if organization_id is not None:
        await organizations.lock_for_change(connection, organization_id, caller.person, _MANAGERS)
    elif caller.person is None:
        raise AgentNotFound
    owner = caller.person if organization_id is None else None
    (row,) = await connection.fetch(_INSERT, agent_id, organization_id, owner, display_name)
    agent = Agent.from_row(row)
    await _record(connection, caller, Action.AGENT_CREATED, agent, after=details(display_name=display_name))
    return agent


async def page(
    pool: Pool, organization_id: UUID | None, reader: UUID | None, wanted: PageRequest
) -> Page[Agent]:
    """An organization's agents, for one of its members, or the reader's own, oldest first.

    Raises OrganizationNotFound for others.
    """
    if organization_id is None:
        rows = await pool.fetch(_OWN_PAGE, reader, wanted.after, wanted.limit)
    else:
        await organizations.check_member(pool, organization_id, reader)
        rows = await pool.fetch(_PAGE, organization_id, wanted.after, wanted.limit)
    return wanted.cut([Agent.from_row(row) for row in rows])


async def rename(connection: Connection, caller: Caller, agent_id: UUID, display_name: str) -> Agent:
    """Call an agent otherwise. Raises AgentNotFound."""
    agent = await _lock(connection, caller, agent_id)
    row = await connection.fetchrow(_RENAME, agent_id, display_name)
    if row is None:
        raise AgentNotFound
    if agent.display_name != display_name:
        before, after = details(display_name=agent.display_name), details(display_name=display_name)
        await _record(connection, caller, Action.AGENT_RENAMED, agent, before=before, after=after)
    return Agent.from_row(row)


async def delete(connection: Connection, caller: Caller, agent_id: UUID) -> None:
    """End an agent, with all that was granted to it. Raises AgentNotFound."""
    agent = await _lock(connection, caller, agent_id)
    await ends.of_agent(connection, caller, agent_id)
    await connection.execute(_REVOKE, agent_id)
    if not await connection.fetchval(_DELETE, agent_id):
        raise AgentNotFound
    await _record(
        connection, caller, Action.AGENT_DELETED, agent, before=details(display_name=agent.display_name)
    )


async def delete_own(connection: Connection, caller: Caller, user_id: UUID) -> None:
    """End all agents that are a person's own, with what was granted to them."""
    await connection.execute(_REVOKE_OWN, user_id)
    for row in await connection.fetch(_DELETE_OWN, user_id):
        agent = Agent.from_row(row)
        await _record(
            connection, caller, Action.AGENT_DELETED, agent, before=details(display_name=agent.display_name)
        )


async def check_grantable(
    connection: Connection, caller: Caller, agent_id: UUID, organization_id: UUID | None
) -> None:
    """Raise AgentNotFound where the agent is none of the organization's, or of the caller's own where there is none."""
    if not await connection.fetchval(_GRANTABLE, agent_id, organization_id, caller.person):
        raise AgentNotFound


async def _lock(connection: Connection, caller: Caller, agent_id: UUID) -> Agent:
    """An agent that the caller may change, and its organization locked. Raises AgentNotFound."""
    row = await connection.fetchrow(_FIND, agent_id, caller.person, _MANAGERS)
    if row is None:
        raise AgentNotFound
    agent = Agent.from_row(row)
    if agent.organization_id is not None:
        try:
            await organizations.lock_for_change(connection, agent.organization_id, caller.person, _MANAGERS)
        except OrganizationNotFound:
            raise AgentNotFound from None
        row = await connection.fetchrow(_FIND, agent_id, caller.person, _MANAGERS)
        if row is None:
            raise AgentNotFound
    return Agent.from_row(row)


async def _record(
    connection: Connection,
    caller: Caller,
    action: Action,
    agent: Agent,
    *,
    before: Details | None = None,
    after: Details | None = None,
) -> None:
    event = Event(action, agent.organization_id, ObjectKind.AGENT, agent.id, before or {}, after or {})
    await log.record(connection, caller, event)
