"""Slots that are granted in turns, so that nobody's many long jobs keep another's short one waiting."""

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from uuid import UUID

from services.shared.broker import HandBack
from services.shared.bus import Lane

PATIENCE = 8
"""How often a line may be passed over for the sake of those of whom nothing runs."""
_PULLED = 64

_Party = tuple[Lane, UUID]


def pulled(lane: Lane, slots: int) -> int:
    """How many messages of a lane to have in hand beside `slots` for both.

    People's are pulled ahead, for only what is in hand can be told apart by whose it is; they wait here for a turn.
    Bulk work was put in turns when it was admitted: no more is pulled than may run, and one slot is left to people.
    """
    return _PULLED if lane is Lane.INTERACTIVE else max(1, slots - 1)


@dataclass(slots=True)
class _Line:
    """Those of one party who wait, first come first, and how often others went before them out of turn."""

    waiting: "deque[asyncio.Future[None]]" = field(default_factory=deque)
    passed: int = 0


class Turns:
    """At most `slots` at once, round robin between the tenants who wait, first come first served within one.

    A tenant holds at most `slots` - 1. The last free slot goes to people of whom nothing runs yet before anybody else;
    whoever has been passed over `PATIENCE` times need not wait for that any longer.
    """

    def __init__(self, slots: int) -> None:
        self._free = slots
        self._kept = 1 if slots > 1 else 0
        self._most = max(1, slots - 1)
        self._held: Counter[UUID] = Counter()
        self._lines: dict[_Party, _Line] = {}  # whose turn is next comes first
        self._closed = False

    @contextlib.asynccontextmanager
    async def of(self, tenant: UUID, lane: Lane) -> AsyncIterator[None]:
        """Hold a slot for the length of the block, once it is the tenant's turn.

        Raises:
            HandBack: if the process goes down before that.
        """
        await self._take((lane, tenant))
        try:
            yield
        finally:
            self._give_back((lane, tenant))

    def close(self) -> None:
        """Send away all who wait, and whoever comes from now on; who holds a slot keeps it."""
        self._closed = True
        for line in self._lines.values():
            for turn in line.waiting:
                if not turn.done():
                    turn.set_exception(HandBack())
        self._lines.clear()

    async def _take(self, party: _Party) -> None:
        if self._closed:
            raise HandBack
        turn = asyncio.get_running_loop().create_future()
        self._lines.setdefault(party, _Line()).waiting.append(turn)
        self._grant()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(party, turn)
            elif turn.exception() is None:
                self._give_back(party)
            raise

    def _give_back(self, party: _Party) -> None:
        """Free a slot. Whoever had it comes after those who wait."""
        self._free += 1
        self._held -= Counter(party[1:])
        if (line := self._lines.pop(party, None)) is not None:
            self._lines[party] = line
        self._grant()

    def _leave(self, party: _Party, turn: "asyncio.Future[None]") -> None:
        if (line := self._lines.get(party)) is not None:
            line.waiting.remove(turn)
            if not line.waiting:
                del self._lines[party]

    def _grant(self) -> None:
        """Let in whom the free slots are for. A turn that was cancelled is left to its owner to remove."""
        while (party := self._next()) is not None:
            line = self._lines.pop(party)
            turn = next(turn for turn in line.waiting if not turn.done())
            line.waiting.remove(turn)
            if line.waiting:
                self._lines[party] = _Line(line.waiting)
            self._free -= 1
            self._held[party[1]] += 1
            turn.set_result(None)

    def _next(self) -> _Party | None:
        """Choose whose turn it is. Those before it in line are passed over."""
        passed: list[_Line] = []
        for party, line in self._lines.items():
            if all(turn.done() for turn in line.waiting):
                continue
            if self._may(party, line):
                for other in passed:
                    other.passed += 1
                return party
            passed.append(line)
        return None

    def _may(self, party: _Party, line: _Line) -> bool:
        lane, tenant = party
        held = self._held[tenant]
        first = lane is Lane.INTERACTIVE and not held
        return (
            self._free > 0
            and held < self._most
            and (self._free > self._kept or first or line.passed >= PATIENCE)
        )
