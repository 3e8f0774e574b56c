"""What an embedding model is, and the space that its vectors live in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Space:
    """An embedding space: only vectors of one space can be compared."""

    model: str
    width: int


class EmbeddingModel(Protocol):
    """Turns texts into vectors of length 1, so that their inner product is their cosine.

    Blocks while it computes; `services.vectorstore.embedder` keeps that away from the event loop. Texts hold no NULs.
    """

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Return one vector."""
        ...


def normalised(vectors: Vectors) -> Vectors:
    """Scale rows to length 1. A row of zeros stays: it is like nothing."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
    return scaled


def encodable(text: str) -> str:
    """Replace lone surrogates, which no encoding can carry, and NULs, at which C code would stop."""
    if "\0" in text:
        text = text.replace("\0", " ")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
