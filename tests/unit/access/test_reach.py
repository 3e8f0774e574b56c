"""Who may reach which base, as a table, and what holds of all callers and bases."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.access.people.roles import Role, Scope
from services.access.reach import (
    BaseKind,
    BaseScope,
    Caller,
    CallerKind,
    Grantee,
    GrantFault,
    Ground,
    Holding,
    Settlement,
    Standing,
    Targets,
    Visibility,
    Want,
    fault_of_grant,
    grounds,
    reach_of,
    reaches,
    settle,
)

ANA, BEA, ORG, TEAM = UUID(int=1), UUID(int=2), UUID(int=9), UUID(int=8)
VIEW, EDIT, MANAGE = Want


def person(user_id: UUID, *, admin: bool = False) -> Caller:
    return Caller(CallerKind.PERSON, user_id, admin)


def member(role: Role | None = None, *grants: tuple[Grantee, Want], in_team: bool = False) -> Standing:
    return Standing(role, in_team, frozenset(grants))


AGENT = Caller(CallerKind.AGENT, ANA, agent_id=UUID(int=7))
OTHERS_AGENT = Caller(CallerKind.AGENT, BEA, agent_id=UUID(int=7))
SERVICE = Caller(CallerKind.SERVICE, None, service="ingest")
PERSONAL = Holding(BaseKind.REGULAR, BaseScope.PERSONAL, None, ANA, None)
PERSONAL_IN_ORG = Holding(BaseKind.REGULAR, BaseScope.PERSONAL, ORG, ANA, None)
SHARED = Holding(BaseKind.REGULAR, BaseScope.ORG, ORG, ANA, Visibility.ORG)
TEAMS = Holding(BaseKind.REGULAR, BaseScope.ORG, ORG, ANA, Visibility.TEAM, TEAM)
PRIVATE = Holding(BaseKind.REGULAR, BaseScope.ORG, ORG, ANA, Visibility.PRIVATE)
APP = Holding(BaseKind.REGULAR, BaseScope.APP, None, BEA, None)
OPERATOR = Holding(BaseKind.OPERATOR, BaseScope.APP, None, None, None)
UNKNOWN = Holding(BaseKind.LEGACY_UNKNOWN, BaseScope.APP, None, None, None)
BASES = (PERSONAL, PERSONAL_IN_ORG, SHARED, TEAMS, PRIVATE, APP, OPERATOR)

TO_USER, TO_TEAM, TO_AGENT = ((grantee, VIEW) for grantee in Grantee)
EDIT_TO_USER, EDIT_TO_TEAM, EDIT_TO_AGENT = ((grantee, EDIT) for grantee in Grantee)

callers = st.builds(person, st.sampled_from([ANA, BEA]), admin=st.booleans()) | st.sampled_from(
    [AGENT, OTHERS_AGENT, SERVICE]
)
bases = st.sampled_from(BASES)
roles = st.none() | st.sampled_from(Role)
grants = st.frozensets(st.tuples(st.sampled_from(Grantee), st.sampled_from([VIEW, EDIT])))
standings = st.builds(Standing, roles, st.booleans(), grants)
wants = st.sampled_from(Want)


@pytest.mark.parametrize(
    ("caller", "standing", "base", "wants"),
    [
        (person(ANA), member(), PERSONAL, "view edit manage"),
        (person(BEA), member(), PERSONAL, ""),
        (person(BEA, admin=True), member(), PERSONAL, ""),
        (person(BEA), member(None, EDIT_TO_USER, EDIT_TO_TEAM), PERSONAL, ""),
        (person(ANA), member(Role.VIEWER), PERSONAL_IN_ORG, "view edit manage"),
        (person(ANA), member(), PERSONAL_IN_ORG, ""),
        (person(BEA), member(Role.OWNER), PERSONAL_IN_ORG, ""),
        (person(BEA), member(Role.OWNER), SHARED, "view edit manage"),
        (person(BEA), member(Role.ADMIN), PRIVATE, "view edit manage"),
        (person(BEA), member(Role.BUILDER), PRIVATE, "view edit manage"),
        (person(BEA), member(Role.MEMBER), SHARED, "view"),
        (person(BEA), member(Role.MEMBER), PRIVATE, ""),
        (person(ANA), member(Role.MEMBER), PRIVATE, "view edit manage"),
        (person(ANA), member(Role.MEMBER), SHARED, "view edit manage"),
        (person(ANA), member(Role.VIEWER), PRIVATE, "view manage"),
        (person(BEA), member(Role.VIEWER), SHARED, "view"),
        (person(ANA), member(), SHARED, ""),
        (person(ANA, admin=True), member(), SHARED, ""),
        (person(BEA), member(Role.MEMBER, in_team=True), TEAMS, "view"),
        (person(BEA), member(Role.VIEWER, in_team=True), TEAMS, "view"),
        (person(BEA), member(Role.MEMBER), TEAMS, ""),
        (person(BEA), member(Role.BUILDER), TEAMS, "view edit manage"),
        (person(BEA), member(in_team=True), TEAMS, ""),
        (person(BEA), member(Role.VIEWER, TO_USER), PRIVATE, "view"),
        (person(BEA), member(Role.VIEWER, EDIT_TO_USER), PRIVATE, "view edit"),
        (person(BEA), member(Role.MEMBER, TO_TEAM), PRIVATE, "view"),
        (person(BEA), member(Role.VIEWER, EDIT_TO_TEAM), SHARED, "view edit"),
        (person(BEA), member(Role.VIEWER, EDIT_TO_AGENT), PRIVATE, ""),
        (person(BEA), member(None, EDIT_TO_USER, EDIT_TO_TEAM), SHARED, ""),
        (person(ANA), member(), APP, "view"),
        (person(BEA), member(), APP, "view"),
        (person(BEA), member(None, EDIT_TO_USER), APP, "view"),
        (person(ANA, admin=True), member(), APP, "view edit manage"),
        (person(ANA, admin=True), member(), OPERATOR, "view edit"),
        (person(ANA, admin=True), member(), UNKNOWN, "view edit"),
        (person(ANA), member(Role.OWNER, EDIT_TO_USER, EDIT_TO_TEAM), OPERATOR, ""),
        (AGENT, member(Role.OWNER), SHARED, ""),
        (AGENT, member(Role.OWNER, EDIT_TO_USER, EDIT_TO_TEAM), SHARED, ""),
        (AGENT, member(Role.VIEWER, TO_AGENT), PRIVATE, "view"),
        (AGENT, member(Role.VIEWER, EDIT_TO_AGENT), PRIVATE, "view edit"),
        (AGENT, member(None, EDIT_TO_AGENT), SHARED, ""),
        (AGENT, member(), APP, ""),
        (AGENT, member(None, TO_AGENT), APP, "view"),
        (AGENT, member(None, EDIT_TO_AGENT), APP, "view"),
        (AGENT, member(None, EDIT_TO_AGENT), PERSONAL, "view edit"),
        (OTHERS_AGENT, member(None, EDIT_TO_AGENT), PERSONAL, ""),
        (AGENT, member(None, EDIT_TO_AGENT), PERSONAL_IN_ORG, ""),
        (AGENT, member(None, EDIT_TO_AGENT), OPERATOR, ""),
        (SERVICE, member(), PRIVATE, "view edit manage"),
        (SERVICE, member(), OPERATOR, "view edit manage"),
    ],
)
def test_who_reaches_what(caller: Caller, standing: Standing, base: Holding, wants: str) -> None:
    assert " ".join(want for want in Want if reaches(caller, standing, base, want)) == wants


@pytest.mark.parametrize(
    ("caller", "standing", "base", "view", "edit"),
    [
        (person(ANA), member(), PERSONAL, [Ground.PERSONAL], [Ground.PERSONAL]),
        (
            person(ANA, admin=True),
            member(),
            APP,
            [Ground.APP, Ground.DEPLOYMENT_ADMIN],
            [Ground.DEPLOYMENT_ADMIN],
        ),
        (
            person(ANA),
            member(Role.OWNER, TO_USER, EDIT_TO_TEAM),
            SHARED,
            [Ground.OWN, Ground.ORGANIZATION, Ground.ROLE, Ground.USER_GRANT, Ground.TEAM_GRANT],
            [Ground.OWN, Ground.ORGANIZATION, Ground.ROLE, Ground.TEAM_GRANT],
        ),
        (
            person(BEA),
            member(Role.VIEWER, TO_USER, in_team=True),
            TEAMS,
            [Ground.TEAM, Ground.USER_GRANT],
            [],
        ),
        (AGENT, member(Role.OWNER, TO_AGENT), SHARED, [Ground.AGENT_GRANT], []),
        (person(BEA), member(), SHARED, [], []),
    ],
)
def test_why_somebody_reaches_what(
    caller: Caller, standing: Standing, base: Holding, view: list[Ground], edit: list[Ground]
) -> None:
    assert list(grounds(caller, standing, base, VIEW)) == view
    assert list(grounds(caller, standing, base, EDIT)) == edit


@given(callers, standings, bases)
def test_whoever_edits_or_manages_a_base_may_view_it(
    caller: Caller, standing: Standing, base: Holding
) -> None:
    if any(reaches(caller, standing, base, want) for want in (EDIT, MANAGE)):
        assert reaches(caller, standing, base, VIEW)


@given(callers, standings, bases, wants)
def test_a_higher_role_never_reaches_less(
    caller: Caller, standing: Standing, base: Holding, want: Want
) -> None:
    reached = [
        reaches(caller, Standing(role, standing.in_team, standing.grants), base, want)
        for role in (None, *reversed(Role))
    ]
    assert reached == sorted(reached)


@given(callers, standings, bases, wants, st.sampled_from(Grantee), st.sampled_from([VIEW, EDIT]))
def test_another_grant_or_team_never_removes_an_ability(
    caller: Caller, standing: Standing, base: Holding, want: Want, grantee: Grantee, granted: Want
) -> None:
    more = Standing(standing.role, True, standing.grants | {(grantee, granted)})
    assert set(grounds(caller, standing, base, want)) <= set(grounds(caller, more, base, want))


@given(callers, bases, wants, grants, st.booleans())
def test_no_grant_and_no_team_opens_an_organization_to_who_is_no_member_of_it(
    caller: Caller, base: Holding, want: Want, given_: frozenset[tuple[Grantee, Want]], in_team: bool
) -> None:
    if base.organization_id is not None and caller is not SERVICE:
        assert not reaches(caller, Standing(None, in_team, given_), base, want)


@given(st.sampled_from([AGENT, OTHERS_AGENT]), standings, bases, wants)
def test_an_agent_reaches_what_was_granted_to_it_and_manages_nothing(
    agent: Caller, standing: Standing, base: Holding, want: Want
) -> None:
    if reaches(agent, standing, base, want):
        assert want is not MANAGE
        assert any(grantee is Grantee.AGENT for grantee, _ in standing.grants)


@given(callers, standings, bases)
def test_who_was_only_granted_a_base_does_not_manage_it(
    caller: Caller, standing: Standing, base: Holding
) -> None:
    bare = Standing(standing.role, standing.in_team)
    assert reaches(caller, standing, base, MANAGE) == reaches(caller, bare, base, MANAGE)


@given(callers, standings, st.sampled_from([OPERATOR, UNKNOWN]), wants)
def test_a_hidden_base_is_the_deployments_admins_alone_whatever_was_granted_and_nobody_manages_it(
    caller: Caller, standing: Standing, base: Holding, want: Want
) -> None:
    if caller is not SERVICE:
        assert reaches(caller, standing, base, want) == (caller.deployment_admin and want is not MANAGE)


@pytest.mark.parametrize(
    ("role", "scopes"),
    [
        (Role.OWNER, [Scope.ALL] * 3),
        (Role.BUILDER, [Scope.ALL] * 3),
        (Role.MEMBER, [Scope.TEAM, Scope.OWN, Scope.OWN]),
        (Role.VIEWER, [Scope.TEAM, Scope.NONE, Scope.OWN]),
        (None, [Scope.NONE] * 3),
    ],
)
def test_which_bases_a_role_reaches_by_itself(role: Role | None, scopes: list[Scope]) -> None:
    assert [reach_of(role, want) for want in Want] == scopes


def test_only_an_agent_has_an_agents_id() -> None:
    with pytest.raises(ValueError, match="agent"):
        Caller(CallerKind.AGENT, ANA)
    with pytest.raises(ValueError, match="agent"):
        Caller(CallerKind.PERSON, ANA, agent_id=UUID(int=7))


@pytest.mark.parametrize(
    ("base", "grantee", "granted", "fault"),
    [
        (SHARED, Grantee.USER, EDIT, None),
        (PRIVATE, Grantee.TEAM, VIEW, None),
        (SHARED, Grantee.AGENT, EDIT, None),
        (PERSONAL, Grantee.AGENT, EDIT, None),
        (PERSONAL, Grantee.USER, VIEW, GrantFault.NOT_SHARED),
        (PERSONAL_IN_ORG, Grantee.TEAM, VIEW, GrantFault.NOT_SHARED),
        (APP, Grantee.USER, VIEW, GrantFault.NOT_SHARED),
        (APP, Grantee.AGENT, VIEW, None),
        (APP, Grantee.AGENT, EDIT, GrantFault.READ_ONLY),
    ],
)
def test_what_can_be_granted_to_whom(
    base: Holding, grantee: Grantee, granted: Want, fault: GrantFault | None
) -> None:
    assert fault_of_grant(base, grantee, granted) is fault


A, B, C = UUID(int=11), UUID(int=12), UUID(int=13)


@pytest.mark.parametrize(
    ("ids", "names", "reached", "view", "edit"),
    [
        ({A}, set(), [(A, "x")], Settlement.ALLOWED, Settlement.ALLOWED),
        ({A, B}, set(), [(A, "x")], Settlement.NOT_FOUND, Settlement.NOT_FOUND),
        (set(), {"x"}, [], Settlement.NOT_FOUND, Settlement.NOT_FOUND),
        (set(), {"x"}, [(A, "x")], Settlement.ALLOWED, Settlement.ALLOWED),
        (set(), {"x"}, [(A, "x"), (B, "x")], Settlement.ALLOWED, Settlement.AMBIGUOUS),
        (set(), {"x", "y"}, [(A, "x"), (B, "x")], Settlement.NOT_FOUND, Settlement.NOT_FOUND),
        ({A, B}, set(), [(A, "x"), (B, "x")], Settlement.ALLOWED, Settlement.ALLOWED),
        ({C}, {"x"}, [(A, "x"), (C, "y")], Settlement.ALLOWED, Settlement.ALLOWED),
    ],
)
def test_targets_are_answered_all_or_none(
    ids: set[UUID], names: set[str], reached: list[tuple[UUID, str]], view: Settlement, edit: Settlement
) -> None:
    targets = Targets(frozenset(ids), frozenset(names))
    assert settle(targets, reached, Want.VIEW) is view
    assert settle(targets, reached, Want.EDIT) is edit
