"""BM25 in two halves: weights that are stored with a chunk, and a question's own, whose product is the score.

The stored half needs nothing but the chunk: term frequencies, saturated and normalised by a constant average length.
The question's half is the rarity of its words in the searched bases, so that what a base holds shows in no other base's
scores.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from services.vectorstore.terms import Analysis, Ids

K1 = 1.2
B = 0.75
AVERAGE_LENGTH = 128.0
"""Words. A constant: measured, any value from 100 to 150 is within 0.02 nDCG@10 of the true average, mostly 0.002."""

MAX_TERMS = 1024
"""Terms of a question that score; the rarest ones stay."""
MAX_SELECTING = 64
"""Terms of a question that select chunks; the rarest ones do."""

MAX_COUNTED = 1 << 17
"""Terms that one document's row counts; the most frequent ones stay."""

# A term in more chunks than a tenth (and than so many in all) scores chunks and selects none.
_FREQUENT_SHARE = 0.1
_FREQUENT_CHUNKS = 500

_SHIFT = np.uint64(32)
_MASK = np.uint64((1 << 32) - 1)
_COUNTED = np.dtype([("term", "<u4"), ("count", "<u4")])


def stored_weights(analysis: Analysis) -> npt.NDArray[np.float32]:
    """Return the weight of each term of each text, 0 to K1 + 1."""
    lengths = np.repeat(analysis.lengths, np.diff(analysis.offsets))
    weights = analysis.counts * (K1 + 1) / (analysis.counts + K1 * (1 - B + B * lengths / AVERAGE_LENGTH))
    return weights.astype(np.float32)


@dataclass(frozen=True, slots=True)
class Statistics:
    """In how many chunks each term occurs."""

    chunks: int
    terms: Ids
    """Ascending."""
    counts: Ids
    languages: frozenset[int]
    """Languages that at least one of the documents is mostly in."""

    @classmethod
    def of(cls, analysis: Analysis) -> Self:
        """Count the terms of one document's chunks."""
        terms, counts = np.unique(analysis.terms, return_counts=True)
        languages = frozenset(np.unique(analysis.languages).tolist())
        return cls(len(analysis.lengths), terms, counts.astype(np.uint32), languages)

    @classmethod
    def merged(cls, parts: Iterable["Statistics"]) -> Self:
        """Add up the counts of several documents, or of several stretches of one."""
        listed = list(parts)
        pairs = [part.terms.astype(np.uint64) << _SHIFT | part.counts for part in listed]
        joined = np.sort(np.concatenate(pairs)) if pairs else np.zeros(0, np.uint64)
        terms = (joined >> _SHIFT).astype(np.uint32)
        firsts = np.flatnonzero(np.diff(terms, prepend=np.uint32(0)))  # no term is 0
        counts = np.add.reduceat(joined & _MASK, firsts) if len(firsts) else joined
        languages = frozenset().union(*(part.languages for part in listed))
        return cls(sum(part.chunks for part in listed), terms[firsts], counts.astype(np.uint32), languages)

    def of_most_frequent(self, most: int) -> "Statistics":
        """Leave out all but `most` terms: those left out count as never seen, which as rare ones they nearly are."""
        if len(self.terms) <= most:
            return self
        kept = np.sort(np.argsort(self.counts, kind="stable")[-most:])
        return Statistics(self.chunks, self.terms[kept], self.counts[kept], self.languages)

    @classmethod
    def decoded(cls, chunks: int, counted: bytes, languages: Iterable[int]) -> Self:
        """Read what `encoded` wrote."""
        pairs = np.frombuffer(counted, _COUNTED)
        return cls(
            chunks, pairs["term"].astype(np.uint32), pairs["count"].astype(np.uint32), frozenset(languages)
        )

    def encoded(self) -> bytes:
        """Return terms and counts as pairs of little-endian 32-bit numbers."""
        pairs = np.empty(len(self.terms), _COUNTED)
        pairs["term"], pairs["count"] = self.terms, self.counts
        return pairs.tobytes()

    def frequencies(self, terms: Ids) -> npt.NDArray[np.float64]:
        """Return in how many chunks each of `terms` occurs."""
        if not len(self.terms):
            return np.zeros(len(terms))
        places = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        return np.where(self.terms[places] == terms, self.counts[places], 0).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Pooled:
    """The statistics of several bases, seen as one and never added up."""

    parts: Sequence[Statistics]

    @property
    def chunks(self) -> int:
        """Chunks of all bases."""
        return sum(part.chunks for part in self.parts)

    @property
    def languages(self) -> frozenset[int]:
        """Languages of any base."""
        return frozenset().union(*(part.languages for part in self.parts))

    def frequencies(self, terms: Ids) -> npt.NDArray[np.float64]:
        """Return in how many chunks each of `terms` occurs."""
        return sum((part.frequencies(terms) for part in self.parts), np.zeros(len(terms)))


class Tally:
    """Adds up the statistics of a document that comes in slices, and never holds many more than `MAX_COUNTED` terms."""

    def __init__(self) -> None:
        self._parts: list[Statistics] = []
        self._terms = 0

    def add(self, part: Statistics) -> None:
        """Count a slice in."""
        self._parts.append(part)
        self._terms += len(part.terms)
        if self._terms > 2 * MAX_COUNTED:
            self._parts = [self.total()]
            self._terms = len(self._parts[0].terms)

    def total(self) -> Statistics:
        """Return the statistics of all slices so far."""
        return Statistics.merged(self._parts).of_most_frequent(MAX_COUNTED)


@dataclass(frozen=True, slots=True)
class Question:
    """What a question asks the lexical leg."""

    terms: Ids
    """Ascending."""
    weights: npt.NDArray[np.float32]
    selecting: Ids
    """Terms of which a chunk must hold one to be a candidate."""
    reachable: float
    """The score of a chunk that holds every word, saturated."""


def question(groups: Sequence[Ids], statistics: Statistics | Pooled) -> Question:
    """Weigh a question's words, each given as its possible terms, by their rarity in the searched bases."""
    if not groups:
        return Question(np.zeros(0, np.uint32), np.zeros(0, np.float32), np.zeros(0, np.uint32), 0.0)
    terms, places = np.unique(np.concatenate(groups), return_inverse=True)
    frequencies = statistics.frequencies(terms)
    chunks = max(statistics.chunks, 1)
    rarity = _rarity(frequencies, chunks)
    highest = _highest_of_groups(groups, np.where(frequencies > 0, rarity, 0.0)[places])
    absent = math.log1p((chunks + 0.5) / 0.5)
    reachable = float(np.where(highest > 0, highest, absent).sum()) * (K1 + 1)
    rarest = np.argsort(-rarity, kind="stable")
    scoring = np.sort(rarest[:MAX_TERMS])
    common = max(_FREQUENT_CHUNKS, _FREQUENT_SHARE * statistics.chunks)
    selecting = rarest[frequencies[rarest] <= common][:MAX_SELECTING]
    if not len(selecting):
        selecting = rarest[:1]
    return Question(terms[scoring], rarity[scoring].astype(np.float32), np.sort(terms[selecting]), reachable)


def worth(beginnings: Mapping[str, Ids], statistics: Statistics | Pooled) -> dict[str, float]:
    """Return how much it says that a word of a question is met, by the word's most frequent term."""
    if not beginnings:
        return {}
    table = np.stack(list(beginnings.values()))
    frequencies = statistics.frequencies(table.ravel()).reshape(table.shape).max(axis=1)
    return dict(zip(beginnings, _rarity(frequencies, max(statistics.chunks, 1)).tolist(), strict=True))


def _rarity(frequencies: npt.NDArray[np.float64], chunks: int) -> npt.NDArray[np.float64]:
    rarity: npt.NDArray[np.float64] = np.log1p(
        np.maximum(chunks - frequencies + 0.5, 0.5) / (frequencies + 0.5)
    )
    return rarity


def _highest_of_groups(groups: Sequence[Ids], values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    starts = np.cumsum([0, *(len(group) for group in groups[:-1])])
    highest: npt.NDArray[np.float64] = np.maximum.reduceat(values, starts)
    return highest
