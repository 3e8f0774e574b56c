"""The rule of `reach` as the database evaluates it: one predicate, used by every statement that reads bases.

`$1` to `$9` are a `Predicate`'s arguments; a statement's own start at `$10`.
"""

from typing import TypeAlias
from uuid import UUID

from services.access.people.roles import Role, Scope
from services.access.reach import BaseKind, Caller, CallerKind, Want, open_kinds, reach_of, sufficient_grants
from services.shared.db import Connection

Arguments: TypeAlias = tuple[
    UUID | None, bool, list[BaseKind], list[Role], list[Role], list[Role], list[Role], UUID | None, list[Want]
]

FROM_BASES = """
  FROM knowledge_bases b
  JOIN collection_names n ON n.name = b.collection_name
  LEFT JOIN members m ON m.organization_id = b.organization_id AND m.user_id = $1::uuid
"""

# `{each}` stands where a subquery is asked for each base (`OFFSET 0`: it cannot be answered for all at once) or not.
_GRANTED = """
    EXISTS (SELECT FROM grants g
             WHERE g.knowledge_base_id = b.id AND g.grantee_kind = '{kind}' AND g.grantee_id = {grantee}
               AND g.permission = ANY ($9::text[]) {{each}})
"""
_GRANTED_TO_USER = _GRANTED.format(kind="user", grantee="$1")
_GRANTED_TO_AGENT = _GRANTED.format(kind="agent", grantee="$8")
_GRANTED_TO_TEAM = """
    EXISTS (SELECT FROM grants g JOIN team_members t ON t.team_id = g.grantee_id AND t.user_id = $1
             WHERE g.knowledge_base_id = b.id AND g.grantee_kind = 'team'
               AND g.permission = ANY ($9::text[]) {each})
"""
_IN_TEAM = "EXISTS (SELECT FROM team_members t WHERE t.team_id = b.team_id AND t.user_id = $1 {each})"
_POSSESSED = "b.owner_user_id = $1 AND (b.organization_id IS NULL OR m.role IS NOT NULL)"
_REACHED = f"""
    ($2::boolean OR CASE
        WHEN b.kind <> 'regular' THEN b.kind = ANY ($3::text[])
        WHEN $8::uuid IS NOT NULL THEN CASE b.scope
            WHEN 'app' THEN 'view' = ANY ($9::text[])
            WHEN 'personal' THEN {_POSSESSED}
            ELSE m.role IS NOT NULL
        END AND {_GRANTED_TO_AGENT}
        WHEN b.scope = 'app' THEN b.kind = ANY ($3::text[])
        WHEN b.scope = 'personal' THEN {_POSSESSED}
        ELSE m.role = ANY ($4::text[])
            OR m.role = ANY ($6::text[]) AND b.visibility = 'org'
            OR m.role = ANY ($7::text[]) AND b.owner_user_id = $1
            OR m.role = ANY ($5::text[]) AND b.visibility = 'team' AND {_IN_TEAM}
            OR m.role IS NOT NULL AND ({_GRANTED_TO_USER} OR {_GRANTED_TO_TEAM})
    END)
"""

REACHED = _REACHED.format(each="OFFSET 0")
"""True where the caller reaches `b`; false or null elsewhere. For few bases, however much the caller was granted."""

REACHED_AMONG_MANY = _REACHED.format(each="")
"""The same for many bases: what the caller was granted is read once."""

NEAR = """
    (b.organization_id = ANY (ARRAY(SELECT o.organization_id FROM members o WHERE o.user_id = $1))
        OR b.owner_user_id = $1 OR b.scope = 'app')
"""
"""True of every base that a person or an agent can reach: what a listing looks at, found by indexes."""


async def prepare(connection: Connection) -> None:
    """Have a connection plan each statement once: to plan the predicate takes five times as long as to run it."""
    await connection.execute("SET plan_cache_mode = force_generic_plan")


def arguments(caller: Caller, want: Want) -> Arguments:
    """What `$1` to `$9` are.

    The person who calls or is acted for, whether everything is reached, which kinds of app bases are, the roles that
    reach ALL, TEAM, SHARED and OWN at least, the agent, and the grants that suffice.
    """
    return (
        caller.user_id,
        caller.kind is CallerKind.SERVICE,
        sorted(open_kinds(caller, want)),
        _roles(want, Scope.ALL),
        _roles(want, Scope.TEAM),
        _roles(want, Scope.SHARED),
        _roles(want, Scope.OWN),
        caller.agent_id,
        list(sufficient_grants(want)),
    )


def _roles(want: Want, at_least: Scope) -> list[Role]:
    return [role for role in Role if reach_of(role, want) >= at_least]
