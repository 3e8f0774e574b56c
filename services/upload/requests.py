"""Uploads under an id of the caller's own: made again, they get the same document and store nothing anew."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from services.shared.db import Connection, Pool
from services.shared.errors import RequestIdReused, TryAgain
from services.shared.idempotency import Call

_FIND = """
SELECT digest, file_id, document_id, already_present FROM upload_requests WHERE caller = $1 AND request_id = $2
"""
_NOTE = """
INSERT INTO upload_requests (caller, request_id, digest, file_id) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING RETURNING true
"""
_ANSWER = """
UPDATE upload_requests SET document_id = $2, already_present = $3 WHERE file_id = $1 AND document_id IS NULL
"""
_WITHDRAW = "DELETE FROM upload_requests WHERE file_id = ANY($1::uuid[]) AND document_id IS NULL"
_FORGET = "DELETE FROM upload_requests WHERE created_at < now() - make_interval(days => $1)"


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a request: the file that it stored, and its document once ingest has answered."""

    file_id: UUID
    document_id: UUID | None
    already_present: bool


async def find(connection: "Connection | Pool", call: Call) -> Made | None:
    """What became of a call when it was made before.

    Raises:
        RequestIdReused: if the caller used the id with another header.
    """
    if call.request_id is None:
        return None
    row = await connection.fetchrow(_FIND, call.caller, call.request_id)
    if row is None:
        return None
    if row["digest"] != call.digest:
        raise RequestIdReused
    return Made(row["file_id"], row["document_id"], row["already_present"])


async def note(connection: Connection, call: Call, file_id: UUID) -> Made | None:
    """Remember a call in the transaction that keeps its file, or say what became of it before.

    Raises:
        RequestIdReused: as `find`.
        TryAgain: if it was withdrawn at this very moment.
    """
    if call.request_id is None:
        return None
    if await connection.fetchval(_NOTE, call.caller, call.request_id, call.digest, file_id):
        return None
    made = await find(connection, call)
    if made is None:
        raise TryAgain
    return made


async def answer(connection: Connection, file_id: UUID, document_id: UUID, *, already_present: bool) -> None:
    """Note the document of whichever request stored the file."""
    await connection.execute(_ANSWER, file_id, document_id, already_present)


async def withdraw(connection: Connection, file_ids: Sequence[UUID]) -> None:
    """Forget requests that stored these files and have led to no document."""
    await connection.execute(_WITHDRAW, list(file_ids))


async def forget(pool: Pool, days: int) -> None:
    """Forget requests after so many days."""
    await pool.execute(_FORGET, days)
