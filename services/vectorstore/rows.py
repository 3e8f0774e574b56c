"""A document's chunks as the rows of a collection's table, in the stream that COPY takes."""

import struct
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import numpy.typing as npt

from acervo.ingest.v1.chunks_pb2 import Chunk
from services.vectorstore import bm25, wire
from services.vectorstore.bm25 import Statistics
from services.vectorstore.terms import Lexicon

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
# The number of columns, then length and value of each of those that are of one size.
_FIXED = struct.Struct(">h i16s i16s ii ii ii iq iq")
_LENGTH = struct.Struct(">i")


@dataclass(frozen=True, slots=True)
class Rows:
    """Encoded rows of one document."""

    chunk_count: int
    pieces: list[bytes]
    statistics: Statistics

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield what `copy_to_table(source=..., format="binary")` takes."""
        yield wire.COPY_HEADER
        for piece in self.pieces:
            yield piece
        yield wire.COPY_TRAILER


def encode(
    base_id: UUID,
    document_id: UUID,
    attempt: int,
    chunks: Sequence[Chunk],
    embeddings: npt.NDArray[np.float32],
    lexicon: Lexicon,
) -> Rows:
    """Encode chunks, one row of `embeddings` each."""
    texts = [chunk.text for chunk in chunks]
    analysis = lexicon.analyse(texts)
    weights = bm25.stored_weights(analysis)
    variable = zip(
        wire.vectors(embeddings),
        wire.sparse_vectors(analysis.offsets, analysis.terms, weights),
        wire.integer_arrays(analysis.offsets, analysis.terms),
        (text.encode("utf-8", "replace") for text in texts),
        strict=True,
    )
    base, document = base_id.bytes, document_id.bytes
    rows = (
        _FIXED.pack(
            *(len(COLUMNS), 16, base, 16, document, 4, attempt, 4, chunk.ordinal, 4, chunk.page),
            *(8, chunk.start, 8, chunk.end),
        )
        + b"".join(part for value in values for part in (_LENGTH.pack(len(value)), value))
        for chunk, values in zip(chunks, variable, strict=True)
    )
    return Rows(len(chunks), list(_joined(rows)), Statistics.of(analysis))


def _joined(rows: Iterator[bytes]) -> Iterator[bytes]:
    """Join rows to pieces that are worth a message."""
    waiting: list[bytes] = []
    size = 0
    for row in rows:
        waiting.append(row)
        size += len(row)
        if size >= _PIECE_BYTES:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)
