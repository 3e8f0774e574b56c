"""Page files and chunk files: zstd streams of length-delimited protobuf, written as they are made."""

import io
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from typing import IO, cast

import zstandard
from google.protobuf.message import Message
from google.protobuf.proto import serialize_length_prefixed

from acervo.ingest.v1.chunks_pb2 import Chunk, ChunkFileHeader, PageText
from services.ingest.splitter import Span
from services.shared.pages import page_of
from services.shared.readers.result import PAGE_SEPARATOR, Page, Parsed

_LEVEL = 3


def write_pages(pages: Iterable[Page], file: IO[bytes]) -> None:
    """Write a page file."""
    _write((PageText(number=page.number, text=page.text) for page in pages), file)


def write_chunks(parsed: Parsed, spans: Iterable[Span], file: IO[bytes]) -> int:
    """Write the chunks that `spans` cut out of `parsed.text`; return how many there are."""
    text = parsed.text
    starts = list(accumulate((len(p.text) + len(PAGE_SEPARATOR) for p in parsed.pages[:-1]), initial=0))
    has_pages = parsed.pages[0].number > 0
    count = told = 0

    def chunks() -> Iterable[Chunk]:
        nonlocal count, told
        for count, (start, end) in enumerate(spans, 1):
            chunk = Chunk(ordinal=count - 1, text=text[start:end], start=start, end=end)
            if has_pages:
                begun = bisect_left(starts, end)
                chunk.page = page_of(start, end, starts) + 1
                chunk.page_starts.extend(starts[told:begun])
                told = max(told, begun)
            yield chunk

    _write(chunks(), file)
    return count


def head(header: ChunkFileHeader) -> bytes:
    """The first frame of a chunk file, that of its header. The frame of its chunks comes after it.

    zstd decoders take frames one after another for one stream if they are told to
    (`read_across_frames=True` in Python).
    """
    file = io.BytesIO()
    _write([header], file)
    return file.getvalue()


def _write(messages: Iterable[Message], file: IO[bytes]) -> None:
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    with compressor.stream_writer(file, closefd=False) as stream:
        for message in messages:
            serialize_length_prefixed(message, cast("io.BytesIO", stream))  # any writable stream will do
