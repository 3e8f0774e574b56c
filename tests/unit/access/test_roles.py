"""What each role may do, and who may hand out which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.access.roles import (
    MemberChange,
    Permission,
    Role,
    Scope,
    allows,
    exceeds,
    judge_change,
    may_hand_out,
    roles_reaching,
    scope_of,
)

VIEW, EDIT = Permission.COLLECTIONS_VIEW, Permission.COLLECTIONS_EDIT
CREATE, MANAGE = Permission.COLLECTIONS_CREATE, Permission.MEMBERS_MANAGE
DELETE = Permission.ORGANIZATION_DELETE

roles = st.sampled_from(Role)


@pytest.mark.parametrize(
    ("role", "view", "edit", "create", "manage", "delete"),
    [
        (Role.OWNER, Scope.ALL, Scope.ALL, Scope.ALL, Scope.ALL, Scope.ALL),
        (Role.ADMIN, Scope.ALL, Scope.ALL, Scope.ALL, Scope.ALL, Scope.NONE),
        (Role.BUILDER, Scope.ALL, Scope.ALL, Scope.OWN, Scope.NONE, Scope.NONE),
        (Role.MEMBER, Scope.SHARED, Scope.OWN, Scope.OWN, Scope.NONE, Scope.NONE),
        (Role.VIEWER, Scope.SHARED, Scope.NONE, Scope.NONE, Scope.NONE, Scope.NONE),
        (None, Scope.NONE, Scope.NONE, Scope.NONE, Scope.NONE, Scope.NONE),
    ],
)
def test_scope_of_each_permission(
    role: Role | None, view: Scope, edit: Scope, create: Scope, manage: Scope, delete: Scope
) -> None:
    assert scope_of(role, VIEW) is view
    assert scope_of(role, EDIT) is edit
    assert scope_of(role, CREATE) is create
    assert scope_of(role, MANAGE) is manage
    assert scope_of(role, DELETE) is delete


def test_roles_form_a_chain_from_most_to_least() -> None:
    ordered = list(Role)
    for place, higher in enumerate(ordered):
        for lower in ordered[place + 1 :]:
            assert exceeds(higher, lower)
            assert not exceeds(lower, higher)


@given(roles)
def test_no_role_exceeds_itself(role: Role) -> None:
    assert not exceeds(role, role)


@given(roles)
def test_whoever_edits_a_base_views_it(role: Role) -> None:
    assert scope_of(role, VIEW) >= scope_of(role, EDIT)


@given(st.sampled_from(Permission), st.sampled_from(Scope))
def test_roles_reaching_a_scope_are_those_whose_scope_is_as_wide(
    permission: Permission, scope: Scope
) -> None:
    assert set(roles_reaching(permission, scope)) == {r for r in Role if scope_of(r, permission) >= scope}


@pytest.mark.parametrize(
    ("giver", "handed_out"),
    [
        (Role.OWNER, set(Role)),
        (Role.ADMIN, {Role.BUILDER, Role.MEMBER, Role.VIEWER}),
        (Role.BUILDER, set()),
        (Role.MEMBER, set()),
        (Role.VIEWER, set()),
    ],
)
def test_who_may_hand_out_which_role(giver: Role, handed_out: set[Role]) -> None:
    assert {role for role in Role if may_hand_out(giver, role)} == handed_out


@given(roles, roles)
def test_nobody_hands_out_more_than_they_have(giver: Role, role: Role) -> None:
    if may_hand_out(giver, role):
        assert giver is role or exceeds(giver, role)
        assert allows(giver, MANAGE)


@pytest.mark.parametrize(
    ("giver", "present", "wanted", "owners", "outcome"),
    [
        (Role.ADMIN, None, Role.MEMBER, 1, MemberChange.ALLOWED),
        (Role.ADMIN, None, Role.ADMIN, 1, MemberChange.NOT_EXCEEDED),
        (Role.ADMIN, Role.ADMIN, Role.VIEWER, 1, MemberChange.NOT_EXCEEDED),
        (Role.ADMIN, Role.OWNER, None, 2, MemberChange.NOT_EXCEEDED),
        (Role.ADMIN, Role.BUILDER, None, 1, MemberChange.ALLOWED),
        (Role.OWNER, None, Role.OWNER, 1, MemberChange.ALLOWED),
        (Role.OWNER, Role.OWNER, Role.ADMIN, 2, MemberChange.ALLOWED),
        (Role.OWNER, Role.OWNER, Role.ADMIN, 1, MemberChange.LAST_OWNER),
        (Role.OWNER, Role.OWNER, Role.OWNER, 1, MemberChange.ALLOWED),
        (Role.OWNER, Role.OWNER, None, 1, MemberChange.LAST_OWNER),
    ],
)
def test_changes_of_membership(
    giver: Role, present: Role | None, wanted: Role | None, owners: int, outcome: MemberChange
) -> None:
    assert judge_change(giver, present=present, wanted=wanted, owners=owners) is outcome


@given(roles)
def test_anybody_may_leave_but_the_last_owner(role: Role) -> None:
    outcome = judge_change(role, present=role, wanted=None, owners=1, leaving=True)
    assert outcome is (MemberChange.LAST_OWNER if role is Role.OWNER else MemberChange.ALLOWED)


@given(roles, st.none() | roles, st.none() | roles, st.integers(1, 3), st.booleans())
def test_an_organization_keeps_an_owner(
    giver: Role, present: Role | None, wanted: Role | None, owners: int, leaving: bool
) -> None:
    if (
        judge_change(giver, present=present, wanted=wanted, owners=owners, leaving=leaving)
        is MemberChange.ALLOWED
    ):
        assert owners - (present is Role.OWNER) + (wanted is Role.OWNER) >= 1
