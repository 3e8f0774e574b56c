"""Reading the chunk files that ingest leaves in blob storage."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import zstandard
from google.protobuf.message import DecodeError
from google.protobuf.proto import parse_length_prefixed

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.ingest.v1.chunks_pb2 import Chunk, ChunkFileHeader
from services.shared.blobs import BlobNotFound, BlobStore
from services.shared.errors import AcervoError


class ChunksGone(AcervoError):
    """The file is not there, is damaged, or is not what its name says."""

    def __init__(self) -> None:
        super().__init__(pb.ERROR_REASON_CHUNKS_GONE)


@dataclass(frozen=True, slots=True)
class ChunkFile:
    """A document's chunks, ordered by ordinal from 0, none of them empty."""

    header: ChunkFileHeader
    chunks: list[Chunk]


def key(document_id: UUID, attempt: int, epoch: int) -> str:
    """Return the key of a chunk file, as ingest writes it."""
    return f"ingest/chunks/{document_id}/{attempt}/{epoch}"


async def read(store: BlobStore, document_id: UUID, attempt: int, epoch: int) -> ChunkFile:
    """Return a chunk file.

    Raises:
        ChunksGone: it cannot be used.
    """
    try:
        data = await store.get(key(document_id, attempt, epoch))
        header, chunks = decode(data)
    except (BlobNotFound, DecodeError, zstandard.ZstdError) as error:
        raise ChunksGone from error
    written_for = (header.document_id, header.attempt, header.epoch)
    whole = header.chunk_count == len(chunks) and all(
        chunk.ordinal == place for place, chunk in enumerate(chunks)
    )
    if written_for != (str(document_id), attempt, epoch) or not whole or not chunks:
        raise ChunksGone
    return ChunkFile(header, chunks)


def decode(data: bytes) -> tuple[ChunkFileHeader, list[Chunk]]:
    """Decode a chunk file's bytes.

    Raises:
        DecodeError, zstandard.ZstdError: they are damaged.
    """
    stream = io.BytesIO(zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read())
    header = parse_length_prefixed(ChunkFileHeader, stream)
    if header is None:
        raise DecodeError("the file is empty")
    return header, list(_chunks(stream))


def _chunks(stream: io.BytesIO) -> Iterator[Chunk]:
    while (chunk := parse_length_prefixed(Chunk, stream)) is not None:
        if "\0" in chunk.text:
            chunk.text = chunk.text.replace("\0", "")
        yield chunk
