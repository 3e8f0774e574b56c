"""Vectors that were computed before, by model and text."""

import asyncio
import hashlib
from collections.abc import Sequence

import numpy as np

from services.shared.db import Pool
from services.vectorstore.embedding.embedders import Embedders
from services.vectorstore.embedding.line import Urgency
from services.vectorstore.models import Space, Vectors, find

_BATCH = 64
_EXPIRE_BATCH = 1000
_EXPIRE_SECONDS = 600.0

_LOOK = "SELECT text_hash, vector FROM embedding_cache WHERE model = $1 AND text_hash = ANY($2::bytea[])"
_KEEP = """
INSERT INTO embedding_cache (model, text_hash, vector)
SELECT $1, * FROM unnest($2::bytea[], $3::bytea[])
ON CONFLICT (model, text_hash) DO NOTHING
"""
_EXPIRE = """
DELETE FROM embedding_cache WHERE (model, text_hash) IN (
    SELECT model, text_hash FROM embedding_cache
    WHERE stored_at < now() - make_interval(days => $1) ORDER BY stored_at LIMIT $2
)
"""


class EmbeddingCache:
    """Embeds documents' texts through a table of what was embedded before.

    Each batch is kept as soon as it is there: a document that fails half-way does not pay again for what succeeded.
    """

    def __init__(self, pool: Pool, embedders: Embedders) -> None:
        self._pool = pool
        self._embedders = embedders

    async def embed_documents(
        self, space: Space, texts: Sequence[str], urgency: Urgency, asker: str
    ) -> Vectors:
        """Return one vector a text. Raises what `Embedders.embed_documents` does."""
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        embed = self._embedders.embed_documents if find(space).cheap else self._embed_batch
        return np.concatenate([await embed(space, batch, urgency, asker) for batch in batches])

    async def _embed_batch(self, space: Space, texts: Sequence[str], urgency: Urgency, asker: str) -> Vectors:
        hashes = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        known = {
            row["text_hash"]: row["vector"] for row in await self._pool.fetch(_LOOK, space.model, hashes)
        }
        missing = {key: text for key, text in zip(hashes, texts, strict=True) if key not in known}
        if missing:
            vectors = await self._embedders.embed_documents(space, list(missing.values()), urgency, asker)
            fresh = dict(zip(missing, (vector.astype("<f4").tobytes() for vector in vectors), strict=True))
            await self._pool.execute(_KEEP, space.model, list(fresh), list(fresh.values()))
            known |= fresh
        return np.stack([np.frombuffer(known[key], "<f4") for key in hashes])

    async def expire_forever(self, days: int) -> None:
        """Remove vectors that were kept for more than `days`, batch by batch, until cancelled."""
        while True:
            status = await self._pool.execute(_EXPIRE, days, _EXPIRE_BATCH)
            if status != f"DELETE {_EXPIRE_BATCH}":
                await asyncio.sleep(_EXPIRE_SECONDS)
