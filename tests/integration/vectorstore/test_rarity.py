"""What is read to tell how rare words are, however large a base is and however many ask."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

import numpy as np
import pytest

from services.shared.db import Pool
from services.shared.ids import uuid7
from services.vectorstore import rarity
from services.vectorstore.bm25 import Statistics
from services.vectorstore.rarity import SAMPLE, SAMPLE_BYTES, StatisticsCache

_KEEP = """
INSERT INTO rag_documents (
    document_id, knowledge_base_id, collection, attempt, address, version, filename, kind, source, chunk_count,
    term_counts, languages, address_digest
) VALUES ($1, $2, 'handbook', 1, '', 1, 'a.md', 'md', 'upload', 1, $3, '{0}', sha256(''))
"""


class Listening:
    """A pool that notes which bases are read."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.read: list[UUID] = []

    async def fetch(self, statement: str, base_ids: Sequence[UUID], *arguments: object) -> Any:
        self.read += base_ids
        return await self._pool.fetch(statement, base_ids, *arguments)


async def keep(pool: Pool, base: UUID, *term_counts: int) -> None:
    """Store the counts of documents, given as numbers of terms."""
    for count in term_counts:
        terms = np.arange(1, count + 1, dtype=np.uint32)
        counted = Statistics(1, terms, np.ones(count, np.uint32), frozenset({0}))
        await pool.execute(_KEEP, uuid7(), base, counted.encoded())


async def test_searches_that_wait_for_the_same_bases_read_them_once(pool: Pool) -> None:
    bases = [uuid7() for _ in range(20)]
    for base in bases:
        await keep(pool, base, 10)
    listening = Listening(pool)
    cache = StatisticsCache(cast("Pool", listening))
    await asyncio.gather(*(cache.of(bases[start:]) for start in range(20)))
    assert sorted(listening.read) == sorted(bases)


async def test_search_that_goes_away_takes_nothing_from_those_that_wait_with_it(pool: Pool) -> None:
    base = uuid7()
    await keep(pool, base, 10)
    cache = StatisticsCache(pool)
    leaving, staying = (asyncio.create_task(cache.of([base])) for _ in range(2))
    await asyncio.sleep(0)
    leaving.cancel()
    assert (await staying).chunks == 1


async def test_what_is_read_of_a_base_is_bounded_in_bytes_and_in_documents(pool: Pool) -> None:
    many, large = uuid7(), uuid7()
    await keep(pool, many, *([3] * (SAMPLE + 20)))
    each = 1 << 17
    await keep(pool, large, *([each] * 8))
    cache = StatisticsCache(pool)
    assert (await cache.of([many])).chunks == SAMPLE
    assert (await cache.of([large])).chunks == SAMPLE_BYTES // (8 * each)


async def test_what_is_remembered_is_bounded_and_a_question_to_more_bases_is_answered(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rarity, "_BASES_REMEMBERED", 3)
    bases = [uuid7() for _ in range(10)]
    for base in bases:
        await keep(pool, base, 5)
    listening = Listening(pool)
    cache = StatisticsCache(cast("Pool", listening))
    assert (await cache.of(bases[:2])).chunks == 2
    assert (await cache.of(bases)).chunks == 10
    assert len(listening.read) == 10
    await cache.of(bases)
    assert len(listening.read) == 10 + 10 - 3


async def test_several_bases_weigh_as_one(pool: Pool) -> None:
    bases = [uuid7(), uuid7()]
    await keep(pool, bases[0], 2, 3)
    await keep(pool, bases[1], 3)
    pooled = await StatisticsCache(pool).of([*bases, bases[0]])
    assert pooled.frequencies(np.array([1, 2, 3, 4], np.uint32)).tolist() == [3, 3, 2, 0]
    assert (pooled.chunks, pooled.languages) == (3, frozenset({0}))
