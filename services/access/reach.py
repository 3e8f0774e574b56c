"""Who may reach which knowledge base, and why: the rule that every listing, reading and `Resolve` obeys.

Pure: no clock, no ids, no I/O. `reach_sql` says the same in SQL; a test runs both over one table of cases.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from services.access.people.roles import Permission, Role, Scope, scope_of


class BaseScope(StrEnum):
    """Whose a base is."""

    PERSONAL = "personal"
    ORG = "org"
    APP = "app"


class Visibility(StrEnum):
    """Which members' scopes reach an organization's base."""

    PRIVATE = "private"
    TEAM = "team"
    """Those of one team."""
    ORG = "org"


class BaseKind(StrEnum):
    """What a base is for. All but the regular ones are hidden: the deployment's admin alone reads and writes them, by
    their ids."""

    REGULAR = "regular"
    OPERATOR = "operator"
    """Holds what an operator ingested without naming a base."""
    LEGACY_UNKNOWN = "legacy_unknown"
    """Holds content of unknown origin, which nobody is shown until an operator vouches for it."""


class Want(StrEnum):
    """What a caller wants to do with a base."""

    VIEW = "view"
    EDIT = "edit"
    MANAGE = "manage"
    """Say who else may view and edit it. For its owner, and for those who edit everything; nobody is granted it."""


class Grantee(StrEnum):
    """Who can be granted a base."""

    USER = "user"
    TEAM = "team"
    AGENT = "agent"


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
    agent_id: UUID | None = None
    """The agent, if it is one."""

    def __post_init__(self) -> None:
        if (self.kind is CallerKind.AGENT) != (self.agent_id is not None):
            raise ValueError("an agent, and nobody else, has an agent's id")

    @property
    def person(self) -> UUID | None:
        """Whose roles and possessions the caller has: None for agents and services, who have none."""
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
    team_id: UUID | None = None
    """Which team it is visible to; None but for that visibility."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What ties a caller to a base. An agent has the role of the person it acts for, and grants of its own."""

    role: Role | None = None
    """In the base's organization; None for who is no member."""
    in_team: bool = False
    """Whether the person is in the team that the base is visible to."""
    grants: frozenset[tuple[Grantee, Want]] = frozenset()
    """What was granted to the person, to teams that the person is in, or to the agent."""


class Ground(StrEnum):
    """What lets a caller at a base. One is enough."""

    SERVICE = "service"
    APP = "app"
    DEPLOYMENT_ADMIN = "deployment_admin"
    PERSONAL = "personal"
    OWN = "own"
    ORGANIZATION = "organization"
    TEAM = "team"
    ROLE = "role"
    USER_GRANT = "user_grant"
    TEAM_GRANT = "team_grant"
    AGENT_GRANT = "agent_grant"


def reaches(caller: Caller, standing: Standing, base: Holding, want: Want) -> bool:
    """Whether the caller may do what they want with the base."""
    return bool(grounds(caller, standing, base, want))


def grounds(caller: Caller, standing: Standing, base: Holding, want: Want) -> tuple[Ground, ...]:
    """Everything that lets the caller do what they want with the base, in the order of `Ground`; empty: may not."""
    if caller.kind is CallerKind.SERVICE:
        return (Ground.SERVICE,)
    if base.kind is not BaseKind.REGULAR:
        return (Ground.DEPLOYMENT_ADMIN,) if base.kind in open_kinds(caller, want) else ()
    judged = _of_agent if caller.kind is CallerKind.AGENT else _of_person
    met = judged(caller, standing, base, want)
    return tuple(ground for ground in Ground if met.get(ground))


def open_kinds(caller: Caller, want: Want) -> frozenset[BaseKind]:
    """The kinds of the bases of scope APP that a person reaches, whom no organization and no grant has to do with."""
    if caller.kind is not CallerKind.PERSON:
        return frozenset()
    if not caller.deployment_admin:
        return frozenset({BaseKind.REGULAR}) if want is Want.VIEW else frozenset()
    return frozenset({BaseKind.REGULAR}) if want is Want.MANAGE else frozenset(BaseKind)


def _of_agent(caller: Caller, standing: Standing, base: Holding, want: Want) -> dict[Ground, bool]:
    """An agent has what was granted to it, where the person it acts for has a place."""
    admitted = {
        BaseScope.APP: want is Want.VIEW,
        BaseScope.PERSONAL: _possesses(caller, standing, base),
        BaseScope.ORG: standing.role is not None,
    }
    return {Ground.AGENT_GRANT: admitted[base.scope] and _granted(standing, Grantee.AGENT, want)}


def _of_person(caller: Caller, standing: Standing, base: Holding, want: Want) -> dict[Ground, bool]:
    if base.scope is BaseScope.APP:
        return {Ground.APP: want is Want.VIEW, Ground.DEPLOYMENT_ADMIN: caller.deployment_admin}
    if base.scope is BaseScope.PERSONAL:
        return {Ground.PERSONAL: _possesses(caller, standing, base)}
    scope = reach_of(standing.role, want)
    member = standing.role is not None
    return {
        Ground.OWN: scope >= Scope.OWN and _owns(caller, base),
        Ground.ORGANIZATION: scope >= Scope.SHARED and base.visibility is Visibility.ORG,
        Ground.TEAM: scope >= Scope.TEAM and base.visibility is Visibility.TEAM and standing.in_team,
        Ground.ROLE: scope is Scope.ALL,
        Ground.USER_GRANT: member and _granted(standing, Grantee.USER, want),
        Ground.TEAM_GRANT: member and _granted(standing, Grantee.TEAM, want),
    }


def _owns(caller: Caller, base: Holding) -> bool:
    return caller.user_id is not None and caller.user_id == base.owner_user_id


def _possesses(caller: Caller, standing: Standing, base: Holding) -> bool:
    """Whether a personal base is that of the caller, or of the person that an agent acts for."""
    return _owns(caller, base) and (base.organization_id is None or standing.role is not None)


def _granted(standing: Standing, grantee: Grantee, want: Want) -> bool:
    return any((grantee, granted) in standing.grants for granted in sufficient_grants(want))


def sufficient_grants(want: Want) -> tuple[Want, ...]:
    """The grants of which each lets somebody do what they want."""
    return {Want.VIEW: (Want.VIEW, Want.EDIT), Want.EDIT: (Want.EDIT,), Want.MANAGE: ()}[want]


def reach_of(role: Role | None, want: Want) -> Scope:
    """Which of an organization's bases a member may do that with, by the role alone."""
    if want is Want.VIEW:
        return scope_of(role, Permission.COLLECTIONS_VIEW)
    edits = scope_of(role, Permission.COLLECTIONS_EDIT)
    if want is Want.EDIT or edits is Scope.ALL:
        return edits
    return Scope.NONE if role is None else Scope.OWN


class GrantFault(StrEnum):
    """Why a base cannot be granted so, whoever grants it."""

    NOT_SHARED = "not_shared"
    """People and teams are granted organizations' bases alone."""
    READ_ONLY = "read_only"
    """Agents do not edit what everybody reads."""


def fault_of_grant(base: Holding, grantee: Grantee, granted: Want) -> GrantFault | None:
    """What is wrong with granting a base so; None: nothing."""
    if grantee is not Grantee.AGENT and base.scope is not BaseScope.ORG:
        return GrantFault.NOT_SHARED
    if granted is Want.EDIT and base.scope is BaseScope.APP:
        return GrantFault.READ_ONLY
    return None


@dataclass(frozen=True, slots=True)
class Targets:
    """What a `Resolve` names: bases by id, and collections by name, which stand for no hidden base."""

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
