"""Who may reach which knowledge base: the rule that every listing, reading and `Resolve` obeys.

Pure: no clock, no ids, no I/O. `reach_sql` says the same in SQL; a test runs both over one table of cases.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from services.access.roles import Permission, Role, Scope, scope_of


class BaseScope(StrEnum):
    """Whose a base is."""

    PERSONAL = "personal"
    ORG = "org"
    APP = "app"


class Visibility(StrEnum):
    """Which members' scopes reach an organization's base."""

    PRIVATE = "private"
    ORG = "org"


class BaseKind(StrEnum):
    """What a base is for. All but the regular ones are hidden: no person lists, reads or writes them."""

    REGULAR = "regular"
    OPERATOR = "operator"
    """Holds what an operator ingested without naming a base."""
    LEGACY_UNKNOWN = "legacy_unknown"
    """Holds content of unknown origin."""


class Want(StrEnum):
    """What a caller wants to do with a base."""

    VIEW = "view"
    EDIT = "edit"

    @property
    def permission(self) -> Permission:
        """The permission that an organization's member needs for it."""
        return Permission.COLLECTIONS_VIEW if self is Want.VIEW else Permission.COLLECTIONS_EDIT


class CallerKind(StrEnum):
    """What calls."""

    PERSON = "person"
    AGENT = "agent"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, as far as access is concerned."""

    kind: CallerKind
    user_id: UUID | None
    """The person, or the one that an agent acts for; None for services."""
    deployment_admin: bool = False
    """Never true of agents and services."""
    service: str = ""
    """The name of the service, if it is one."""

    @property
    def person(self) -> UUID | None:
        """The caller's own membership and ownership go by this: None for agents and services, who have none."""
        return self.user_id if self.kind is CallerKind.PERSON else None


@dataclass(frozen=True, slots=True)
class Holding:
    """What decides on access to a base."""

    kind: BaseKind
    scope: BaseScope
    organization_id: UUID | None
    owner_user_id: UUID | None
    visibility: Visibility | None
    """None but for organizations' bases."""


def reaches(caller: Caller, role: Role | None, base: Holding, want: Want) -> bool:
    """Whether the caller, who has `role` in the base's organization, may do what they want with the base."""
    if caller.kind is CallerKind.SERVICE:
        return True
    if caller.kind is CallerKind.AGENT or base.kind is not BaseKind.REGULAR:
        return False
    owned = caller.person is not None and caller.person == base.owner_user_id
    if base.scope is BaseScope.APP:
        return want is Want.VIEW or caller.deployment_admin
    if base.scope is BaseScope.PERSONAL:
        return owned and (base.organization_id is None or role is not None)
    return _covers(scope_of(role, want.permission), owned=owned, visibility=base.visibility)


def _covers(scope: Scope, *, owned: bool, visibility: Visibility | None) -> bool:
    if scope >= Scope.SHARED and visibility is Visibility.ORG:
        return True
    return scope is Scope.ALL or (scope >= Scope.OWN and owned)


@dataclass(frozen=True, slots=True)
class Targets:
    """What a `Resolve` names: bases by id, and collections by name."""

    ids: frozenset[UUID]
    names: frozenset[str]


class Settlement(StrEnum):
    """What becomes of a `Resolve`."""

    ALLOWED = "allowed"
    NOT_FOUND = "not_found"
    """A target reaches nothing, which refuses them all."""
    AMBIGUOUS = "ambiguous"
    """A name stands for several bases, and a write needs one."""


def settle(targets: Targets, reached: Iterable[tuple[UUID, str]], want: Want) -> Settlement:
    """Decide on a `Resolve` by the (id, collection name) of each base that the caller reaches."""
    bases = tuple(reached)
    holders = Counter(name for _, name in bases)
    if not targets.ids <= {base_id for base_id, _ in bases} or not targets.names <= holders.keys():
        return Settlement.NOT_FOUND
    if want is Want.EDIT and any(holders[name] > 1 for name in targets.names):
        return Settlement.AMBIGUOUS
    return Settlement.ALLOWED
