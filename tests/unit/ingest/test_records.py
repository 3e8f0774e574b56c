"""What a chunk file tells of the pages of its document."""

import io
from itertools import accumulate

import zstandard
from google.protobuf.proto import parse_length_prefixed
from hypothesis import given
from hypothesis import strategies as st

from acervo.ingest.v1.chunks_pb2 import Chunk
from services.ingest.pool.records import write_chunks
from services.ingest.splitter import Span
from services.shared.readers.result import PAGE_SEPARATOR, Page, Parsed

TEXTS = st.lists(st.text("ab ", max_size=30), min_size=1, max_size=8)
SPANS = st.lists(st.tuples(st.integers(0, 200), st.integers(1, 60)), min_size=1, max_size=8)


def written(pages: list[Page], spans: list[Span]) -> list[Chunk]:
    file = io.BytesIO()
    count = write_chunks(Parsed(tuple(pages), ()), spans, file)
    stream = io.BytesIO(zstandard.ZstdDecompressor().stream_reader(file.getvalue()).read())
    chunks = [parse_length_prefixed(Chunk, stream) for _ in range(count)]
    assert not stream.read()
    return [chunk for chunk in chunks if chunk is not None]


@given(TEXTS, SPANS)
def test_the_chunks_tell_together_where_the_pages_begin_that_they_reach(
    texts: list[str], cuts: list[tuple[int, int]]
) -> None:
    spans = [Span(start, start + length) for start, length in sorted(cuts)]
    chunks = written([Page(number, text) for number, text in enumerate(texts, 1)], spans)
    starts = accumulate((len(text) + len(PAGE_SEPARATOR) for text in texts[:-1]), initial=0)
    reached = max(span.end for span in spans)
    assert [start for chunk in chunks for start in chunk.page_starts] == [s for s in starts if s < reached]
    told = 0
    for chunk in chunks:
        told += len(chunk.page_starts)
        assert 1 <= chunk.page <= told


@given(st.text("ab ", min_size=1, max_size=90), SPANS)
def test_where_the_kind_has_no_pages_none_are_told(text: str, cuts: list[tuple[int, int]]) -> None:
    chunks = written([Page(0, text)], [Span(start, start + length) for start, length in sorted(cuts)])
    assert {(chunk.page, *chunk.page_starts) for chunk in chunks} == {(0,)}
