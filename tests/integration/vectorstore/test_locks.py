"""The order of locks: whoever waits for one has taken none of those that come after it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import pairwise
from uuid import UUID

import pytest

from services.shared.ids import uuid7
from services.vectorstore import forgetting, tables
from services.vectorstore.models import Space
from tests.integration.vectorstore.stage import HASHING, Document, Stage

Act = Callable[[Stage, Document], Awaitable[None]]
Eventually = Callable[..., Awaitable[None]]

ORDER = {
    "collection": "SELECT FROM collections FOR UPDATE",
    "records": "SELECT FROM rag_documents FOR UPDATE",
    "chunks": "SELECT FROM vectors.rag_handbook_g1 FOR UPDATE",
    "jobs": "SELECT FROM jobs FOR UPDATE",
}


async def forget_document(stage: Stage, document: Document) -> None:
    await forgetting.forget_document(stage.pool, document.id)


async def forget_base(stage: Stage, document: Document) -> None:
    base = UUID(document.base.id)
    await forgetting.forget_base(stage.pool, base, uuid7(), "handbook", last_holder=False)


async def empty_base(stage: Stage, document: Document) -> None:
    await forgetting.empty_base(stage.pool, UUID(document.base.id), uuid7(), uuid7())


async def store_again(stage: Stage, document: Document) -> None:
    await stage.index(replace(document, attempt=2))


async def store_a_newer_version(stage: Stage, document: Document) -> None:
    await stage.index(replace(document, id=uuid7(), version=2))


@pytest.mark.parametrize(
    "act", [forget_document, forget_base, empty_base, store_again, store_a_newer_version]
)
@pytest.mark.parametrize(("held", "later"), list(pairwise(ORDER)))
async def test_whoever_waits_for_a_lock_holds_none_that_comes_after_it(
    stage: Stage, eventually: Eventually, act: Act, held: str, later: str
) -> None:
    document = Document(stage.base(), ["one", "two"], address="a.md")
    await stage.index(document)
    async with stage.pool.acquire() as other, other.transaction():
        await other.execute(ORDER[held])
        task = asyncio.ensure_future(act(stage, document))
        await eventually(lambda: _waiting(stage, 1))
        levels = list(ORDER)
        for level in levels[levels.index(later) :]:
            await other.execute(f"{ORDER[level]} NOWAIT")
    await task
    assert document.id not in await stage.stored(document.base) or act is store_again


async def test_two_who_find_a_collection_in_another_space_move_it_in_turn(
    stage: Stage, eventually: Eventually
) -> None:
    document = Document(stage.base(), ["one"])
    await stage.index(document)
    await forget_document(stage, document)
    space = Space("another", HASHING[1])

    async def write() -> tables.Collection:
        async with stage.pool.acquire() as connection, connection.transaction():
            return await tables.hold_for_writing(connection, "handbook", space)

    async with stage.pool.acquire() as other, other.transaction():
        await other.execute("SELECT FROM collections FOR SHARE")
        tasks = [asyncio.ensure_future(write()) for _ in range(2)]
        await eventually(lambda: _waiting(stage, 2))
    assert await asyncio.gather(*tasks) == [tables.Collection("handbook", space, 2)] * 2


async def _waiting(stage: Stage, count: int) -> bool:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return bool(await stage.pool.fetchval(waiting) == count)
