"""Deleting: what goes, what stays, and that it may be repeated."""

import asyncio
from uuid import UUID

import asyncpg
import pytest

from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from services.shared import bus
from services.shared.ids import uuid7
from services.vectorstore import forgetting, tables
from tests.integration.vectorstore.stage import Document, Stage


async def test_base_goes_with_its_chunks_and_the_others_of_its_name_stay(stage: Stage) -> None:
    gone, kept = Document(stage.base(), ["one"]), Document(stage.base(), ["two"])
    for document in (gone, kept):
        await stage.index(document)
    await _forget(stage, gone.base, last_holder=False)
    assert not await stage.stored(gone.base)
    assert await stage.stored(kept.base) == {kept.id: ["two"]}


async def test_table_goes_with_the_last_base_of_its_name(stage: Stage) -> None:
    document = Document(stage.base(), ["one"])
    await stage.index(document)
    await _forget(stage, document.base, last_holder=True)
    assert not await _tables(stage)
    assert not await stage.pool.fetchval("SELECT count(*) FROM rag_documents")


async def test_table_with_chunks_of_a_base_that_lives_is_never_dropped(stage: Stage) -> None:
    gone, kept = Document(stage.base(), ["one"]), Document(stage.base(), ["two"])
    for document in (gone, kept):
        await stage.index(document)
    await _forget(stage, gone.base, last_holder=True)
    assert await stage.stored(kept.base) == {kept.id: ["two"]}
    assert not await stage.stored(gone.base)


async def test_new_base_on_a_dropped_name_finds_nothing_of_the_old_one(stage: Stage) -> None:
    old = Document(stage.base(), ["secret words"])
    await stage.index(old)
    await _forget(stage, old.base, last_holder=True)
    new = Document(stage.base(), ["other words"])
    await stage.index(new)
    assert [passage.text for passage in await stage.search("secret words", new.base)] == ["other words"]


async def test_emptied_base_loses_what_is_older_and_keeps_what_is_newer(stage: Stage) -> None:
    base = stage.base()
    old = Document(base, ["old"])
    await stage.index(old)
    before = uuid7()
    new = Document(base, ["new"])
    await stage.index(new)
    await forgetting.empty_base(stage.pool, UUID(base.id), uuid7(), before)
    assert await stage.stored(base) == {new.id: ["new"]}


async def test_teardown_is_answered_each_time_it_is_asked_for(stage: Stage) -> None:
    base = stage.base()
    for _ in range(2):
        await _forget(stage, base, last_holder=True)
    answers = await stage.pool.fetchval(
        "SELECT count(*) FROM outbox WHERE subject = $1", bus.teardown_answered("vectorstore")
    )
    assert answers == 2


async def test_more_documents_than_a_batch_all_go(stage: Stage) -> None:
    base = stage.base()
    documents = [Document(base, ["text"]) for _ in range(forgetting.BATCH + 3)]
    for document in documents:
        await stage.index(document)
    await _forget(stage, base, last_holder=False)
    assert not await stage.stored(base)
    assert not await stage.pool.fetchval("SELECT count(*) FROM jobs")


async def test_drop_waits_for_readers_only_so_long_and_then_fails_to_come_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = Document(stage.base(), ["one"])
    await stage.index(document)
    monkeypatch.setattr(forgetting, "_DROP_AGAIN_SECONDS", 0.0)
    async with stage.pool.acquire() as reader, reader.transaction():
        await reader.fetch("SELECT text FROM vectors.rag_handbook_g1")
        with pytest.raises(asyncpg.LockNotAvailableError):
            await _forget(stage, document.base, last_holder=True)
    await _forget(stage, document.base, last_holder=True)
    assert not await _tables(stage)


async def test_deleting_a_base_while_documents_are_stored_leaves_nothing(stage: Stage) -> None:
    base = stage.base()
    documents = [Document(base, [f"text {n}"] * 20) for n in range(12)]
    await asyncio.gather(
        *map(stage.index, documents[:6]),
        _forget(stage, base, last_holder=False),
        *map(stage.index, documents[6:]),
    )
    await _forget(stage, base, last_holder=False)
    assert not await stage.stored(base)
    assert not await stage.pool.fetchval("SELECT count(*) FROM rag_documents")


async def _forget(stage: Stage, base: KnowledgeBase, *, last_holder: bool) -> None:
    await forgetting.forget_base(
        stage.pool, UUID(base.id), uuid7(), base.collection_name, last_holder=last_holder
    )


async def _tables(stage: Stage) -> list[str]:
    rows = await stage.pool.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", tables.SCHEMA)
    return [row["tablename"] for row in rows]
