"""What keeps one caller from taking the room of others: how many files at once, and how slowly."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.errors import AcervoError


@dataclass(frozen=True, slots=True)
class Pace:
    """How long callers are waited for: `idle_seconds` at a time, and beyond what their bytes earn in all.

    Only time in which nothing comes counts, not the time that taking the bytes costs.
    """

    idle_seconds: float
    bytes_per_second: int

    def patience(self, received: int, waited: float) -> float:
        """Seconds to wait for the next message of a caller who was waited for so long, and sent so many bytes."""
        return min(self.idle_seconds, self.idle_seconds + received / self.bytes_per_second - waited)


class Places:
    """So many at once of each holder; one more is refused, with `message`."""

    def __init__(self, most: int, message: str) -> None:
        self._most = most
        self._message = message
        self._taken: Counter[str] = Counter()

    @contextmanager
    def hold(self, holder: str = "") -> Iterator[None]:
        """Hold a place while the block runs.

        Raises:
            AcervoError: OVERLOADED where all are taken.
        """
        if self._taken[holder] >= self._most:
            raise AcervoError(pb.ERROR_REASON_OVERLOADED, self._message)
        self._taken[holder] += 1
        try:
            yield
        finally:
            self._taken[holder] -= 1
            if not self._taken[holder]:
                del self._taken[holder]


@dataclass(frozen=True, slots=True)
class Limits:
    """Files that are taken at once, in all and of one person or agent, and the pace that is asked of callers."""

    slots: int
    slots_per_caller: int
    pace: Pace
