"""`hashing-256`: for tests and for measuring everything but the model. It knows words, not meaning."""

import zlib
from collections.abc import Sequence

import numpy as np

from services.vectorstore.models.base import Vectors, normalised

WIDTH = 256
_WORDS_REMEMBERED = 1 << 16


class HashingModel:
    """Adds one of `WIDTH` signed unit vectors for each word, chosen by the word's CRC-32."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        vectors = np.zeros((len(texts), 2 * WIDTH), np.float32)
        for row, text in enumerate(texts):
            places = [self._place(word) for word in text.lower().split()]
            vectors[row] = np.bincount(places, minlength=2 * WIDTH) if places else 0
        return normalised(vectors[:, :WIDTH] - vectors[:, WIDTH:])

    def embed_query(self, text: str) -> Vectors:
        """Return one vector."""
        vector: Vectors = self.embed_documents([text])[0]
        return vector

    def _place(self, word: str) -> int:
        place = self._places.get(word)
        if place is None:
            if len(self._places) >= _WORDS_REMEMBERED:
                self._places.clear()
            place = self._places[word] = zlib.crc32(word.encode("utf-8", "replace")) % (2 * WIDTH)
        return place
