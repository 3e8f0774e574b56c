"""What a deletion takes with it, and when it is over."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from services.access.bases.teardown import OWNERS, Teardown, TeardownKind, begin

BASE, WATERMARK = UUID(int=1), UUID(int=2)


def started(*, keep_base: bool, other_holders: int) -> Teardown:
    return begin(
        UUID(int=3),
        base_id=BASE,
        collection_name="handbook",
        keep_base=keep_base,
        other_holders=other_holders,
        watermark=WATERMARK,
    )


def test_deleting_the_last_base_of_a_name_takes_the_table() -> None:
    teardown = started(keep_base=False, other_holders=0)
    assert teardown.kind is TeardownKind.DELETED
    assert teardown.last_holder
    assert teardown.emptied_before is None


def test_deleting_one_base_of_several_leaves_the_table() -> None:
    assert not started(keep_base=False, other_holders=1).last_holder


def test_a_default_base_is_emptied_and_keeps_its_table() -> None:
    teardown = started(keep_base=True, other_holders=0)
    assert teardown.kind is TeardownKind.EMPTIED
    assert not teardown.last_holder
    assert teardown.emptied_before == WATERMARK


@given(st.permutations(sorted(OWNERS)), st.lists(st.sampled_from(sorted(OWNERS)), max_size=6))
def test_a_teardown_is_over_once_all_four_have_answered_in_any_order_and_number(
    order: list[str], repeats: list[str]
) -> None:
    teardown = started(keep_base=False, other_holders=0)
    for service in order[:-1]:
        teardown = teardown.answered_by(service)
        assert not teardown.over
    for service in repeats:
        if service != order[-1]:
            teardown = teardown.answered_by(service)
            assert not teardown.over
    assert teardown.answered_by(order[-1]).over
