"""Organizations and their members: rows, and the changes that roles allow."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

import asyncpg

from acervo.events.v1.facts_pb2 import MemberRemoved
from services.access.audit import ends, log
from services.access.audit.events import Action, Details, Event, ObjectKind, details
from services.access.people.roles import (
    MemberChange,
    Permission,
    Role,
    judge_change,
    may_transfer,
    roles_with,
)
from services.access.reach import Caller
from services.access.refusals import LastOwner, MemberNotFound, OrganizationNotFound, RoleNotExceeded
from services.shared import bus, outbox
from services.shared.db import Connection, Pool
from services.shared.errors import FieldsInvalid, FieldViolation
from services.shared.paging import Page, PageRequest

_INSERT = "INSERT INTO organizations (id, display_name) VALUES ($1, $2) RETURNING create_time"
_NAME = "SELECT display_name FROM organizations WHERE id = $1"
_RENAME = "UPDATE organizations SET display_name = $2 WHERE id = $1 RETURNING create_time"
_PAGE = """
SELECT o.id, o.display_name, o.create_time, m.role
  FROM members m JOIN organizations o ON o.id = m.organization_id
 WHERE m.user_id = $1 AND o.id > $2 ORDER BY o.id LIMIT $3
"""
_ROLE = "SELECT role FROM members WHERE organization_id = $1 AND user_id = $2"
# An organization in which the person has one of these roles: shared, so that it is not deleted, or alone, so that
# nobody else changes its members. Whoever has none is refused by the statement that finds no absent one.
_LOCK = """
SELECT true FROM organizations o
 WHERE o.id = $1 AND EXISTS (SELECT FROM members m
                              WHERE m.organization_id = o.id AND m.user_id = $2 AND m.role = ANY ($3::text[]))
"""
_LOCK_SHARED = f"{_LOCK} FOR KEY SHARE"
_LOCK_ALONE = f"{_LOCK} FOR UPDATE"
_OWNERS = "SELECT count(*) FROM members WHERE organization_id = $1 AND role = 'owner'"
_PUT_MEMBER = """
INSERT INTO members (id, organization_id, user_id, role) VALUES ($1, $2, $3, $4)
ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role
RETURNING id, user_id, role, create_time
"""
_SET_ROLE = """
UPDATE members SET role = $3 WHERE organization_id = $1 AND user_id = $2 RETURNING id, user_id, role, create_time
"""
# Takes along what the person was granted, and the places in teams.
_DELETE_MEMBER = "DELETE FROM members WHERE organization_id = $1 AND user_id = $2"
# Sorted, so that two of these never wait for each other.
_LOCK_OF_MEMBER = """
SELECT o.id FROM organizations o JOIN members m ON m.organization_id = o.id
 WHERE m.user_id = $1 ORDER BY o.id FOR UPDATE OF o
"""
_PLACES = """
SELECT m.organization_id, m.role,
       (SELECT count(*) FROM members x WHERE x.organization_id = m.organization_id AND x.role = 'owner') AS owners
  FROM members m WHERE m.user_id = $1 AND m.organization_id = ANY ($2::uuid[]) ORDER BY m.organization_id
"""
_MEMBERS = """
SELECT id, user_id, role, create_time FROM members
 WHERE organization_id = $1 AND id > $2 ORDER BY id LIMIT $3
"""


@dataclass(frozen=True, slots=True)
class Organization:
    """An organization, as one of its members sees it."""

    id: UUID
    display_name: str
    create_time: datetime
    role: Role
    """The member's own."""

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> Self:
        return cls(row["id"], row["display_name"], row["create_time"], Role(row["role"]))


@dataclass(frozen=True, slots=True)
class Member:
    """A person in an organization. `id` is the membership's."""

    id: UUID
    user_id: UUID
    role: Role
    create_time: datetime

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> Self:
        return cls(row["id"], row["user_id"], Role(row["role"]), row["create_time"])


@dataclass(frozen=True, slots=True)
class Membership:
    """Whose membership of which organization is spoken of."""

    organization_id: UUID
    user_id: UUID


async def found(
    connection: Connection, caller: Caller, organization_id: UUID, display_name: str, *, member_id: UUID
) -> Organization:
    """Make an organization whose only member, the person who calls, owns it. Raises OrganizationNotFound for others."""
    if caller.person is None:
        raise OrganizationNotFound
    made = await connection.fetchval(_INSERT, organization_id, display_name)
    await connection.execute(_PUT_MEMBER, member_id, organization_id, caller.person, Role.OWNER)
    await _record(
        connection,
        caller,
        Action.ORGANIZATION_CREATED,
        organization_id,
        after=details(display_name=display_name),
    )
    return Organization(organization_id, display_name, made, Role.OWNER)


async def rename(
    connection: Connection, caller: Caller, organization_id: UUID, display_name: str
) -> Organization:
    """Call an organization otherwise. Raises OrganizationNotFound."""
    role = await lock_for_change(
        connection, organization_id, caller.person, roles_with(Permission.MEMBERS_MANAGE)
    )
    former = await connection.fetchval(_NAME, organization_id)
    made = await connection.fetchval(_RENAME, organization_id, display_name)
    if former != display_name:
        await _record(
            connection,
            caller,
            Action.ORGANIZATION_RENAMED,
            organization_id,
            before=details(display_name=former),
            after=details(display_name=display_name),
        )
    return Organization(organization_id, display_name, made, role)


async def page(pool: Pool, user_id: UUID | None, wanted: PageRequest) -> Page[Organization]:
    """The organizations that the person is a member of, oldest first."""
    rows = await pool.fetch(_PAGE, user_id, wanted.after, wanted.limit)
    return wanted.cut([Organization.from_row(row) for row in rows])


async def members_page(
    pool: Pool, organization_id: UUID, reader: UUID | None, wanted: PageRequest
) -> Page[Member]:
    """An organization's members, oldest first, for one of them. Raises OrganizationNotFound for others."""
    await check_member(pool, organization_id, reader)
    rows = await pool.fetch(_MEMBERS, organization_id, wanted.after, wanted.limit)
    return wanted.cut([Member.from_row(row) for row in rows])


async def check_member(pool: Pool, organization_id: UUID, reader: UUID | None) -> None:
    """Raise OrganizationNotFound for who is no member."""
    if await pool.fetchval(_ROLE, organization_id, reader) is None:
        raise OrganizationNotFound


async def check_role(pool: Pool, organization_id: UUID, person: UUID | None, roles: Sequence[Role]) -> None:
    """Raise OrganizationNotFound for who has none of the roles."""
    if await pool.fetchval(_ROLE, organization_id, person) not in roles:
        raise OrganizationNotFound


async def find_role(connection: Connection, member: Membership) -> Role | None:
    """The role of a person, under a lock of the organization; None for who is no member."""
    role = await connection.fetchval(_ROLE, member.organization_id, member.user_id)
    return None if role is None else Role(role)


async def lock_for_content(
    connection: Connection, organization_id: UUID, user_id: UUID | None, roles: Sequence[Role]
) -> None:
    """Keep an organization from being deleted until the transaction ends.

    Raises OrganizationNotFound where the person has none of the roles.
    """
    await _lock(connection, _LOCK_SHARED, organization_id, user_id, roles)


async def lock_for_change(
    connection: Connection, organization_id: UUID, user_id: UUID | None, roles: Sequence[Role]
) -> Role:
    """Keep everybody else from changing an organization or its members; return the member's role in it.

    Raises OrganizationNotFound where the person has none of the roles.
    """
    return await _lock(connection, _LOCK_ALONE, organization_id, user_id, roles)


async def _lock(
    connection: Connection, statement: str, organization_id: UUID, user_id: UUID | None, roles: Sequence[Role]
) -> Role:
    if not await connection.fetchval(statement, organization_id, user_id, list(roles)):
        raise OrganizationNotFound
    # Read after the lock was had: who held it before may have changed the role.
    role: str | None = await connection.fetchval(_ROLE, organization_id, user_id)
    if role is None or Role(role) not in roles:
        raise OrganizationNotFound
    return Role(role)


async def put_member(
    connection: Connection, caller: Caller, member: Membership, role: Role, *, member_id: UUID
) -> Member:
    """Take a person in, or change the role of one who is in.

    Raises OrganizationNotFound, RoleNotExceeded or LastOwner.
    """
    present = await _authorise(connection, caller.person, member, wanted=role)
    (row,) = await connection.fetch(_PUT_MEMBER, member_id, member.organization_id, member.user_id, role)
    if present is not role:
        action = Action.MEMBER_ADDED if present is None else Action.MEMBER_CHANGED
        await _record_member(connection, caller, action, member, before=present, after=role)
    return Member.from_row(row)


async def transfer(connection: Connection, caller: Caller, member: Membership) -> Member:
    """Make another member an owner, and the caller, who is one, an admin.

    Raises OrganizationNotFound where the caller is no owner, MemberNotFound, or FieldsInvalid where both are one.
    """
    owners = [role for role in Role if may_transfer(role)]
    await lock_for_change(connection, member.organization_id, caller.person, owners)
    if caller.person == member.user_id:
        raise FieldsInvalid([FieldViolation("user_id", "This must be another member.")])
    if await find_role(connection, member) is None:
        raise MemberNotFound
    await connection.execute(_SET_ROLE, member.organization_id, caller.person, Role.ADMIN)
    (row,) = await connection.fetch(_SET_ROLE, member.organization_id, member.user_id, Role.OWNER)
    await _record(
        connection,
        caller,
        Action.ORGANIZATION_TRANSFERRED,
        member.organization_id,
        before=details(user_id=caller.person),
        after=details(user_id=member.user_id),
    )
    return Member.from_row(row)


async def remove_member(connection: Connection, caller: Caller, member: Membership) -> None:
    """Take a person out, or let the caller leave; effective on that person's next call.

    Raises OrganizationNotFound, MemberNotFound, RoleNotExceeded or LastOwner.
    """
    present = await _authorise(connection, caller.person, member, wanted=None)
    if present is None:
        raise MemberNotFound
    await _remove(connection, caller, member, present)


async def remove_everywhere(connection: Connection, caller: Caller, user_id: UUID) -> Sequence[UUID]:
    """Take a person out of all organizations, which stay locked; return their ids.

    Raises LastOwner, naming the organizations that would be left without one.
    """
    locked = [row["id"] for row in await connection.fetch(_LOCK_OF_MEMBER, user_id)]
    places = {
        row["organization_id"]: (Role(row["role"]), row["owners"])
        for row in await connection.fetch(_PLACES, user_id, locked)
    }
    forlorn = [
        organization_id
        for organization_id, (role, owners) in places.items()
        if judge_change(role, present=role, wanted=None, owners=owners, leaving=True)
        is MemberChange.LAST_OWNER
    ]
    if forlorn:
        raise LastOwner(forlorn)
    for organization_id, (role, _) in places.items():
        await _remove(connection, caller, Membership(organization_id, user_id), role)
    return list(places)


async def _remove(connection: Connection, caller: Caller, member: Membership, role: Role) -> None:
    await ends.of_member(connection, caller, member.organization_id, member.user_id)
    await connection.execute(_DELETE_MEMBER, member.organization_id, member.user_id)
    await _record_member(connection, caller, Action.MEMBER_REMOVED, member, before=role, after=None)
    removed = MemberRemoved(organization_id=str(member.organization_id), user_id=str(member.user_id))
    await outbox.announce(connection, bus.MEMBER_REMOVED, removed)


async def _authorise(
    connection: Connection, giver: UUID | None, member: Membership, *, wanted: Role | None
) -> Role | None:
    """Lock the organization and judge the change; return the role that the person has now."""
    leaving = wanted is None and giver == member.user_id
    roles = tuple(Role) if leaving else roles_with(Permission.MEMBERS_MANAGE)
    role = await lock_for_change(connection, member.organization_id, giver, roles)
    present = await find_role(connection, member)
    owners = await connection.fetchval(_OWNERS, member.organization_id)
    change = judge_change(role, present=present, wanted=wanted, owners=owners, leaving=leaving)
    if change is MemberChange.NOT_EXCEEDED:
        raise RoleNotExceeded
    if change is MemberChange.LAST_OWNER:
        raise LastOwner
    return present


async def _record(
    connection: Connection,
    caller: Caller,
    action: Action,
    organization_id: UUID,
    *,
    before: Details | None = None,
    after: Details | None = None,
) -> None:
    event = Event(
        action, organization_id, ObjectKind.ORGANIZATION, organization_id, before or {}, after or {}
    )
    await log.record(connection, caller, event)


async def _record_member(
    connection: Connection,
    caller: Caller,
    action: Action,
    member: Membership,
    *,
    before: Role | None,
    after: Role | None,
) -> None:
    event = Event(
        action,
        member.organization_id,
        ObjectKind.PERSON,
        member.user_id,
        before=details(role=before),
        after=details(role=after),
    )
    await log.record(connection, caller, event)
