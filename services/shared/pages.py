"""Which page a stretch of a document's text is cited by."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise


def page_of(start: int, end: int, starts: Sequence[int]) -> int:
    """Return the place of the page that holds most of a stretch, the first of several; pages are told by their starts.

    A stretch often begins with the footer of the page before the one that it is about. Takes
    `starts[0] <= start < end`.
    """
    first, last = (bisect_right(starts, place) for place in (start, end - 1))
    bounds = [start, *starts[first:last], end]
    held = [after - before for before, after in pairwise(bounds)]
    return first - 1 + held.index(max(held))
