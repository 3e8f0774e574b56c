"""Grants on bases: given, listed, taken back, and told as reasons why somebody reaches a base."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

import asyncpg

from services.access.audit import log
from services.access.audit.events import Action, Event, ObjectKind, details
from services.access.bases import knowledge_bases
from services.access.bases.knowledge_bases import KnowledgeBase
from services.access.people import agents, organizations, teams
from services.access.people.organizations import Membership
from services.access.people.roles import Role
from services.access.reach import (
    BaseScope,
    Caller,
    CallerKind,
    Grantee,
    GrantFault,
    Ground,
    Standing,
    Want,
    fault_of_grant,
    grounds,
)
from services.access.reach_sql import FROM_BASES, REACHED, arguments
from services.access.refusals import (
    AgentNotFound,
    BaseNotFound,
    GrantNotFound,
    MemberNotFound,
    OrganizationNotFound,
)
from services.shared.db import Connection, Pool
from services.shared.errors import FieldsInvalid, FieldViolation
from services.shared.paging import Page, PageRequest

# Adding never narrows: who may edit goes on editing.
_PUT = """
INSERT INTO grants (id, knowledge_base_id, organization_id, grantee_kind, grantee_id, permission, giver_user_id)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (grantee_id, grantee_kind, knowledge_base_id) DO UPDATE
   SET permission = CASE excluded.permission WHEN 'edit' THEN 'edit' ELSE grants.permission END
RETURNING *, old.permission AS permission_before
"""
_PAGE = "SELECT * FROM grants WHERE knowledge_base_id = $1 AND id > $2 ORDER BY id LIMIT $3"
_FIND = f"""
SELECT r.*, b.scope {FROM_BASES} JOIN grants r ON r.knowledge_base_id = b.id WHERE r.id = $10 AND {REACHED}
"""
_LOCK = f"{_FIND} FOR UPDATE OF r"
_DELETE = "DELETE FROM grants WHERE id = $1"
_AGENTS = """
SELECT a.id, a.display_name, g.giver_user_id FROM grants g JOIN agents a ON a.id = g.agent_id
 WHERE g.knowledge_base_id = $1 ORDER BY g.id
"""
# What ties somebody ($2; an agent of theirs: $3) to a base.
_STANDING = """
SELECT m.role,
       EXISTS (SELECT FROM team_members t WHERE t.team_id = b.team_id AND t.user_id = $2) AS in_team,
       ARRAY(SELECT ARRAY[g.grantee_kind, g.permission] FROM grants g
              WHERE g.knowledge_base_id = b.id AND CASE
                    WHEN $3::uuid IS NOT NULL THEN g.grantee_kind = 'agent' AND g.grantee_id = $3
                    WHEN g.grantee_kind = 'user' THEN g.grantee_id = $2
                    ELSE g.team_id IN (SELECT t.team_id FROM team_members t WHERE t.user_id = $2) END) AS grants
  FROM knowledge_bases b
  LEFT JOIN members m ON m.organization_id = b.organization_id AND m.user_id = $2
 WHERE b.id = $1
"""
_FAULTS: Mapping[GrantFault, FieldViolation] = {
    GrantFault.NOT_SHARED: FieldViolation(
        "knowledge_base_id", "Only a base of scope ORG can be granted to people and teams."
    ),
    GrantFault.READ_ONLY: FieldViolation("permission", "An app base can be granted for viewing alone."),
}


@dataclass(frozen=True, slots=True)
class GrantWish:
    """What somebody wants to grant to whom."""

    base_id: UUID
    grantee: Grantee
    grantee_id: UUID
    permission: Want


@dataclass(frozen=True, slots=True)
class Grant:
    """What was granted to whom."""

    id: UUID
    knowledge_base_id: UUID
    grantee: Grantee
    grantee_id: UUID
    permission: Want
    giver_user_id: UUID
    create_time: datetime

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> Self:
        return cls(
            id=row["id"],
            knowledge_base_id=row["knowledge_base_id"],
            grantee=Grantee(row["grantee_kind"]),
            grantee_id=row["grantee_id"],
            permission=Want(row["permission"]),
            giver_user_id=row["giver_user_id"],
            create_time=row["create_time"],
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """What somebody may do with a base, and why."""

    role: Role | None
    view: tuple[Ground, ...]
    edit: tuple[Ground, ...]


async def add(connection: Connection, caller: Caller, wish: GrantWish, *, grant_id: UUID) -> Grant:
    """Grant a base, or widen what was granted.

    Raises BaseNotFound where the caller does not manage the base, or grants what they may not do; FieldsInvalid where
    such a base cannot be granted so; MemberNotFound, TeamNotFound or AgentNotFound where its organization has no such
    grantee.
    """
    base = await _lock(connection, caller, wish)
    fault = fault_of_grant(base.holding, wish.grantee, wish.permission)
    if fault is not None:
        raise FieldsInvalid([_FAULTS[fault]])
    await _check_grantee(connection, caller, base.holding.organization_id, wish)
    try:
        (row,) = await connection.fetch(
            _PUT,
            grant_id,
            base.id,
            base.holding.organization_id,
            wish.grantee,
            wish.grantee_id,
            wish.permission,
            caller.person,
        )
    except asyncpg.ForeignKeyViolationError:  # a person's own agent, deleted at this very moment
        raise AgentNotFound from None
    grant, before = Grant.from_row(row), row["permission_before"]
    if before != grant.permission:
        scope = base.holding.scope
        event = _event(
            Action.GRANT_ADDED, grant, base.holding.organization_id, scope, before, grant.permission
        )
        await log.record(connection, caller, event)
    return grant


def _event(
    action: Action,
    grant: Grant,
    organization_id: UUID | None,
    scope: BaseScope,
    before: str | None,
    after: str | None,
) -> Event:
    """What was granted before and after; None: nothing."""
    named: dict[str, UUID | str] = {
        "knowledge_base_id": grant.knowledge_base_id,
        "grantee_kind": grant.grantee,
        "grantee_id": grant.grantee_id,
    }
    return Event(
        action,
        organization_id,
        ObjectKind.GRANT,
        grant.id,
        before={} if before is None else details(**named, permission=before),
        after={} if after is None else details(**named, permission=after),
        deployment=scope is BaseScope.APP,
    )


async def _lock(connection: Connection, caller: Caller, wish: GrantWish) -> KnowledgeBase:
    """Keep base, members and teams from being deleted; locks are taken in the order organization, base."""
    seen = await knowledge_bases.find(connection, caller, wish.base_id, Want.MANAGE)
    if seen is None:
        raise BaseNotFound
    if seen.holding.organization_id is not None:
        try:
            await organizations.lock_for_content(
                connection, seen.holding.organization_id, caller.person, tuple(Role)
            )
        except OrganizationNotFound:
            raise BaseNotFound from None
    base = await knowledge_bases.lock_shared(connection, caller, wish.base_id, Want.MANAGE)
    if base is None or await knowledge_bases.find(connection, caller, base.id, wish.permission) is None:
        raise BaseNotFound
    return base


async def _check_grantee(
    connection: Connection, caller: Caller, organization_id: UUID | None, wish: GrantWish
) -> None:
    if wish.grantee is Grantee.AGENT:
        await agents.check_grantable(connection, caller, wish.grantee_id, organization_id)
    elif organization_id is None:
        return
    elif wish.grantee is Grantee.TEAM:
        await teams.check_exists(connection, organization_id, wish.grantee_id)
    elif await organizations.find_role(connection, Membership(organization_id, wish.grantee_id)) is None:
        raise MemberNotFound


async def page(pool: Pool, caller: Caller, base_id: UUID, wanted: PageRequest) -> Page[Grant]:
    """The grants on a base, oldest first. Raises BaseNotFound where the caller does not manage it."""
    if await knowledge_bases.find(pool, caller, base_id, Want.MANAGE) is None:
        raise BaseNotFound
    rows = await pool.fetch(_PAGE, base_id, wanted.after, wanted.limit)
    return wanted.cut([Grant.from_row(row) for row in rows])


async def revoke(connection: Connection, caller: Caller, grant_id: UUID) -> None:
    """Take a grant back. Raises GrantNotFound where the caller does not manage its base."""
    arguments_ = *arguments(caller, Want.MANAGE), grant_id
    # Asked again once it is held: a statement that waited has the rights of before beside the grant of now.
    row = await connection.fetchrow(_LOCK, *arguments_) and await connection.fetchrow(_FIND, *arguments_)
    if row is None:
        raise GrantNotFound
    await connection.execute(_DELETE, grant_id)
    grant, scope = Grant.from_row(row), BaseScope(row["scope"])
    event = _event(Action.GRANT_REVOKED, grant, row["organization_id"], scope, grant.permission, None)
    await log.record(connection, caller, event)


async def agents_of(connection: Connection, caller: Caller, base_id: UUID) -> tuple[bool, Mapping[UUID, str]]:
    """Whether agents hold a base, under its lock, and the names of those of which the caller may know: of all for who
    manages the base, else of the ones that the caller granted."""
    rows = await connection.fetch(_AGENTS, base_id)
    if not rows:
        return False, {}
    manages = await knowledge_bases.find(connection, caller, base_id, Want.MANAGE) is not None
    told = [row for row in rows if manages or row["giver_user_id"] == caller.person]
    return True, {row["id"]: row["display_name"] for row in told}


async def explain(pool: Pool, caller: Caller, base_id: UUID, subject: Caller) -> Explanation:
    """Why somebody may view or edit a base. Raises BaseNotFound where the caller does not manage it."""
    base = await knowledge_bases.find(pool, caller, base_id, Want.MANAGE)
    if base is None:
        raise BaseNotFound
    standing = await find_standing(pool, base_id, subject)
    return Explanation(
        role=standing.role if subject.kind is CallerKind.PERSON else None,
        view=grounds(subject, standing, base.holding, Want.VIEW),
        edit=grounds(subject, standing, base.holding, Want.EDIT),
    )


async def find_standing(connection: "Pool | Connection", base_id: UUID, subject: Caller) -> Standing:
    """What ties a person or an agent to a base; nothing, where there is none."""
    row = await connection.fetchrow(_STANDING, base_id, subject.user_id, subject.agent_id)
    if row is None:
        return Standing()
    return Standing(
        role=None if row["role"] is None else Role(row["role"]),
        in_team=row["in_team"],
        grants=frozenset((Grantee(kind), Want(permission)) for kind, permission in row["grants"]),
    )
