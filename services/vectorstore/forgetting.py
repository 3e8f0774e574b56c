"""Removing what is stored: of one document, of a base, of what a base held before it was emptied.

First a mark that stops writers, in a transaction of its own; then the rows, in batches. Each step may be repeated, so a
message that comes twice, or a process that dies in between, does no harm. Locks are taken in the order of
services/vectorstore/storing.py.
"""

import asyncio
import logging
from uuid import UUID

import asyncpg

from acervo.events.v1.facts_pb2 import TeardownAnswered
from services.shared import bases, bus, jobs, outbox
from services.shared.db import Connection, Pool
from services.vectorstore import storing, tables

log = logging.getLogger(__name__)

SERVICE = "vectorstore"

BATCH = 64
_DROP_TRIES = 5
_DROP_AGAIN_SECONDS = 0.5

_COLLECTIONS = (
    "SELECT DISTINCT collection FROM rag_documents WHERE document_id = ANY($1::uuid[]) ORDER BY collection"
)
_BURY_DOCUMENT = """
INSERT INTO document_states (document_id, state) VALUES ($1, 'deleted')
ON CONFLICT (document_id) DO UPDATE SET state = 'deleted'
"""
# A base's documents, or those made before `$2` alone. Ids are UUIDv7: their order is that of their making.
_OF_BASE = """
SELECT document_id FROM rag_documents
WHERE knowledge_base_id = $1 AND ($2::uuid IS NULL OR document_id < $2)
ORDER BY document_id LIMIT $3
"""


async def forget_document(pool: Pool, document_id: UUID) -> None:
    """Remove a document's chunks, and refuse all that comes of it later."""
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(_BURY_DOCUMENT, document_id)
        await jobs.forget(connection, [document_id])
    async with pool.acquire() as connection, connection.transaction():
        await _remove(connection, [document_id])


async def forget_base(
    pool: Pool, base_id: UUID, teardown_id: UUID, collection: str, *, last_holder: bool
) -> None:
    """Remove what a deleted base held, with its collection's table where no other base uses it, and answer."""
    async with pool.acquire() as connection, connection.transaction():
        await bases.bury(connection, base_id)
    if last_holder:
        await _drop(pool, collection)
    await _remove_in_batches(pool, base_id, None)
    await _answer(pool, teardown_id)


async def empty_base(pool: Pool, base_id: UUID, teardown_id: UUID, before: UUID) -> None:
    """Remove what a base held of documents made before `before`, and answer."""
    async with pool.acquire() as connection, connection.transaction():
        await bases.empty(connection, base_id, before)
    await _remove_in_batches(pool, base_id, before)
    await _answer(pool, teardown_id)


async def _drop(pool: Pool, collection: str) -> None:
    """Drop a table, trying again while somebody reads or writes it.

    Raises:
        asyncpg.LockNotAvailableError: somebody still does; the fact comes again.
    """
    for left in reversed(range(_DROP_TRIES)):
        try:
            async with pool.acquire() as connection, connection.transaction():
                await tables.drop_if_unused(connection, collection)
            return
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            log.info("the table of %s is in use", collection)
            if not left:
                raise
            await asyncio.sleep(jobs.jittered(_DROP_AGAIN_SECONDS))


async def _remove_in_batches(pool: Pool, base_id: UUID, before: UUID | None) -> None:
    while True:
        async with pool.acquire() as connection, connection.transaction():
            rows = await connection.fetch(_OF_BASE, base_id, before, BATCH)
            document_ids = [row["document_id"] for row in rows]
            await _remove(connection, document_ids)
            await jobs.forget(connection, document_ids)
        if len(rows) < BATCH:
            return


async def _remove(connection: Connection, document_ids: list[UUID]) -> None:
    """Remove chunks and records of documents. A dropped table took its chunks along."""
    names = [row["collection"] for row in await connection.fetch(_COLLECTIONS, document_ids)]
    held = [await tables.hold(connection, name) for name in names]
    await storing.remove(connection, [collection.table for collection in held if collection], document_ids)


async def _answer(pool: Pool, teardown_id: UUID) -> None:
    async with pool.acquire() as connection, connection.transaction():
        answer = TeardownAnswered(teardown_id=str(teardown_id), service=SERVICE)
        await outbox.announce(connection, bus.teardown_answered(SERVICE), answer)
