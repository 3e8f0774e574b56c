"""A table that is dropped while something else is removed from it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from uuid import UUID

import pytest

from services.shared import bases
from services.shared.ids import uuid7
from services.vectorstore import forgetting, tables
from tests.integration.vectorstore.stage import Document, Stage

Removal = Callable[[Stage, Document], Coroutine[None, None, None]]


async def of_document(stage: Stage, document: Document) -> None:
    await forgetting.forget_document(stage.pool, document.id)


async def of_base(stage: Stage, document: Document) -> None:
    base_id = UUID(document.base.id)
    await forgetting.forget_base(stage.pool, base_id, uuid7(), "handbook", last_holder=False)


@pytest.mark.parametrize("removal", [of_document, of_base])
async def test_removal_that_meets_a_table_being_dropped_is_done(
    stage: Stage, removal: Removal, eventually: Callable[..., Awaitable[None]]
) -> None:
    document = Document(stage.base(), ["one"])
    await stage.index(document)

    async def waits() -> bool:
        return bool(await stage.pool.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"))

    async with stage.pool.acquire() as connection, connection.transaction():
        await bases.bury(connection, UUID(document.base.id))
    async with stage.pool.acquire() as connection, connection.transaction():
        await tables.drop_if_unused(connection, "handbook")
        removing = asyncio.create_task(removal(stage, document))
        await eventually(waits)
    await removing
    assert await stage.pool.fetchval("SELECT count(*) FROM rag_documents") == 0
