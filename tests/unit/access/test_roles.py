"""What each role may do, and who may hand out which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.access.people.roles import (
    MemberChange,
    Permission,
    Role,
    Scope,
    allows,
    exceeds,
    judge_change,
    may_hand_out,
    may_transfer,
    roles_with,
    scope_of,
)

VIEW, EDIT = Permission.COLLECTIONS_VIEW, Permission.COLLECTIONS_EDIT
MANAGE = Permission.MEMBERS_MANAGE
NONE, OWN, SHARED, TEAM, ALL = Scope

# Each role's scope of each permission, in the order of the roles; the last column is of somebody who is no member.
SCOPES: dict[Permission, tuple[Scope, ...]] = {
    Permission.COLLECTIONS_VIEW: (ALL, ALL, ALL, TEAM, TEAM, NONE),
    Permission.COLLECTIONS_EDIT: (ALL, ALL, ALL, OWN, NONE, NONE),
    Permission.COLLECTIONS_CREATE: (ALL, ALL, OWN, OWN, NONE, NONE),
    Permission.SECRETS_VIEW: (ALL, ALL, TEAM, OWN, NONE, NONE),
    Permission.SECRETS_EDIT: (ALL, ALL, OWN, OWN, NONE, NONE),
    Permission.MEMBERS_MANAGE: (ALL, ALL, NONE, NONE, NONE, NONE),
    Permission.AUDIT_READ: (ALL, ALL, NONE, NONE, NONE, NONE),
    Permission.BUDGETS_MANAGE: (ALL, ALL, NONE, NONE, NONE, NONE),
    Permission.ORGANIZATION_DELETE: (ALL, NONE, NONE, NONE, NONE, NONE),
}

roles = st.sampled_from(Role)


@pytest.mark.parametrize("permission", Permission)
def test_scope_of_each_permission(permission: Permission) -> None:
    assert tuple(scope_of(role, permission) for role in (*Role, None)) == SCOPES[permission]


@pytest.mark.parametrize("permission", Permission)
def test_the_roles_with_a_permission_are_those_to_whom_it_reaches_anything(permission: Permission) -> None:
    assert set(roles_with(permission)) == {role for role in Role if scope_of(role, permission) > NONE}


def test_scopes_widen_from_none_to_all() -> None:
    assert NONE < OWN < SHARED < TEAM < ALL


def test_roles_form_a_chain_from_most_to_least() -> None:
    ordered = list(Role)
    for place, higher in enumerate(ordered):
        for lower in ordered[place + 1 :]:
            assert exceeds(higher, lower)
            assert not exceeds(lower, higher)


@given(roles)
def test_no_role_exceeds_itself(role: Role) -> None:
    assert not exceeds(role, role)


@given(roles, st.sampled_from([(VIEW, EDIT), (Permission.SECRETS_VIEW, Permission.SECRETS_EDIT)]))
def test_whoever_edits_a_thing_views_it(role: Role, pair: tuple[Permission, Permission]) -> None:
    view, edit = pair
    assert scope_of(role, view) >= scope_of(role, edit)


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


@given(roles)
def test_the_ownership_is_handed_on_by_an_owner_alone(giver: Role) -> None:
    assert may_transfer(giver) is (giver is Role.OWNER)


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
