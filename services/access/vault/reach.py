"""Who sees and changes which secret. Bases have grants; secrets go by roles and visibilities alone.

Pure: no clock, no ids, no I/O. `REACHED` in `secrets` says the same in SQL; a test runs both over one table of cases.
"""

from dataclasses import dataclass
from uuid import UUID

from services.access.people.roles import Permission, Role, Scope, scope_of
from services.access.reach import Caller, Visibility


@dataclass(frozen=True, slots=True)
class Keeping:
    """What decides on access to a secret."""

    organization_id: UUID
    owner_user_id: UUID | None
    visibility: Visibility
    team_id: UUID | None = None
    """Which team it is visible to; None but for that visibility."""


def reaches(
    caller: Caller, role: Role | None, secret: Keeping, permission: Permission, *, in_team: bool
) -> bool:
    """Whether a person of that role in the secret's organization has the permission on it; nobody else has."""
    if caller.person is None:
        return False
    scope = scope_of(role, permission)
    return (
        scope is Scope.ALL
        or (scope >= Scope.TEAM and secret.visibility is Visibility.TEAM and in_team)
        or (scope >= Scope.SHARED and secret.visibility is Visibility.ORG)
        or (scope >= Scope.OWN and secret.owner_user_id == caller.person)
    )
