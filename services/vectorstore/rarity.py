"""How rare words are in the searched bases, read from what each document's row keeps and remembered for a moment.

A base's statistics never leave it: a search weighs words by the bases it may read, and by no other.
"""

import time
from collections.abc import Callable, Sequence
from uuid import UUID

from services.shared.db import Connection
from services.vectorstore.bm25 import Statistics

FRESH_SECONDS = 2.0
"""A document counts in the rarity of words this long after it is stored, at the latest."""

SAMPLE = 400
"""Documents that are looked at in one base: always the same ones, drawn by lot when they are stored."""

_BASES_REMEMBERED = 1024

_LOAD = """
SELECT wanted.id, sampled.chunk_count, sampled.term_counts, sampled.languages
FROM unnest($1::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT chunk_count, term_counts, languages FROM rag_documents
    WHERE knowledge_base_id = wanted.id ORDER BY draw LIMIT $2
) AS sampled
"""


class StatisticsCache:
    """The statistics of the bases that this process searched lately."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._loaded: dict[UUID, tuple[float, Statistics]] = {}

    async def of(self, connection: Connection, base_ids: Sequence[UUID]) -> Statistics:
        """Return the statistics of several bases as one."""
        now = self._clock()
        stale = [base for base in base_ids if now - self._loaded_at(base) >= FRESH_SECONDS]
        if stale:
            await self._load(connection, stale, now)
        return Statistics.merged(self._loaded[base][1] for base in base_ids)

    def _loaded_at(self, base_id: UUID) -> float:
        entry = self._loaded.get(base_id)
        return float("-inf") if entry is None else entry[0]

    async def _load(self, connection: Connection, base_ids: Sequence[UUID], now: float) -> None:
        documents: dict[UUID, list[Statistics]] = {base: [] for base in base_ids}
        for row in await connection.fetch(_LOAD, base_ids, SAMPLE):
            documents[row["id"]].append(
                Statistics.decoded(row["chunk_count"], row["term_counts"], row["languages"])
            )
        if len(self._loaded) + len(documents) > _BASES_REMEMBERED:
            self._loaded.clear()
        for base, parts in documents.items():
            self._loaded[base] = (now, Statistics.merged(parts))
