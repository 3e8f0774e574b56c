"""Room for requests: so many in all, and so many of one person, whatever tokens and agents they come with."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.auth import Principal
from services.shared.errors import AcervoError


class Places:
    """Counts what is under way. `what` names it in the plural: `uploads`."""

    def __init__(self, what: str, total: int, each: int) -> None:
        self._what = what
        self._total = total
        self._each = each
        self._taken = 0
        self._of: Counter[UUID | None] = Counter()

    @contextmanager
    def take(self, caller: Principal) -> Iterator[None]:
        """Hold a place for a block. Raises AcervoError (OVERLOADED) where there is none."""
        person = caller.user_id
        if self._of[person] >= self._each:
            raise _full(f"You have {self._each} {self._what} under way already; end one of them first.")
        if self._taken >= self._total:
            raise _full(f"There is no room for more {self._what} now.")
        self._taken += 1
        self._of[person] += 1
        try:
            yield
        finally:
            self._taken -= 1
            self._of[person] -= 1
            if not self._of[person]:
                del self._of[person]


def _full(message: str) -> AcervoError:
    return AcervoError(pb.ERROR_REASON_OVERLOADED, message)
