"""How rare words are in the searched bases, read from what each document's row keeps and remembered for a moment.

A base's statistics never leave it: a search weighs words by the bases it may read, and by no other.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from uuid import UUID

import asyncpg

from services.shared.db import Pool
from services.vectorstore.bm25 import Pooled, Statistics

FRESH_SECONDS = 2.0
"""A document counts in the rarity of words this long after it is stored, at the latest."""

SAMPLE = 400
"""Documents that are looked at in one base: always the same ones, drawn by lot when they are stored."""

SAMPLE_BYTES = 4 << 20
"""Counts that are read of one base, in bytes: fewer documents are looked at where they hold more."""

_BASES_REMEMBERED = 1024
_TERMS_REMEMBERED = 1 << 24
_BASES_AT_ONCE = 8

# The length of a value is known without reading it.
_LOAD = """
SELECT wanted.id, sampled.chunk_count, sampled.term_counts, sampled.languages
FROM unnest($1::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT chunk_count, term_counts, languages FROM (
        SELECT chunk_count, term_counts, languages,
            sum(octet_length(term_counts)) OVER (ORDER BY draw) - octet_length(term_counts) AS read_before
        FROM (
            SELECT chunk_count, term_counts, languages, draw FROM rag_documents
            WHERE knowledge_base_id = wanted.id ORDER BY draw LIMIT $2
        ) AS drawn
    ) AS measured WHERE read_before < $3
) AS sampled
"""


class StatisticsCache:
    """The statistics of the bases that this process searched lately. Searches that want the same load it once."""

    def __init__(self, pool: Pool, clock: Callable[[], float] = time.monotonic) -> None:
        self._pool = pool
        self._clock = clock
        self._loaded: dict[UUID, tuple[float, Statistics]] = {}
        self._loading: dict[UUID, asyncio.Task[dict[UUID, Statistics]]] = {}
        self._terms = 0

    async def of(self, base_ids: Iterable[UUID]) -> Pooled:
        """Return the statistics of several bases as one. Whoever calls holds no connection meanwhile."""
        asked = set(base_ids)
        oldest = self._clock() - FRESH_SECONDS
        found = {base: self._loaded[base][1] for base in asked if self._loaded_at(base) > oldest}
        stale = asked - found.keys()
        self._begin([base for base in stale if base not in self._loading])
        for loading in {self._loading[base] for base in stale}:
            found |= await asyncio.shield(loading)
        return Pooled(tuple(found[base] for base in asked))

    def _loaded_at(self, base_id: UUID) -> float:
        entry = self._loaded.get(base_id)
        return float("-inf") if entry is None else entry[0]

    def _begin(self, base_ids: Sequence[UUID]) -> None:
        if not base_ids:
            return
        loading = asyncio.create_task(self._load(base_ids), name="statistics of bases")
        self._loading |= dict.fromkeys(base_ids, loading)
        loading.add_done_callback(partial(self._ended, base_ids))

    def _ended(self, base_ids: Sequence[UUID], loading: "asyncio.Task[dict[UUID, Statistics]]") -> None:
        for base in base_ids:
            del self._loading[base]
        if not loading.cancelled():
            loading.exception()  # whoever waited has it; perhaps nobody does any more

    async def _load(self, base_ids: Sequence[UUID]) -> dict[UUID, Statistics]:
        loaded: dict[UUID, Statistics] = {}
        for start in range(0, len(base_ids), _BASES_AT_ONCE):
            some = base_ids[start : start + _BASES_AT_ONCE]
            now = self._clock()
            rows = await self._pool.fetch(_LOAD, some, SAMPLE, SAMPLE_BYTES)
            merged = await asyncio.to_thread(_merged, some, rows)
            loaded |= merged
            for base, statistics in merged.items():
                self._remember(base, now, statistics)
        return loaded

    def _remember(self, base_id: UUID, now: float, statistics: Statistics) -> None:
        """Keep what was loaded, and forget what was loaded longest ago where that is too much."""
        self._forget(base_id)
        self._loaded[base_id] = (now, statistics)
        self._terms += len(statistics.terms)
        while len(self._loaded) > _BASES_REMEMBERED or self._terms > _TERMS_REMEMBERED:
            self._forget(next(iter(self._loaded)))

    def _forget(self, base_id: UUID) -> None:
        _, statistics = self._loaded.pop(base_id, (0.0, None))
        if statistics is not None:
            self._terms -= len(statistics.terms)


def _merged(base_ids: Sequence[UUID], rows: Sequence[asyncpg.Record]) -> dict[UUID, Statistics]:
    documents: dict[UUID, list[Statistics]] = {base: [] for base in base_ids}
    for row in rows:
        documents[row["id"]].append(
            Statistics.decoded(row["chunk_count"], row["term_counts"], row["languages"])
        )
    return {base: Statistics.merged(parts) for base, parts in documents.items()}
