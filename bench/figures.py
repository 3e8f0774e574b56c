"""Quantities that were measured side by side, and the ratios between them."""

import statistics
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

Way = Callable[[], Awaitable[float]]
"""Does one thing once, and returns what is measured of it."""
Step = Callable[[], None]
"""Is called after each step of a part, for whoever watches."""


@dataclass(frozen=True, slots=True)
class Spread:
    """What is told of several values."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Raises `statistics.StatisticsError` where there are none."""
        return cls(statistics.median(values), min(values), max(values))

    def as_json(self) -> dict[str, float]:
        """Round to what can be told apart."""
        return {
            name: float(f"{value:.5g}")
            for name, value in (("median", self.median), ("min", self.least), ("max", self.most))
        }


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity, measured once in each repetition."""

    name: str
    unit: str
    values: Sequence[float]

    @property
    def spread(self) -> Spread:
        return Spread.of(self.values)


@dataclass(frozen=True, slots=True)
class Ratio:
    """Ours over the floor's, repetition by repetition, since only what was measured together can be compared."""

    name: str
    ours: Series
    floor: Series

    @property
    def spread(self) -> Spread:
        pairs = zip(self.ours.values, self.floor.values, strict=True)
        return Spread.of([ours / floor for ours, floor in pairs])


@dataclass(slots=True)
class Part:
    """What one part of a run has measured."""

    name: str
    title: str
    series: list[Series] = field(default_factory=list)
    ratios: list[Ratio] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Stable names: scripts compare runs by them."""
        return {
            "title": self.title,
            "series": {s.name: {"unit": s.unit, **s.spread.as_json()} for s in self.series},
            "ratios": {ratio.name: ratio.spread.as_json() for ratio in self.ratios},
            "notes": self.notes,
        }


async def interleaved(repetitions: int, ways: Mapping[str, Way], step: Step) -> dict[str, list[float]]:
    """Run each way once in each repetition, in turns that begin with another way each time."""
    measured: dict[str, list[float]] = {name: [] for name in ways}
    names = list(ways)
    for repetition in range(repetitions):
        first = repetition % len(names)
        for name in names[first:] + names[:first]:
            measured[name].append(await ways[name]())
            step()
    return measured


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that is not below `share` (0 to 1) of them."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
