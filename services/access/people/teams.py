"""Teams of organizations, and who is in them. Changes are made under the lock of the organization."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

import asyncpg

from services.access.audit import ends, log
from services.access.audit.events import Action, Details, Event, ObjectKind, details
from services.access.people import organizations
from services.access.people.organizations import Membership
from services.access.people.roles import Permission, roles_with
from services.access.reach import Caller
from services.access.refusals import MemberNotFound, TeamNotFound
from services.shared.db import Connection, Pool
from services.shared.paging import Page, PageRequest

_INSERT = "INSERT INTO teams (id, organization_id, display_name) VALUES ($1, $2, $3) RETURNING *"
_PAGE = "SELECT * FROM teams WHERE organization_id = $1 AND id > $2 ORDER BY id LIMIT $3"
_RENAME = "UPDATE teams SET display_name = $2 WHERE id = $1 RETURNING *"
_DELETE = "DELETE FROM teams WHERE id = $1"
_HIDE_BASES = "UPDATE knowledge_bases SET visibility = 'private', team_id = NULL WHERE team_id = $1"
_HIDE_SECRETS = "UPDATE secrets SET visibility = 'private', team_id = NULL WHERE team_id = $1"
_EXISTS = "SELECT true FROM teams WHERE id = $1 AND organization_id = $2"
# A team of which the caller may do this: with a role, or because it is every member's right.
_AUTHORISED = """
SELECT t.*
  FROM teams t
  JOIN organizations o ON o.id = t.organization_id
  JOIN members m ON m.organization_id = t.organization_id AND m.user_id = $2
 WHERE t.id = $1 AND (m.role = ANY ($3::text[]) OR $4::boolean)
"""
_LOCK = f"{_AUTHORISED} FOR UPDATE OF o"
_PUT_MEMBER = """
INSERT INTO team_members (id, team_id, organization_id, user_id) VALUES ($1, $2, $3, $4)
ON CONFLICT (team_id, user_id) DO NOTHING RETURNING true
"""
_DELETE_MEMBER = "DELETE FROM team_members WHERE team_id = $1 AND user_id = $2 RETURNING true"
_MEMBERS = "SELECT id, user_id FROM team_members WHERE team_id = $1 AND id > $2 ORDER BY id LIMIT $3"
_MANAGERS = list(roles_with(Permission.MEMBERS_MANAGE))


@dataclass(frozen=True, slots=True)
class Team:
    """Members of an organization that bases can be visible, and granted, to."""

    id: UUID
    organization_id: UUID
    display_name: str
    create_time: datetime

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> Self:
        return cls(row["id"], row["organization_id"], row["display_name"], row["create_time"])


@dataclass(frozen=True, slots=True)
class TeamMember:
    """A person in a team. `id` is that of being in it."""

    id: UUID
    user_id: UUID


async def create(
    connection: Connection, caller: Caller, organization_id: UUID, display_name: str, *, team_id: UUID
) -> Team:
    """Make an empty team. Raises OrganizationNotFound."""
    await organizations.lock_for_change(connection, organization_id, caller.person, _MANAGERS)
    (row,) = await connection.fetch(_INSERT, team_id, organization_id, display_name)
    team = Team.from_row(row)
    await _record(connection, caller, Action.TEAM_CREATED, team, after=details(display_name=display_name))
    return team


async def page(pool: Pool, organization_id: UUID, reader: UUID | None, wanted: PageRequest) -> Page[Team]:
    """An organization's teams, oldest first, for one of its members. Raises OrganizationNotFound for others."""
    await organizations.check_member(pool, organization_id, reader)
    rows = await pool.fetch(_PAGE, organization_id, wanted.after, wanted.limit)
    return wanted.cut([Team.from_row(row) for row in rows])


async def rename(connection: Connection, caller: Caller, team_id: UUID, display_name: str) -> Team:
    """Call a team otherwise. Raises TeamNotFound."""
    team = await _lock(connection, caller, team_id)
    (row,) = await connection.fetch(_RENAME, team_id, display_name)
    if team.display_name != display_name:
        before, after = details(display_name=team.display_name), details(display_name=display_name)
        await _record(connection, caller, Action.TEAM_RENAMED, team, before=before, after=after)
    return Team.from_row(row)


async def delete(connection: Connection, caller: Caller, team_id: UUID) -> None:
    """Delete a team with what was granted to it; what was visible to it turns private. Raises TeamNotFound."""
    team = await _lock(connection, caller, team_id)
    await ends.of_team(connection, caller, team_id)
    await connection.execute(_HIDE_BASES, team_id)
    await connection.execute(_HIDE_SECRETS, team_id)
    await connection.execute(_DELETE, team_id)
    await _record(
        connection, caller, Action.TEAM_DELETED, team, before=details(display_name=team.display_name)
    )


async def put_member(
    connection: Connection, caller: Caller, team_id: UUID, user_id: UUID, *, member_id: UUID
) -> None:
    """Take a member of the organization into a team. Raises TeamNotFound or MemberNotFound."""
    team = await _lock(connection, caller, team_id)
    if await organizations.find_role(connection, Membership(team.organization_id, user_id)) is None:
        raise MemberNotFound
    if await connection.fetchval(_PUT_MEMBER, member_id, team_id, team.organization_id, user_id):
        await log.record(connection, caller, _of_member(Action.TEAM_MEMBER_ADDED, team, user_id))


async def remove_member(connection: Connection, caller: Caller, team_id: UUID, user_id: UUID) -> None:
    """Take a person out of a team, or let the caller leave. Raises TeamNotFound or MemberNotFound."""
    team = await _lock(connection, caller, team_id, anyone=caller.person == user_id)
    if not await connection.fetchval(_DELETE_MEMBER, team_id, user_id):
        raise MemberNotFound
    await log.record(connection, caller, _of_member(Action.TEAM_MEMBER_REMOVED, team, user_id))


async def members_page(
    pool: Pool, team_id: UUID, reader: UUID | None, wanted: PageRequest
) -> Page[TeamMember]:
    """Who is in a team, in the order of coming in, for members of its organization. Raises TeamNotFound."""
    if await pool.fetchval(_AUTHORISED, team_id, reader, _MANAGERS, True) is None:
        raise TeamNotFound
    rows = await pool.fetch(_MEMBERS, team_id, wanted.after, wanted.limit)
    return wanted.cut([TeamMember(row["id"], row["user_id"]) for row in rows])


async def check_exists(connection: Connection, organization_id: UUID, team_id: UUID) -> None:
    """Raise TeamNotFound where the organization, of which a lock is held, has no such team."""
    if not await connection.fetchval(_EXISTS, team_id, organization_id):
        raise TeamNotFound


async def _lock(connection: Connection, caller: Caller, team_id: UUID, *, anyone: bool = False) -> Team:
    """Lock the organization of a team that the caller may change; return the team. Raises TeamNotFound."""
    arguments = (team_id, caller.person, _MANAGERS, anyone)
    if await connection.fetchval(_LOCK, *arguments) is None:
        raise TeamNotFound
    # Asked again once the lock was had: who held it before may have changed the answer.
    row = await connection.fetchrow(_AUTHORISED, *arguments)
    if row is None:
        raise TeamNotFound
    return Team.from_row(row)


async def _record(
    connection: Connection,
    caller: Caller,
    action: Action,
    team: Team,
    *,
    before: Details | None = None,
    after: Details | None = None,
) -> None:
    event = Event(action, team.organization_id, ObjectKind.TEAM, team.id, before or {}, after or {})
    await log.record(connection, caller, event)


def _of_member(action: Action, team: Team, user_id: UUID) -> Event:
    told = details(team_id=team.id, display_name=team.display_name)
    added = action is Action.TEAM_MEMBER_ADDED
    return Event(
        action,
        team.organization_id,
        ObjectKind.PERSON,
        user_id,
        before={} if added else told,
        after=told if added else {},
    )
