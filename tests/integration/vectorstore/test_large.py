"""A document is worked on in slices: what it takes does not depend on how long it is."""

import io
import tracemalloc
from collections.abc import Sequence

import pytest
import zstandard
from google.protobuf.proto import serialize_length_prefixed
from hypothesis import given, settings
from hypothesis import strategies as st

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.events.v1.facts_pb2 import DocumentFailed, DocumentIndexed
from acervo.ingest.v1.chunks_pb2 import Chunk, ChunkFileHeader
from services.vectorstore import chunk_file
from services.vectorstore.chunk_file import SLICE_CHARACTERS, SLICE_CHUNKS, ChunkFile, ChunksGone
from services.vectorstore.languages import LANGUAGES
from tests.integration.vectorstore.stage import Document, Stage

GERMAN = "Die Häuser in der Straße sind alt und werden von der Stadt gekauft."
# What waits in memory before it goes to a file, and some air.
_SPOOLED = 10 << 20


async def test_a_document_of_many_slices_is_stored_whole_and_counted_once(stage: Stage) -> None:
    texts = [f"chunk {n} of the harbour" for n in range(2 * SLICE_CHUNKS + 7)]
    document = Document(stage.base(), texts)
    await stage.index(document)
    assert await stage.stored(document.base) == {document.id: texts}
    assert await stage.pool.fetchval("SELECT chunk_count FROM rag_documents") == len(texts)
    (best,) = await stage.search("chunk 1029", document.base, limit=1)
    assert best.text == texts[1029]


async def test_a_chunk_that_does_not_tell_its_language_follows_the_document_so_far(stage: Stage) -> None:
    document = Document(stage.base(), [GERMAN] * SLICE_CHUNKS + ["Häuser"])
    await stage.index(document)
    assert await stage.pool.fetchval("SELECT languages FROM rag_documents") == [LANGUAGES.index("german")]
    assert SLICE_CHUNKS in {passage.ordinal for passage in await stage.search("Haus", document.base, limit=1)}


@pytest.mark.parametrize(
    "texts",
    [["a b c d " * 300] * 1000, ["\ufdfa" * 2500] * 330, ["x" * 8192] * 330],
    ids=["words of one letter", "characters that stand for eighteen", "words without end"],
)
async def test_memory_is_bounded_whatever_the_document(stage: Stage, texts: list[str]) -> None:
    async def peak(part: list[str]) -> int:
        document = await stage.write(Document(stage.base(), part))
        tracemalloc.reset_peak()
        await stage.indexing.index(document.work(), 1)
        fact = (await stage.facts())[-1]
        assert isinstance(fact, DocumentIndexed)
        return tracemalloc.get_traced_memory()[1] - tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        third = await peak(texts[: len(texts) // 3])
        assert await peak(texts) < third + _SPOOLED
    finally:
        tracemalloc.stop()


def file_of(header: ChunkFileHeader, *ordinals: int) -> bytes:
    stream = io.BytesIO()
    serialize_length_prefixed(header, stream)
    for ordinal in ordinals:
        serialize_length_prefixed(Chunk(ordinal=ordinal, text=f"text {ordinal}"), stream)
    return zstandard.ZstdCompressor().compress(stream.getvalue())


MANY = range(SLICE_CHUNKS + 5)


@pytest.mark.parametrize(
    ("count", "ordinals"),
    [
        (len(MANY), MANY[:-1]),
        (len(MANY), MANY[:SLICE_CHUNKS]),
        (len(MANY) - 1, MANY),
        (SLICE_CHUNKS, MANY),
        (len(MANY), [*MANY[:-1], 7]),
        (len(MANY), MANY[::-1]),
        (0, MANY),
    ],
)
async def test_chunks_that_are_not_what_the_header_says_are_not_stored(
    stage: Stage, count: int, ordinals: Sequence[int]
) -> None:
    document = Document(stage.base(), [])
    header = ChunkFileHeader(
        document_id=str(document.id),
        attempt=1,
        epoch=1,
        knowledge_base_id=document.base.id,
        collection_name="handbook",
        chunk_count=count,
    )
    await stage.store.put(chunk_file.key(document.id, 1, 1), file_of(header, *ordinals))
    await stage.indexing.index(document.work(), 1)
    failed = DocumentFailed(document_id=str(document.id), attempt=1, reason=pb.ERROR_REASON_CHUNKS_GONE)
    assert await stage.facts() == [failed]
    assert not await stage.stored(document.base)


@pytest.mark.parametrize("part", [0.01, 0.5, 0.99])
def test_a_file_that_ends_early_is_damaged(part: float) -> None:
    whole = file_of(ChunkFileHeader(chunk_count=len(MANY)), *MANY)
    with pytest.raises(ChunksGone):
        read(whole[: int(len(whole) * part)])


@given(st.lists(st.integers(0, 2 * SLICE_CHARACTERS // 50), min_size=1, max_size=60))
@settings(max_examples=20, deadline=None)
def test_slices_are_bounded_and_hold_every_chunk_in_order(lengths: list[int]) -> None:
    stream = io.BytesIO()
    serialize_length_prefixed(ChunkFileHeader(chunk_count=len(lengths)), stream)
    for ordinal, length in enumerate(lengths):
        serialize_length_prefixed(Chunk(ordinal=ordinal, text="x" * length), stream)
    slices = read(zstandard.ZstdCompressor().compress(stream.getvalue()))
    assert [len(chunk.text) for chunks in slices for chunk in chunks] == lengths
    for chunks in slices:
        assert 0 < len(chunks) <= SLICE_CHUNKS
        assert sum(len(chunk.text) for chunk in chunks[:-1]) < SLICE_CHARACTERS


def read(data: bytes) -> list[list[Chunk]]:
    file = ChunkFile(io.BytesIO(data))
    slices, taken = [], 0
    while taken < file.header.chunk_count:
        slices.append(file.slice())
        taken += len(slices[-1])
    return slices
