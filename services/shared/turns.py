"""Slots that are granted in turns, so that nobody's many long jobs keep another's short one waiting."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from uuid import UUID

from services.shared.broker import HandBack
from services.shared.bus import Lane

PATIENCE = 8
"""How often a line may be passed over for the sake of those of whom nothing runs."""
_PULLED = 64
_ROOMY = 4
# Whoever is new comes before those who had a turn just now, and after those who have waited since their last one.
_NEW, _AGAIN = 1, 2

_Party = tuple[Lane, UUID, bool]


def pulled(lane: Lane, slots: int) -> int:
    """How many messages of a lane to have in hand beside `slots` for both.

    People's are pulled ahead, for only what is in hand can be told apart by whose it is; they wait here for a turn.
    Bulk work was put in turns when it was admitted: no more is pulled than may run, and one slot is left to people.
    """
    return _PULLED if lane is Lane.INTERACTIVE else max(1, slots - 1)


@dataclass(slots=True)
class _Line:
    """Those of one party who wait, first come first, and what the party has had so far."""

    turn: int = 0
    """Its next turn: the party with the lowest goes next."""
    waiting: "deque[asyncio.Future[None]]" = field(default_factory=deque)
    running: int = 0
    passed: int = 0
    """How often others went before it out of turn."""

    @property
    def first(self) -> "asyncio.Future[None] | None":
        """Who goes next; a place that was cancelled is left to its owner to remove."""
        return next((place for place in self.waiting if not place.done()), None)


class Turns:
    """At most `slots` at once, round robin between the tenants who wait, first come first served within one.

    A tenant leaves a slot to others, and two where there are four or more: the last free one goes to people of whom
    nothing runs yet before anybody else, and another is for bulk work meanwhile. Whoever has been passed over
    `PATIENCE` times need not wait for the last one any longer.
    """

    def __init__(self, slots: int) -> None:
        self._free = slots
        self._kept = 1 if slots > 1 else 0
        self._most = max(1, slots - 2 if slots >= _ROOMY else slots - 1)
        self._most_long = max(1, slots - 2)
        self._lines: dict[_Party, _Line] = {}
        self._turn = 0
        self._closed = False

    @contextlib.asynccontextmanager
    async def of(self, tenant: UUID, lane: Lane, *, is_long: bool = False) -> AsyncIterator[None]:
        """Hold a slot for the length of the block, once it is the tenant's turn.

        Work that is known to be long holds `slots` - 2 at most, or one, whoever it is for.

        Raises:
            HandBack: if the process goes down before that.
        """
        party = (lane, tenant, is_long)
        await self._take(party)
        try:
            yield
        finally:
            self._give_back(party)

    def close(self) -> None:
        """Send away all who wait, and whoever comes from now on; who holds a slot keeps it."""
        self._closed = True
        for line in self._lines.values():
            while (place := line.first) is not None:
                place.set_exception(HandBack())

    async def _take(self, party: _Party) -> None:
        if self._closed:
            raise HandBack
        place = asyncio.get_running_loop().create_future()
        line = self._lines.setdefault(party, _Line())
        if not line.waiting:
            line.turn = max(line.turn, self._turn + _NEW)
        line.waiting.append(place)
        self._grant()
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled() and place.exception() is None:
                self._give_back(party)
            raise
        finally:
            if place in line.waiting:
                line.waiting.remove(place)
                self._forget(party)

    def _give_back(self, party: _Party) -> None:
        self._free += 1
        self._lines[party].running -= 1
        self._forget(party)
        self._grant()

    def _forget(self, party: _Party) -> None:
        line = self._lines[party]
        if not line.waiting and not line.running:
            del self._lines[party]

    def _grant(self) -> None:
        """Let in whom the free slots are for."""
        while (line := self._next()) is not None and (place := line.first) is not None:
            line.waiting.remove(place)
            self._turn = max(self._turn, line.turn)
            line.turn += _AGAIN
            line.running += 1
            line.passed = 0
            self._free -= 1
            place.set_result(None)

    def _next(self) -> _Line | None:
        """Choose whose turn it is. Those who have waited for theirs longer, and may not go, are passed over."""
        passed: list[_Line] = []
        waiting = ((party, line) for party, line in self._lines.items() if line.first is not None)
        for party, line in sorted(waiting, key=lambda entry: entry[1].turn):
            if self._may(party, line):
                for other in passed:
                    other.passed += 1
                return line
            passed.append(line)
        return None

    def _long(self) -> int:
        return sum(line.running for (_, _, is_long), line in self._lines.items() if is_long)

    def _may(self, party: _Party, line: _Line) -> bool:
        lane, tenant, is_long = party
        own = ((lane, tenant, long) for lane in Lane for long in (False, True))
        held = sum(self._lines[one].running for one in own if one in self._lines)
        if is_long and self._long() >= self._most_long:
            return False
        first = lane is Lane.INTERACTIVE and not held
        return (
            self._free > 0
            and held < self._most
            and (self._free > self._kept or first or line.passed >= PATIENCE)
        )
