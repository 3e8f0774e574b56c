"""Mutations that are done once for each request id, however often they are asked for."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from google.protobuf.message import Message

from services.access.reach import Caller
from services.shared.db import Connection, Pool
from services.shared.errors import RequestIdReused, TryAgain

Response = TypeVar("Response", bound=Message)

# Waits for a transaction that is at work on the same id, and starts over where that one fails.
_BEGIN = """
INSERT INTO requests (caller, request_id, digest) VALUES ($1, $2, $3)
ON CONFLICT (caller, request_id) DO NOTHING RETURNING true
"""
_ANSWERED = "SELECT digest, response FROM requests WHERE caller = $1 AND request_id = $2"
_FINISH = "UPDATE requests SET response = $3 WHERE caller = $1 AND request_id = $2"
_FORGET = "DELETE FROM requests WHERE create_time < now() - make_interval(days => $1)"


@dataclass(frozen=True, slots=True)
class Repeatable:
    """A request as repeats are known by: who asks, under which id (None: never repeated), for what."""

    caller: Caller
    request_id: UUID | None
    request: Message

    @property
    def digest(self) -> bytes:
        """Tells the request from others; the name of its message stands for the method."""
        content = self.request.SerializeToString(deterministic=True)
        return hashlib.sha256(self.request.DESCRIPTOR.full_name.encode() + b"\0" + content).digest()


async def once(
    pool: Pool,
    repeatable: Repeatable,
    answer: type[Response],
    work: Callable[[Connection], Awaitable[Response]],
) -> Response:
    """Do `work` in a transaction, or answer what it answered when it was done before.

    Raises RequestIdReused where the id was used for another request, and whatever `work` raises: then nothing is
    kept, and the id is free.
    """
    async with pool.acquire() as connection, connection.transaction():
        if repeatable.request_id is None:
            return await work(connection)
        key = (repeatable.caller.subject, repeatable.request_id)
        if not await connection.fetchval(_BEGIN, *key, repeatable.digest):
            row = await connection.fetchrow(_ANSWERED, *key)
            if row is None:
                raise TryAgain  # forgotten at this very moment
            if row["digest"] != repeatable.digest:
                raise RequestIdReused
            return answer.FromString(row["response"])
        response = await work(connection)
        await connection.execute(_FINISH, *key, response.SerializeToString())
        return response


async def forget(pool: Pool, days: int) -> None:
    """Forget what was answered more than so many days ago."""
    await pool.execute(_FORGET, days)
