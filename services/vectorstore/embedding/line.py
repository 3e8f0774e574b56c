"""Who waits for a model, and whose turn is next."""

from collections import Counter, deque
from enum import IntEnum
from typing import Generic, TypeVar

PATIENCE = 4
"""How often in a row those of an urgency are passed over while they wait."""

_Item = TypeVar("_Item")


class Urgency(IntEnum):
    """Who goes first."""

    QUESTION = 0
    INTERACTIVE = 1
    BULK = 2


class Line(Generic[_Item]):
    """Items in the order in which they are taken: the urgent first, round robin between who asks, in order within one.

    Who is less urgent has a turn after `PATIENCE` of others: many questions slow documents down and never stop them.
    """

    def __init__(self) -> None:
        self._asking: dict[Urgency, dict[str, deque[_Item]]] = {urgency: {} for urgency in Urgency}
        self._passed: Counter[Urgency] = Counter()

    def __bool__(self) -> bool:
        return any(self._asking.values())

    def put(self, urgency: Urgency, asker: str, item: _Item) -> None:
        """Wait behind the others of the same urgency and asker."""
        self._asking[urgency].setdefault(asker, deque()).append(item)

    def take(self) -> _Item:
        """Remove and return whose turn it is. Raises LookupError where nobody waits."""
        waiting = [urgency for urgency in Urgency if self._asking[urgency]]
        if not waiting:
            raise LookupError("nobody waits")
        overdue = [urgency for urgency in waiting if self._passed[urgency] >= PATIENCE]
        urgency = (overdue or waiting)[0]
        self._passed = Counter({other: self._passed[other] + 1 for other in waiting if other is not urgency})
        return self._next(self._asking[urgency])

    def _next(self, asking: dict[str, deque[_Item]]) -> _Item:
        asker = next(iter(asking))
        items = asking.pop(asker)
        item = items.popleft()
        if items:
            asking[asker] = items
        return item
