"""What becomes of content that nobody owns, and of a collection that an operator drops."""

from itertools import product
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.access.bases.provenance import Drop, Holder, confirmed, plan_drop, takes_over
from services.access.reach import BaseKind, BaseScope

ONE, TWO, HIDDEN, OTHER_HIDDEN = (Holder(UUID(int=n), hidden=n > 2) for n in (1, 2, 3, 4))
ABSENT = UUID(int=9)


def test_an_app_base_takes_over_what_operators_ingested_and_nothing_else_is_ever_taken_over() -> None:
    taking = {(scope, kind) for scope, kind in product(BaseScope, BaseKind) if takes_over(scope, kind)}
    assert taking == {(BaseScope.APP, BaseKind.OPERATOR)}


def test_to_confirm_changes_what_is_unknown_and_nothing_twice() -> None:
    assert {kind: confirmed(kind) for kind in BaseKind} == {
        BaseKind.REGULAR: BaseKind.REGULAR,
        BaseKind.OPERATOR: BaseKind.OPERATOR,
        BaseKind.LEGACY_UNKNOWN: BaseKind.OPERATOR,
    }


@pytest.mark.parametrize(
    ("holders", "chosen", "plan"),
    [
        ([], None, Drop()),
        ([ONE], None, Drop(ONE.id, ())),
        ([HIDDEN], None, Drop(None, (HIDDEN.id,))),
        ([ONE, HIDDEN, OTHER_HIDDEN], None, Drop(ONE.id, (HIDDEN.id, OTHER_HIDDEN.id))),
        ([ONE, TWO], None, None),
        ([ONE, TWO, HIDDEN], None, None),
        ([ONE, TWO], TWO.id, Drop(TWO.id, ())),
        ([ONE, HIDDEN], HIDDEN.id, Drop(None, (HIDDEN.id,))),
        ([ONE, HIDDEN], ONE.id, Drop(ONE.id, ())),
        ([ONE], ABSENT, Drop(None, ())),
    ],
)
def test_a_drop_takes_the_one_base_that_is_meant(
    holders: list[Holder], chosen: UUID | None, plan: Drop | None
) -> None:
    assert plan_drop(holders, chosen) == plan


@given(st.lists(st.sampled_from([ONE, TWO, HIDDEN, OTHER_HIDDEN]), unique=True), st.data())
def test_a_chosen_base_goes_alone_and_a_regular_one_is_never_deleted(
    holders: list[Holder], data: st.DataObject
) -> None:
    chosen = data.draw(st.sampled_from([None, *(holder.id for holder in holders)]))
    plan = plan_drop(holders, chosen)
    if plan is None:
        assert chosen is None
        return
    assert {ONE.id, TWO.id}.isdisjoint(plan.deleted)
    if chosen is not None:
        assert [plan.emptied] * (plan.emptied is not None) + [*plan.deleted] == [chosen]
