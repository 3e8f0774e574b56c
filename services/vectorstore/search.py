"""Search: both legs in one statement a table, fused over all tables as one, then the passages that won."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

import asyncpg
import numpy as np
import numpy.typing as npt

from services.shared.db import Connection, Pool
from services.shared.pages import page_of
from services.vectorstore import bm25, fusion, tables, wire
from services.vectorstore.embedding import Embedders
from services.vectorstore.excerpts import Excerpt, excerpt
from services.vectorstore.fusion import POOL
from services.vectorstore.models import Space
from services.vectorstore.rarity import StatisticsCache
from services.vectorstore.tables import Collection
from services.vectorstore.terms import Lexicon


class Legs(Enum):
    """Which legs hand in candidates."""

    BOTH = "both"
    VECTOR = "vector"
    LEXICAL = "lexical"


@dataclass(frozen=True, slots=True)
class Base:
    """A knowledge base that the caller may read."""

    id: UUID
    collection: str
    space: Space


@dataclass(frozen=True, slots=True)
class Query:
    """A question to bases that the caller may read."""

    text: str
    bases: Sequence[Base]
    limit: int
    legs: Legs
    caller: str
    """Who asks: of one caller few questions wait at a time."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that was found, and why it stands where it stands."""

    document_id: UUID
    knowledge_base_id: UUID
    collection: str
    filename: str
    page: int
    ordinal: int
    start: int
    end: int
    text: str
    fused: float
    vector: float
    lexical: float
    coverage: float
    excerpt: str


# Each leg carries the other's score along: what it selects is known to both. Every leg is scoped by base.
_VECTOR_LEG = """
SELECT document_id, attempt, ordinal, distance, weights <#> $3 AS unfitness FROM (
    SELECT document_id, attempt, ordinal, weights, embedding <#> $2 AS distance FROM {table}
    WHERE knowledge_base_id = ANY($1::uuid[]) ORDER BY distance LIMIT {pool}
) AS nearest
"""
_LEXICAL_LEG = """
SELECT document_id, attempt, ordinal, embedding <#> $2 AS distance, unfitness FROM (
    SELECT document_id, attempt, ordinal, embedding, weights <#> $3 AS unfitness FROM {table}
    WHERE knowledge_base_id = ANY($1::uuid[]) AND terms && $4::integer[] ORDER BY unfitness LIMIT {pool}
) AS fitting
"""
_PASSAGES = """
SELECT wanted.place, chunk.knowledge_base_id, chunk.page, chunk.ordinal, chunk.text_start, chunk.text_end, chunk.text,
    document.document_id, document.filename, width_bucket(text_start, page_starts) AS first_page,
    page_starts[width_bucket(text_start, page_starts) : width_bucket(text_end - 1, page_starts)] AS page_starts
FROM unnest($2::uuid[], $3::integer[], $4::integer[], $5::integer[]) AS wanted (document_id, attempt, ordinal, place)
JOIN {table} AS chunk USING (document_id, attempt, ordinal)
JOIN rag_documents AS document USING (document_id)
WHERE chunk.knowledge_base_id = ANY($1::uuid[])
"""


def candidates_statement(table: str, legs: Legs) -> str:
    """Return the statement that answers up to 100 candidates of each leg with both scores, negated.

    Parameters: base ids, the question's `vector`, its `sparsevec`, and the terms that select (lexical leg alone).
    """
    parts = {
        Legs.VECTOR: [_VECTOR_LEG],
        Legs.LEXICAL: [_LEXICAL_LEG],
        Legs.BOTH: [_VECTOR_LEG, _LEXICAL_LEG],
    }[legs]
    return "UNION".join(parts).format(table=table, pool=POOL)


def passages_statement(table: str) -> str:
    """Return the statement that answers the text of candidates by key, with the place of each."""
    return _PASSAGES.format(table=table)


@dataclass(frozen=True, slots=True)
class _Scope:
    """A table, and the bases of the question that it holds."""

    collection: Collection
    bases: list[UUID]


class Searcher:
    """Answers questions. Whether the caller may ask is decided before."""

    def __init__(self, pool: Pool, embedders: Embedders) -> None:
        self._pool = pool
        self._embedders = embedders
        self._rarity = StatisticsCache(pool)
        self._lexicon = Lexicon()

    async def search(self, query: Query) -> list[Passage]:
        """Return the passages that fit best, best first.

        Raises:
            ModelUnavailable, Overloaded, Unavailable: a question cannot be embedded now, or not here.
        """
        vectors = {
            space: next(wire.vectors(vector[None, :]))
            for space in dict.fromkeys(base.space for base in query.bases)
            for vector in [await self._embedders.embed_query(space, query.text, query.caller)]
        }
        statistics = await self._rarity.of(base.id for base in query.bases)
        async with self._pool.acquire() as connection:
            scopes = await _scopes(connection, query.bases)
            groups = self._lexicon.question(query.text, statistics.languages)
            question = bm25.question(groups, statistics)
            found = [
                (scope, await _candidates(connection, scope, query.legs, question, vectors))
                for scope in scopes
            ]
            worth = bm25.worth(self._lexicon.beginnings(query.text, statistics.languages), statistics)
            return await _passages(connection, found, query, question.reachable, worth)


async def _scopes(connection: Connection, bases: Sequence[Base]) -> list[_Scope]:
    """Group the bases by the table that holds them.

    A base that nothing was stored in has none, or one that was made in another space, and empty of its chunks.
    """
    by_table: dict[tuple[str, Space], list[UUID]] = defaultdict(list)
    for base in bases:
        by_table[base.collection, base.space].append(base.id)
    found = await tables.find(connection, [base.collection for base in bases])
    scopes = [_Scope(collection, by_table[collection.name, collection.space]) for collection in found]
    return [scope for scope in scopes if scope.bases]


async def _candidates(
    connection: Connection,
    scope: _Scope,
    legs: Legs,
    question: bm25.Question,
    vectors: Mapping[Space, bytes],
) -> list[asyncpg.Record]:
    sparse = wire.sparse_vector(question.terms, question.weights)
    arguments = [scope.bases, vectors[scope.collection.space], sparse]
    if legs is not Legs.VECTOR:
        arguments.append(question.selecting.tolist())
    statement = candidates_statement(scope.collection.table, legs)
    try:
        return await connection.fetch(statement, *arguments)
    except asyncpg.UndefinedTableError:  # dropped since it was found
        return []


async def _passages(
    connection: Connection,
    found: Sequence[tuple[_Scope, list[asyncpg.Record]]],
    query: Query,
    reachable: float,
    worth: Mapping[str, float],
) -> list[Passage]:
    """Order the candidates of all scopes as one, and fetch what the best of them say."""
    candidates = [(scope, row) for scope, rows in found for row in rows]
    vector = -np.array([row["distance"] for _, row in candidates], np.float64)
    lexical = -np.array([row["unfitness"] for _, row in candidates], np.float64)
    covered = fusion.coverage(lexical, reachable)
    if query.legs is Legs.BOTH:
        fused = fusion.fuse(vector, lexical, covered, _spaces(found))
    else:
        fused = vector if query.legs is Legs.VECTOR else lexical
    best = np.argsort(-fused, kind="stable")[: query.limit].tolist()
    texts = await _texts(connection, [(*candidates[place], place) for place in best])
    return [
        Passage(
            document_id=row["document_id"],
            knowledge_base_id=row["knowledge_base_id"],
            collection=candidates[place][0].collection.name,
            filename=row["filename"],
            page=_page(row, part),
            ordinal=row["ordinal"],
            start=row["text_start"],
            end=row["text_end"],
            text=row["text"],
            fused=float(fused[place]),
            vector=float(vector[place]),
            lexical=float(lexical[place]),
            coverage=covered,
            excerpt=part.text,
        )
        for place, row in ((place, texts[place]) for place in best if place in texts)
        for part in [excerpt(row["text"], worth)]
    ]


def _page(row: asyncpg.Record, part: Excerpt) -> int:
    """Return the page that holds most of what an excerpt is shown for, 0 where there are no pages."""
    if not row["page_starts"]:  # the kind has none, or the document is older than what is told of them
        return int(row["page"])
    start, end = (row["text_start"] + place for place in part.core)
    return int(row["first_page"]) + page_of(start, end, row["page_starts"])


async def _texts(
    connection: Connection, wanted: Sequence[tuple[_Scope, asyncpg.Record, int]]
) -> dict[int, asyncpg.Record]:
    """Return what candidates say, each under its place in the pool; those that are gone by now are left out."""
    by_table: dict[str, list[tuple[_Scope, asyncpg.Record, int]]] = defaultdict(list)
    for entry in wanted:
        by_table[entry[0].collection.table].append(entry)
    texts: dict[int, asyncpg.Record] = {}
    for table, entries in by_table.items():
        keys = [[row[column] for _, row, _ in entries] for column in ("document_id", "attempt", "ordinal")]
        places = [place for _, _, place in entries]
        try:
            rows = await connection.fetch(passages_statement(table), entries[0][0].bases, *keys, places)
        except asyncpg.UndefinedTableError:  # dropped since it was searched
            continue
        texts.update((row["place"], row) for row in rows)
    return texts


def _spaces(found: Sequence[tuple[_Scope, list[asyncpg.Record]]]) -> npt.NDArray[np.int64]:
    """Give each candidate the number of its embedding space."""
    numbers: dict[Space, int] = {}
    spaces = ((numbers.setdefault(scope.collection.space, len(numbers)), rows) for scope, rows in found)
    return np.array([number for number, rows in spaces for _ in rows], np.int64)
