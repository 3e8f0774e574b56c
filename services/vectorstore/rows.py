"""A document's chunks as the rows of a collection's table, encoded in slices to the stream that COPY takes."""

import asyncio
import struct
import tempfile
from collections.abc import AsyncIterator, Sequence
from typing import Self
from uuid import UUID

import numpy as np
import numpy.typing as npt

from acervo.ingest.v1.chunks_pb2 import Chunk
from services.vectorstore import bm25, wire
from services.vectorstore.bm25 import Statistics, Tally
from services.vectorstore.terms import Lexicon, Votes

COLUMNS = (
    "knowledge_base_id",
    "document_id",
    "attempt",
    "ordinal",
    "page",
    "text_start",
    "text_end",
    "embedding",
    "weights",
    "terms",
    "text",
)

_PIECE_BYTES = 256 * 1024
# Rows up to this size are not worth a file on disk.
_HELD_BYTES = 4 << 20
# The number of columns, then length and value of each of those that are of one size.
_FIXED = struct.Struct(">h i16s i16s ii ii ii iq iq")
_LENGTH = struct.Struct(">i")


class Rows:
    """Encoded rows of one document, in memory or, where they are many, in a file without a name. Close them."""

    def __init__(self, base_id: UUID, document_id: UUID, attempt: int) -> None:
        self._fixed = (16, base_id.bytes, 16, document_id.bytes, 4, attempt)
        self._file = tempfile.SpooledTemporaryFile(_HELD_BYTES)  # noqa: SIM115 - closed with the rows
        self._votes: Votes | None = None
        self._tally = Tally()
        self.chunk_count = 0
        self.page_starts: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, chunks: Sequence[Chunk], embeddings: npt.NDArray[np.float32], lexicon: Lexicon) -> None:
        """Encode the document's next chunks, one row of `embeddings` each. Blocks."""
        texts = [chunk.text for chunk in chunks]
        analysis = lexicon.analyse(texts, self._votes)
        self._votes = analysis.votes
        variable = zip(
            wire.vectors(embeddings),
            wire.sparse_vectors(analysis.offsets, analysis.terms, bm25.stored_weights(analysis)),
            wire.integer_arrays(analysis.offsets, analysis.terms),
            (text.encode("utf-8", "replace") for text in texts),
            strict=True,
        )
        self._file.writelines(
            _FIXED.pack(
                *(len(COLUMNS), *self._fixed, 4, chunk.ordinal, 4, chunk.page),
                *(8, chunk.start, 8, chunk.end),
            )
            + b"".join(part for value in values for part in (_LENGTH.pack(len(value)), value))
            for chunk, values in zip(chunks, variable, strict=True)
        )
        self._tally.add(Statistics.of(analysis))
        self.chunk_count += len(chunks)
        for chunk in chunks:
            self.page_starts.extend(chunk.page_starts)

    def statistics(self) -> Statistics:
        """Return in how many of the chunks each term occurs. Blocks."""
        return self._tally.total()

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield what `copy_to_table(source=..., format="binary")` takes."""
        yield wire.COPY_HEADER
        await asyncio.to_thread(self._file.seek, 0)
        while piece := await asyncio.to_thread(self._file.read, _PIECE_BYTES):
            yield piece
        yield wire.COPY_TRAILER
