"""What each role may do in an organization: a table, and the questions asked of it.

Pure: no clock, no ids, no I/O.
"""

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from types import MappingProxyType


class Scope(IntEnum):
    """How far a permission reaches. Ordered: a wider scope reaches whatever a narrower one does."""

    NONE = 0
    OWN = 1
    """What the person made."""
    SHARED = 2
    """And what is visible to the whole organization."""
    TEAM = 3
    """And what is visible to a team that the person is in."""
    ALL = 4
    """Everything of the organization, private things included."""


class Permission(StrEnum):
    """What can be allowed in an organization."""

    COLLECTIONS_VIEW = "collections:view"
    COLLECTIONS_EDIT = "collections:edit"
    COLLECTIONS_CREATE = "collections:create"
    SECRETS_VIEW = "secrets:view"
    SECRETS_EDIT = "secrets:edit"
    MEMBERS_MANAGE = "members:manage"
    """Members and teams."""
    AUDIT_READ = "audit:read"
    BUDGETS_MANAGE = "budgets:manage"
    ORGANIZATION_DELETE = "organization:delete"
    """An owner's alone, as handing the ownership on is."""


class Role(StrEnum):
    """What a member is, from most to least."""

    OWNER = "owner"
    ADMIN = "admin"
    BUILDER = "builder"
    MEMBER = "member"
    VIEWER = "viewer"


_SCOPES: Mapping[Role, Mapping[Permission, Scope]] = MappingProxyType(
    {
        Role.OWNER: dict.fromkeys(Permission, Scope.ALL),
        Role.ADMIN: {**dict.fromkeys(Permission, Scope.ALL), Permission.ORGANIZATION_DELETE: Scope.NONE},
        Role.BUILDER: {
            Permission.COLLECTIONS_VIEW: Scope.ALL,
            Permission.COLLECTIONS_EDIT: Scope.ALL,
            Permission.COLLECTIONS_CREATE: Scope.OWN,
            Permission.SECRETS_VIEW: Scope.TEAM,
            Permission.SECRETS_EDIT: Scope.OWN,
        },
        Role.MEMBER: {
            Permission.COLLECTIONS_VIEW: Scope.TEAM,
            Permission.COLLECTIONS_EDIT: Scope.OWN,
            Permission.COLLECTIONS_CREATE: Scope.OWN,
            Permission.SECRETS_VIEW: Scope.OWN,
            Permission.SECRETS_EDIT: Scope.OWN,
        },
        Role.VIEWER: {Permission.COLLECTIONS_VIEW: Scope.TEAM},
    }
)


class MemberChange(StrEnum):
    """What becomes of a wish to change who is in an organization."""

    ALLOWED = "allowed"
    NOT_EXCEEDED = "not_exceeded"
    """The giver's authority does not exceed what is given or taken."""
    LAST_OWNER = "last_owner"
    """No owner would be left."""


def scope_of(role: Role | None, permission: Permission) -> Scope:
    """How far `permission` reaches for a member of that role; NONE for somebody who is no member."""
    return Scope.NONE if role is None else _SCOPES[role].get(permission, Scope.NONE)


def allows(role: Role | None, permission: Permission) -> bool:
    """Whether the role has the permission at all, however far it reaches."""
    return scope_of(role, permission) > Scope.NONE


def roles_with(permission: Permission, at_least: Scope = Scope.OWN) -> tuple[Role, ...]:
    """The roles for which the permission reaches so far; by default, those that have it at all."""
    return tuple(role for role in Role if scope_of(role, permission) >= at_least)


def exceeds(giver: Role, other: Role) -> bool:
    """Whether `giver` may do all that `other` may, and something more."""
    pairs = [(scope_of(giver, permission), scope_of(other, permission)) for permission in Permission]
    return all(mine >= theirs for mine, theirs in pairs) and any(mine > theirs for mine, theirs in pairs)


def may_hand_out(giver: Role, role: Role) -> bool:
    """Whether a member may give `role` to somebody, or take it: an owner any, others what their own exceeds."""
    return allows(giver, Permission.MEMBERS_MANAGE) and (giver is Role.OWNER or exceeds(giver, role))


def may_transfer(giver: Role) -> bool:
    """Whether a member may make another one an owner and step down to admin."""
    return giver is Role.OWNER


def judge_change(
    giver: Role, *, present: Role | None, wanted: Role | None, owners: int, leaving: bool = False
) -> MemberChange:
    """Decide on turning a person's `present` role into `wanted`; None stands for "no member".

    `owners` counts the organization's owners before the change. `leaving` is a person's own departure, which
    asks for no authority.
    """
    if not leaving and not all(may_hand_out(giver, role) for role in (present, wanted) if role is not None):
        return MemberChange.NOT_EXCEEDED
    if present is Role.OWNER and wanted is not Role.OWNER and owners <= 1:
        return MemberChange.LAST_OWNER
    return MemberChange.ALLOWED
