"""Calls that carry an id of their caller's own: made again, they get the same answer and do nothing anew."""

from dataclasses import dataclass
from uuid import UUID

from services.shared.db import Connection, Pool
from services.shared.errors import RequestIdReused

_FIND = "SELECT method, document_id, knowledge_base_id FROM requests WHERE caller = $1 AND request_id = $2"
_NOTE = """
INSERT INTO requests (caller, request_id, method, document_id, knowledge_base_id) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING RETURNING true
"""
_FORGET = "DELETE FROM requests WHERE created_at < now() - interval '1 day'"


@dataclass(frozen=True, slots=True)
class Request:
    """A call under an id: by whom, which method, of which document and base."""

    caller: str
    id: UUID
    method: str
    document_id: UUID
    knowledge_base_id: UUID


async def base_of(connection: Connection, caller: str, request_id: UUID, document_id: UUID) -> UUID | None:
    """Return the base of the document that a request was about: the document itself may be gone."""
    row = await connection.fetchrow(_FIND, caller, request_id)
    if row is None or row["document_id"] != document_id:
        return None
    base_id: UUID = row["knowledge_base_id"]
    return base_id


async def note(connection: Connection, request: Request) -> bool:
    """Remember a request in the transaction that does it; False if it was done before.

    Raises:
        RequestIdReused: if the caller used the id for something else.
    """
    arguments = (request.caller, request.id, request.method, request.document_id, request.knowledge_base_id)
    if await connection.fetchval(_NOTE, *arguments):
        return True
    row = await connection.fetchrow(_FIND, request.caller, request.id)
    if row is not None and (row["method"], row["document_id"]) != (request.method, request.document_id):
        raise RequestIdReused
    return False


async def forget_old(pool: Pool) -> None:
    """Forget requests after a day: nobody repeats a call that long."""
    await pool.execute(_FORGET)
