"""Page files and chunk files: zstd streams of length-delimited protobuf, written as they are made."""

import io
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import IO, cast

import zstandard
from google.protobuf.message import Message
from google.protobuf.proto import serialize_length_prefixed

from acervo.ingest.v1.chunks_pb2 import Chunk, ChunkFileHeader, PageText
from services.ingest.splitter import Span
from services.shared.readers.result import PAGE_SEPARATOR, Page, Parsed

_LEVEL = 3


def write_pages(pages: Iterable[Page], file: IO[bytes]) -> None:
    """Write a page file."""
    _write((PageText(number=page.number, text=page.text) for page in pages), file)


def write_chunks(parsed: Parsed, spans: Iterable[Span], file: IO[bytes]) -> int:
    """Write the chunks that `spans` cut out of `parsed.text`; return how many there are."""
    text = parsed.text
    starts = list(accumulate((len(p.text) + len(PAGE_SEPARATOR) for p in parsed.pages[:-1]), initial=0))
    count = 0

    def chunks() -> Iterable[Chunk]:
        nonlocal count
        for count, (start, end) in enumerate(spans, 1):
            page = parsed.pages[page_of(Span(start, end), starts)].number
            yield Chunk(ordinal=count - 1, text=text[start:end], page=page, start=start, end=end)

    _write(chunks(), file)
    return count


def page_of(span: Span, starts: Sequence[int]) -> int:
    """Return the place of the page that holds most of a chunk, the first of several; pages are told by their starts.

    A chunk often begins with the footer of the page before the one that it is about.
    """
    first, last = (bisect_right(starts, place) for place in (span.start, span.end - 1))
    bounds = [span.start, *starts[first:last], span.end]
    held = [end - start for start, end in pairwise(bounds)]
    return first - 1 + held.index(max(held))


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
