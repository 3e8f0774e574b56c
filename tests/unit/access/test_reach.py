"""Who may reach which base, as a table, and what holds of all callers and bases."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.access.reach import (
    BaseKind,
    BaseScope,
    Caller,
    CallerKind,
    Holding,
    Settlement,
    Targets,
    Visibility,
    Want,
    reaches,
    settle,
)
from services.access.roles import Role

ANA, BEA, ORG = UUID(int=1), UUID(int=2), UUID(int=9)


def person(user_id: UUID, *, admin: bool = False) -> Caller:
    return Caller(CallerKind.PERSON, user_id, admin)


AGENT = Caller(CallerKind.AGENT, ANA)
SERVICE = Caller(CallerKind.SERVICE, None, service="ingest")
PERSONAL = Holding(BaseKind.REGULAR, BaseScope.PERSONAL, None, ANA, None)
PERSONAL_IN_ORG = Holding(BaseKind.REGULAR, BaseScope.PERSONAL, ORG, ANA, None)
SHARED = Holding(BaseKind.REGULAR, BaseScope.ORG, ORG, ANA, Visibility.ORG)
PRIVATE = Holding(BaseKind.REGULAR, BaseScope.ORG, ORG, ANA, Visibility.PRIVATE)
APP = Holding(BaseKind.REGULAR, BaseScope.APP, None, BEA, None)
OPERATOR = Holding(BaseKind.OPERATOR, BaseScope.APP, None, None, None)
BASES = (PERSONAL, PERSONAL_IN_ORG, SHARED, PRIVATE, APP, OPERATOR)

callers = st.builds(person, st.sampled_from([ANA, BEA]), admin=st.booleans()) | st.sampled_from(
    [AGENT, SERVICE]
)
bases = st.sampled_from(BASES)
roles = st.none() | st.sampled_from(Role)


@pytest.mark.parametrize(
    ("caller", "role", "base", "view", "edit"),
    [
        (person(ANA), None, PERSONAL, True, True),
        (person(BEA), None, PERSONAL, False, False),
        (person(BEA, admin=True), None, PERSONAL, False, False),
        (person(ANA), Role.VIEWER, PERSONAL_IN_ORG, True, True),
        (person(ANA), None, PERSONAL_IN_ORG, False, False),
        (person(BEA), Role.OWNER, PERSONAL_IN_ORG, False, False),
        (person(BEA), Role.OWNER, SHARED, True, True),
        (person(BEA), Role.ADMIN, PRIVATE, True, True),
        (person(BEA), Role.BUILDER, PRIVATE, True, True),
        (person(BEA), Role.MEMBER, SHARED, True, False),
        (person(BEA), Role.MEMBER, PRIVATE, False, False),
        (person(ANA), Role.MEMBER, PRIVATE, True, True),
        (person(ANA), Role.MEMBER, SHARED, True, True),
        (person(ANA), Role.VIEWER, PRIVATE, True, False),
        (person(BEA), Role.VIEWER, SHARED, True, False),
        (person(ANA), None, SHARED, False, False),
        (person(ANA, admin=True), None, SHARED, False, False),
        (person(ANA), None, APP, True, False),
        (person(BEA), None, APP, True, False),
        (person(ANA, admin=True), None, APP, True, True),
        (person(ANA, admin=True), None, OPERATOR, False, False),
        (AGENT, Role.OWNER, SHARED, False, False),
        (AGENT, None, APP, False, False),
        (SERVICE, None, PRIVATE, True, True),
        (SERVICE, None, OPERATOR, True, True),
    ],
)
def test_who_reaches_what(caller: Caller, role: Role | None, base: Holding, view: bool, edit: bool) -> None:
    assert reaches(caller, role, base, Want.VIEW) is view
    assert reaches(caller, role, base, Want.EDIT) is edit


@given(callers, roles, bases)
def test_whoever_edits_a_base_may_view_it(caller: Caller, role: Role | None, base: Holding) -> None:
    if reaches(caller, role, base, Want.EDIT):
        assert reaches(caller, role, base, Want.VIEW)


@given(callers, bases, st.sampled_from(Want))
def test_a_higher_role_never_reaches_less(caller: Caller, base: Holding, want: Want) -> None:
    reached = [reaches(caller, role, base, want) for role in (None, *reversed(Role))]
    assert reached == sorted(reached)


@given(callers, roles, st.sampled_from(Want))
def test_no_person_reaches_a_hidden_base(caller: Caller, role: Role | None, want: Want) -> None:
    if caller is not SERVICE:
        assert not reaches(caller, role, OPERATOR, want)


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
