"""How files go: with their document, with their base, or because nobody needs them."""

from collections.abc import Sequence
from uuid import UUID

from acervo.events.v1.facts_pb2 import FileDeleted, TeardownAnswered
from services.shared import bases, blobs
from services.shared.bus import FILE_DELETED, teardown_answered
from services.shared.db import Connection, Pool
from services.shared.outbox import announce
from services.upload import files, requests

_BATCH = 200


async def remove(connection: Connection, file_ids: Sequence[UUID]) -> None:
    """Remove files and their bytes, and tell so. Those that are gone already are as good as removed.

    A request that has led to no document yet is forgotten with its file: its id may be used again.
    """
    await requests.withdraw(connection, file_ids)
    removed = await files.delete(connection, file_ids)
    await blobs.release(connection, [files.blob_key(file_id) for file_id in removed])
    for file_id in removed:
        await announce(connection, FILE_DELETED, FileDeleted(file_id=str(file_id)))


async def bury_base(pool: Pool, base_id: UUID, teardown_id: UUID) -> None:
    """Remove all files of a base that is gone, for good, and answer. May be repeated at any point."""
    async with pool.acquire() as connection, connection.transaction():
        await bases.bury(connection, base_id)
    await _remove_all(pool, base_id, None)
    await _answer(pool, teardown_id)


async def empty_base(pool: Pool, base_id: UUID, before: UUID, teardown_id: UUID) -> None:
    """Remove the files that a base held so far, and answer. May be repeated at any point."""
    async with pool.acquire() as connection, connection.transaction():
        await bases.empty(connection, base_id, before)
    await _remove_all(pool, base_id, before)
    await _answer(pool, teardown_id)


async def _remove_all(pool: Pool, base_id: UUID, before: UUID | None) -> None:
    batch = [base_id]
    while batch:
        async with pool.acquire() as connection, connection.transaction():
            batch = await files.of_base(connection, base_id, before, _BATCH)
            await remove(connection, batch)


async def _answer(pool: Pool, teardown_id: UUID) -> None:
    async with pool.acquire() as connection, connection.transaction():
        answer = TeardownAnswered(teardown_id=str(teardown_id), service="upload")
        await announce(connection, teardown_answered("upload"), answer)
