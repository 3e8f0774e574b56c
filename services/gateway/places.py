"""Room for requests that last: so many in all, and so many with one token."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.errors import AcervoError


class Places:
    """Counts what is under way. `what` names it in the plural: `uploads`.

    A token is counted as it stands, unread: whoever forges another's takes no place of theirs.
    """

    def __init__(self, what: str, total: int, each: int) -> None:
        self._what = what
        self._total = total
        self._each = each
        self._taken: Counter[str] = Counter()

    @contextmanager
    def take(self, token: str) -> Iterator[None]:
        """Hold a place for a block. Raises AcervoError (OVERLOADED) where there is none."""
        if self._taken[token] >= self._each:
            raise _full(
                f"There are {self._each} {self._what} with your token already; end one of them first."
            )
        if self._taken.total() >= self._total:
            raise _full(f"There is no room for more {self._what} now.")
        self._taken[token] += 1
        try:
            yield
        finally:
            self._taken[token] -= 1
            if not self._taken[token]:
                del self._taken[token]


def _full(message: str) -> AcervoError:
    return AcervoError(pb.ERROR_REASON_OVERLOADED, message)
