"""The rule of `reach` as the database evaluates it: one predicate, used by every statement that reads bases.

`$1` to `$6` are a `Predicate`'s arguments; a statement's own start at `$7`.
"""

from typing import TypeAlias
from uuid import UUID

from services.access.reach import Caller, CallerKind, Want
from services.access.roles import Role, Scope, roles_reaching

Arguments: TypeAlias = tuple[UUID | None, bool, bool, list[Role], list[Role], list[Role]]

FROM_BASES = """
  FROM knowledge_bases b
  JOIN collection_names n ON n.name = b.collection_name
  LEFT JOIN members m ON m.organization_id = b.organization_id AND m.user_id = $1::uuid
"""

REACHED = """
    ($2::boolean OR b.kind = 'regular' AND CASE b.scope
        WHEN 'app' THEN $3::boolean
        WHEN 'personal' THEN b.owner_user_id = $1 AND (b.organization_id IS NULL OR m.role IS NOT NULL)
        ELSE m.role = ANY ($4::text[])
            OR m.role = ANY ($5::text[]) AND b.visibility = 'org'
            OR m.role = ANY ($6::text[]) AND b.owner_user_id = $1
    END)
"""
"""True where the caller reaches `b`; false or null elsewhere."""


def arguments(caller: Caller, want: Want) -> Arguments:
    """What `$1` to `$6` are: the person, whether everything is reached, whether app bases are, and the roles whose
    scope is ALL, SHARED and OWN at least."""
    is_person = caller.kind is CallerKind.PERSON
    return (
        caller.person,
        caller.kind is CallerKind.SERVICE,
        is_person and (want is Want.VIEW or caller.deployment_admin),
        list(roles_reaching(want.permission, Scope.ALL)),
        list(roles_reaching(want.permission, Scope.SHARED)),
        list(roles_reaching(want.permission, Scope.OWN)),
    )
