"""Counting what is stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from services.shared.db import Pool

_COUNT = """
SELECT wanted.id, count(document.document_id) AS documents, coalesce(sum(document.chunk_count), 0) AS chunks
FROM unnest($1::uuid[]) AS wanted (id)
LEFT JOIN rag_documents AS document ON document.knowledge_base_id = wanted.id
GROUP BY wanted.id
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """What one base holds."""

    documents: int
    chunks: int


async def count(pool: Pool, base_ids: Sequence[UUID]) -> dict[UUID, Counts]:
    """Return the counts of each base; zero where nothing is stored."""
    rows = await pool.fetch(_COUNT, list(set(base_ids)))
    return {row["id"]: Counts(row["documents"], row["chunks"]) for row in rows}
