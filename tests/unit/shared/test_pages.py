"""Which page a stretch of text is cited by."""

from bisect import bisect_right
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.pages import page_of


@pytest.mark.parametrize(
    ("start", "end", "page"),
    [(0, 10, 0), (90, 150, 1), (50, 120, 0), (95, 301, 1), (250, 400, 3), (50, 150, 0), (299, 300, 2)],
)
def test_a_stretch_is_of_the_page_that_holds_most_of_it(start: int, end: int, page: int) -> None:
    assert page_of(start, end, [0, 100, 200, 300]) == page


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8), st.integers(0, 150), st.integers(1, 60))
def test_no_page_holds_more_of_a_stretch_than_its_own(lengths: list[int], start: int, length: int) -> None:
    starts = list(accumulate(lengths[:-1], initial=0))
    ends = [*starts[1:], 1000]
    held = [
        max(0, min(end, start + length) - max(begin, start)) for begin, end in zip(starts, ends, strict=True)
    ]
    assert held[page_of(start, start + length, starts)] == max(held)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8), st.data())
def test_the_pages_around_a_stretch_tell_as_much_as_all_pages(
    lengths: list[int], data: st.DataObject
) -> None:
    starts = list(accumulate(lengths, initial=0))
    start = data.draw(st.integers(0, starts[-1]))
    end = data.draw(st.integers(start + 1, starts[-1] + 20))
    from_first, around = data.draw(st.integers(0, start)), data.draw(st.integers(end, starts[-1] + 40))
    before = bisect_right(starts, from_first) - 1
    nearby = starts[before : bisect_right(starts, around - 1)]
    assert before + page_of(start, end, nearby) == page_of(start, end, starts)
