"""Reading the chunk files that ingest leaves in blob storage, slice by slice and away from the event loop."""

import asyncio
import contextlib
import io
import tempfile
from collections.abc import AsyncIterator
from typing import IO, TypeVar, cast
from uuid import UUID

import zstandard
from google.protobuf.message import DecodeError
from google.protobuf.proto import parse_length_prefixed

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.ingest.v1.chunks_pb2 import Chunk, ChunkFileHeader
from services.shared.blobs import BlobNotFound, BlobStore
from services.shared.errors import AcervoError

SLICE_CHUNKS = 512
SLICE_CHARACTERS = 1 << 18
"""A slice is closed by the chunk that fills it, whichever of the two is reached first."""

# A compressed file up to this size is not worth a file on disk.
_HELD_BYTES = 1 << 20

_Record = TypeVar("_Record", ChunkFileHeader, Chunk)


class ChunksGone(AcervoError):
    """The file is not there, is damaged, or is not what its name says."""

    def __init__(self) -> None:
        super().__init__(pb.ERROR_REASON_CHUNKS_GONE)


def key(document_id: UUID, attempt: int, epoch: int) -> str:
    """Return the key of a chunk file, as ingest writes it."""
    return f"ingest/chunks/{document_id}/{attempt}/{epoch}"


@contextlib.asynccontextmanager
async def opened(store: BlobStore, document_id: UUID, attempt: int, epoch: int) -> AsyncIterator["ChunkFile"]:
    """Fetch a chunk file and yield it, to be read within the block.

    Raises:
        ChunksGone: it cannot be used.
    """
    with tempfile.SpooledTemporaryFile(_HELD_BYTES) as file:
        try:
            async for data in store.stream(key(document_id, attempt, epoch)):
                await asyncio.to_thread(file.write, data)
        except BlobNotFound as error:
            raise ChunksGone from error
        opened = await asyncio.to_thread(ChunkFile, file)
        header = opened.header
        if (header.document_id, header.attempt, header.epoch) != (str(document_id), attempt, epoch):
            raise ChunksGone
        yield opened


class ChunkFile:
    """A document's chunks, ordered by ordinal from 0. Making one and reading its `slice`s block.

    Raises:
        ChunksGone: the file is damaged.
    """

    def __init__(self, file: IO[bytes]) -> None:
        file.seek(0)
        decompressing = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        self._stream = io.BufferedReader(cast("io.RawIOBase", decompressing))
        self._taken = 0
        header = self._next(ChunkFileHeader)
        if header is None or header.chunk_count < 1:
            raise ChunksGone
        self.header = header

    async def slices(self) -> AsyncIterator[list[Chunk]]:
        """Yield the chunks, some at a time and never none."""
        while self._taken < self.header.chunk_count:
            yield await asyncio.to_thread(self.slice)

    def slice(self) -> list[Chunk]:
        """Return the next chunks. With the last ones it is certain that the file is whole."""
        chunks: list[Chunk] = []
        left = SLICE_CHARACTERS
        while len(chunks) < SLICE_CHUNKS and left > 0 and self._taken < self.header.chunk_count:
            chunk = self._next(Chunk)
            if chunk is None or chunk.ordinal != self._taken:
                raise ChunksGone
            if "\0" in chunk.text:
                chunk.text = chunk.text.replace("\0", "")
            chunks.append(chunk)
            left -= len(chunk.text)
            self._taken += 1
        if self._taken == self.header.chunk_count and self._next(Chunk) is not None:
            raise ChunksGone
        return chunks

    def _next(self, kind: type[_Record]) -> _Record | None:
        try:
            return parse_length_prefixed(kind, cast("io.BytesIO", self._stream))
        except (DecodeError, zstandard.ZstdError) as error:
            raise ChunksGone from error
