"""What is stored, and what must not be, whatever comes in between."""

import asyncio
import io
from dataclasses import replace
from random import Random
from uuid import UUID

import pytest

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.events.v1.facts_pb2 import DocumentFailed, DocumentIndexed
from services.shared import jobs
from services.shared.errors import BaseGone
from services.shared.ids import uuid7
from services.shared.jobs import Claim, LeaseLost
from services.vectorstore import forgetting, storing, tables
from services.vectorstore.chunk_file import ChunkFile
from services.vectorstore.models import Space
from services.vectorstore.models.hashing import HashingModel
from services.vectorstore.rows import Rows
from services.vectorstore.terms import Lexicon
from tests.integration.vectorstore.stage import HASHING, Document, Stage, chunk_file_of


async def test_chunks_are_stored_once_with_the_fact_that_says_so(stage: Stage) -> None:
    document = Document(stage.base(), ["one", "two", "three"])
    await stage.index(document)
    assert await stage.stored(document.base) == {document.id: ["one", "two", "three"]}
    assert await stage.facts() == [DocumentIndexed(document_id=str(document.id), attempt=1, chunk_count=3)]


async def test_repeat_of_an_ended_job_stores_nothing_and_answers_again(stage: Stage) -> None:
    document = Document(stage.base(), ["one"])
    for _ in range(2):
        await stage.index(document)
    assert await stage.stored(document.base) == {document.id: ["one"]}
    first, second = await stage.facts()
    assert first == second


async def test_retry_replaces_what_the_attempt_before_stored(stage: Stage) -> None:
    document = Document(stage.base(), ["old", "older"])
    await stage.index(document)
    await stage.index(replace(document, texts=["new"], attempt=2))
    assert await stage.stored(document.base) == {document.id: ["new"]}


async def test_newer_version_of_an_address_retires_the_older_one(stage: Stage) -> None:
    base = stage.base()
    old = Document(base, ["old"], address="a.md", version=1)
    new = Document(base, ["new"], address="a.md", version=2)
    await stage.index(old)
    await stage.index(new)
    assert await stage.stored(base) == {new.id: ["new"]}
    assert (await stage.facts())[-1] == DocumentIndexed(
        document_id=str(new.id), attempt=1, chunk_count=1, retired_document_ids=[str(old.id)]
    )


@pytest.mark.parametrize("first", [0x21, 0x4E00, 0x1F300], ids=["one byte", "three bytes", "four bytes"])
async def test_an_address_of_the_greatest_length_is_replaced_in_every_script(
    stage: Stage, first: int
) -> None:
    # By lot: what repeats itself is compressed before it goes into an index.
    address = "".join(map(chr, Random(first).choices(range(first, first + 90), k=4095)))
    base = stage.base()
    kept = Document(base, ["kept"], address=f"{address}0")
    versions = [Document(base, [str(n)], address=f"{address}1", version=n) for n in (1, 2)]
    for document in (kept, *versions):
        await stage.index(document)
    assert await stage.stored(base) == {kept.id: ["kept"], versions[-1].id: ["2"]}


async def test_slower_older_version_retires_itself(stage: Stage) -> None:
    base = stage.base()
    new = Document(base, ["new"], address="a.md", version=2)
    old = Document(base, ["old"], address="a.md", version=1)
    await stage.index(new)
    await stage.index(old)
    assert await stage.stored(base) == {new.id: ["new"]}
    assert (await stage.facts())[-1] == DocumentIndexed(document_id=str(old.id), attempt=1, superseded=True)


async def test_versions_of_one_address_stored_at_once_leave_the_newest(stage: Stage) -> None:
    base = stage.base()
    documents = [Document(base, [f"v{version}"], address="a", version=version) for version in range(1, 9)]
    await asyncio.gather(*map(stage.index, documents))
    await _work_off(stage, documents)
    assert await stage.stored(base) == {documents[-1].id: ["v8"]}


async def test_same_address_in_another_base_stays(stage: Stage) -> None:
    first, second = (Document(stage.base(), ["text"], address="a.md", version=version) for version in (1, 2))
    await stage.index(first)
    await stage.index(second)
    assert await stage.stored(first.base) == {first.id: ["text"]}


async def test_worker_that_was_taken_over_stores_nothing(stage: Stage) -> None:
    document = Document(stage.base(), ["one"])
    slow = await jobs.claim_new(stage.pool, document.work(), worker="slow", lease_seconds=0)
    assert isinstance(slow, Claim)
    await stage.index(document)
    with pytest.raises(LeaseLost):
        await _store(stage, slow, document)
    assert await stage.stored(document.base) == {document.id: ["one"]}
    assert len(await stage.facts()) == 1


async def test_two_workers_on_one_document_store_it_once(stage: Stage) -> None:
    document = await stage.write(Document(stage.base(), [f"chunk {n}" for n in range(200)]))
    claims = [
        await jobs.claim_new(stage.pool, document.work(), worker=name, lease_seconds=0) for name in "ab"
    ]
    outcomes = await asyncio.gather(
        *(_store(stage, claim, document) for claim in claims if isinstance(claim, Claim)),
        return_exceptions=True,
    )
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["LeaseLost", "NoneType"]
    assert await stage.stored(document.base) == {document.id: document.texts}


async def test_deleted_document_is_removed_and_never_stored_again(stage: Stage) -> None:
    document = Document(stage.base(), ["one"])
    await stage.index(document)
    await forgetting.forget_document(stage.pool, document.id)
    assert await stage.stored(document.base) == {document.id: []} or not await stage.stored(document.base)
    await stage.index(replace(document, attempt=2))
    assert not await stage.stored(document.base)
    assert len(await stage.facts()) == 1
    assert await stage.pool.fetchval("SELECT count(*) FROM jobs") == 0


async def test_document_deleted_before_it_came_is_not_stored(stage: Stage) -> None:
    document = Document(stage.base(), ["one"])
    await forgetting.forget_document(stage.pool, document.id)
    await stage.index(document)
    assert not await stage.stored(document.base)
    assert not await stage.facts()


async def test_base_deleted_while_a_document_is_embedded_fails_it_and_leaves_no_table(stage: Stage) -> None:
    document = await stage.write(Document(stage.base(), ["one"]))
    claim = await jobs.claim_new(stage.pool, document.work(), worker="w", lease_seconds=60)
    assert isinstance(claim, Claim)
    base_id = UUID(document.base.id)
    await forgetting.forget_base(stage.pool, base_id, uuid7(), "handbook", last_holder=True)
    with pytest.raises(BaseGone):
        await _store(stage, claim, document)
    async with stage.pool.acquire() as connection:
        assert not await tables.find(connection, ["handbook"])


async def test_base_that_access_does_not_know_fails_the_document(stage: Stage) -> None:
    document = Document(stage.base(), ["one"])
    stage.access.revoke("acervo:vectorstore", document.base)
    await stage.index(document)
    assert await stage.facts() == [_failed(document, pb.ERROR_REASON_BASE_DELETED)]


async def test_missing_chunk_file_fails_the_document(stage: Stage) -> None:
    document = Document(stage.base(), ["one"])
    await stage.indexing.index(document.work(), 1)
    assert await stage.facts() == [_failed(document, pb.ERROR_REASON_CHUNKS_GONE)]


async def test_no_chunks_is_a_failure_and_never_a_success(stage: Stage) -> None:
    document = Document(stage.base(), [])
    await stage.index(document)
    assert await stage.facts() == [_failed(document, pb.ERROR_REASON_CHUNKS_GONE)]


async def test_damaged_chunk_file_fails_the_document(stage: Stage) -> None:
    document = await stage.write(Document(stage.base(), ["one"]))
    await stage.store.put(f"ingest/chunks/{document.id}/1/1", chunk_file_of(document)[:-5])
    await stage.indexing.index(document.work(), 1)
    assert await stage.facts() == [_failed(document, pb.ERROR_REASON_CHUNKS_GONE)]


async def test_model_that_is_not_installed_fails_the_document_by_name(stage: Stage) -> None:
    document = Document(stage.base(space=("text-embedding-9", 256)), ["one"])
    await stage.index(document)
    assert await stage.facts() == [_failed(document, pb.ERROR_REASON_EMBEDDING_MODEL_UNAVAILABLE)]


async def test_a_base_that_was_moved_to_a_provider_which_nobody_calls_is_embedded_by_nothing_else(
    stage: Stage,
) -> None:
    base = stage.base()
    await stage.index(Document(base, ["one"]))
    base.embedding_provider = "openrouter"
    document = Document(base, ["two"])
    await stage.index(document)
    assert (await stage.facts())[-1] == _failed(document, pb.ERROR_REASON_EMBEDDING_PROVIDER_UNAVAILABLE)


async def test_width_that_is_not_the_models_fails_the_document(stage: Stage) -> None:
    document = Document(stage.base(space=("hashing-256", 512)), ["one"])
    await stage.index(document)
    assert await stage.facts() == [_failed(document, pb.ERROR_REASON_EMBEDDING_WIDTH_MISMATCH)]
    assert not await stage.stored(document.base)


async def test_other_model_is_refused_where_vectors_are_and_taken_where_none_are(stage: Stage) -> None:
    first = Document(stage.base(), ["one"])
    await stage.index(first)
    other = Document(stage.base(space=("use-multilingual-v3", 512)), ["two"])
    await stage.index(other)
    assert (await stage.facts())[-1] == _failed(other, pb.ERROR_REASON_EMBEDDING_SETTINGS_CONFLICT)
    await forgetting.forget_document(stage.pool, first.id)
    await stage.index(replace(other, attempt=2))
    assert await stage.stored(other.base) == {other.id: ["two"]}


async def test_texts_with_nuls_and_every_script_come_back_as_they_were_but_for_nuls(stage: Stage) -> None:
    texts = ["nul\0 inside", "größer ñandú łódź", "これは日本語です", "\U0001f600 \u200b", "ﬁne Ω \\ \t x"]
    document = Document(stage.base(), texts)
    await stage.index(document)
    expected = [text.replace("\0", "") for text in texts]
    assert await stage.stored(document.base) == {document.id: expected}


async def test_access_that_does_not_answer_uses_up_no_try(stage: Stage) -> None:
    document = await stage.write(Document(stage.base(), ["one"]))
    stage.access.bases[document.base.id] = None  # type: ignore[assignment]  # makes access fail inside
    await stage.indexing.index(document.work(), 1)
    row = await stage.pool.fetchrow("SELECT state, tries FROM jobs")
    assert row is not None
    assert row["state"] == "waiting"
    assert not await stage.facts()


async def _work_off(stage: Stage, documents: list[Document]) -> None:
    """Index again those that met each other and were postponed."""
    while await stage.pool.fetchval("SELECT count(*) FROM jobs WHERE state = 'waiting'"):
        await stage.pool.execute("UPDATE jobs SET state = 'sent' WHERE state = 'waiting'")
        for document in documents:
            await stage.indexing.index(document.work(), 1)


async def _store(stage: Stage, claim: Claim, document: Document) -> None:
    file = ChunkFile(io.BytesIO(chunk_file_of(document)))
    header = file.header
    base_id = UUID(document.base.id)
    vectors = HashingModel().embed_documents(document.texts)
    record = storing.Document(
        id=document.id,
        knowledge_base_id=base_id,
        collection=header.collection_name,
        attempt=document.attempt,
        address=header.address,
        version=header.version,
        filename=header.filename,
        kind=header.kind,
        source=header.source,
        time=None,
    )
    with Rows(base_id, document.id, document.attempt) as rows:
        rows.add(file.slice(), vectors, Lexicon())
        await storing.store(stage.pool, claim, record, Space(*HASHING), rows)


def _failed(document: Document, reason: pb.ErrorReason) -> DocumentFailed:
    return DocumentFailed(document_id=str(document.id), attempt=document.attempt, reason=reason)
