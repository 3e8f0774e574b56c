"""Calls that carry an id of their caller's own: made again, they get the same answer and do nothing anew."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from google.protobuf.message import Message

from services.shared.db import Connection, Pool
from services.shared.errors import RequestIdReused, TryAgain

Response = TypeVar("Response", bound=Message)

DAYS = 7
"""How long an answer is remembered."""

# Waits for a transaction that is at work on the same id, and starts over where that one fails.
_BEGIN = """
INSERT INTO requests (caller_id, request_id, digest) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING true
"""
_ANSWERED = "SELECT digest, response FROM requests WHERE caller_id = $1 AND request_id = $2"
_FINISH = "UPDATE requests SET response = $3 WHERE caller_id = $1 AND request_id = $2"
_FORGET = "DELETE FROM requests WHERE created_at < now() - make_interval(days => $1)"


@dataclass(frozen=True, slots=True)
class Call:
    """A request as repeats are known by: who asks, under which id (None: never repeated), for what."""

    caller_id: UUID
    request_id: UUID | None
    request: Message

    @property
    def digest(self) -> bytes:
        """Tells the request from others; the name of its message stands for the method."""
        content = self.request.SerializeToString(deterministic=True)
        return hashlib.sha256(self.request.DESCRIPTOR.full_name.encode() + b"\0" + content).digest()


async def answered(pool: Pool, call: Call, answer: type[Response]) -> Response | None:
    """Return what the call was answered when it was made before. Raises RequestIdReused."""
    if call.request_id is None:
        return None
    async with pool.acquire() as connection:
        return await _recall(connection, call, answer)


async def once(
    pool: Pool, call: Call, answer: type[Response], work: Callable[[Connection], Awaitable[Response]]
) -> Response:
    """Do `work` in a transaction, or answer what it answered before.

    Raises RequestIdReused where the id was used for another request, and whatever `work` raises: then nothing is
    kept, and the id is free.
    """
    async with pool.acquire() as connection, connection.transaction():
        if call.request_id is None:
            return await work(connection)
        key = (call.caller_id, call.request_id)
        if not await connection.fetchval(_BEGIN, *key, call.digest):
            response = await _recall(connection, call, answer)
            if response is None:
                raise TryAgain  # forgotten at this very moment
            return response
        response = await work(connection)
        await connection.execute(_FINISH, *key, response.SerializeToString())
        return response


async def _recall(connection: Connection, call: Call, answer: type[Response]) -> Response | None:
    row = await connection.fetchrow(_ANSWERED, call.caller_id, call.request_id)
    if row is None:
        return None
    if row["digest"] != call.digest:
        raise RequestIdReused
    return answer.FromString(row["response"])


async def forget(pool: Pool) -> None:
    """Forget old answers."""
    await pool.execute(_FORGET, DAYS)
