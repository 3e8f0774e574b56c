"""Mutations that are done once for each request id, however often they are asked for.

    call = Call.of(request)
    ...
    return await once(pool, call, pb.DeleteSourceResponse, work)

An id is its caller's own: the same id of somebody else is another one.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar
from uuid import UUID

from google.protobuf.message import Message

from services.shared import auth
from services.shared.db import Connection, Pool
from services.shared.errors import RequestIdReused, TryAgain
from services.shared.fields import read_optional_uuid
from services.shared.fingerprint import Request, fingerprint

Response = TypeVar("Response", bound=Message)

# Waits for a transaction that is at work on the same id, and starts over where that one fails.
_BEGIN = """
INSERT INTO requests (caller, request_id, digest) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING true
"""
_ANSWERED = "SELECT digest, response FROM requests WHERE caller = $1 AND request_id = $2"
_FINISH = "UPDATE requests SET response = $3 WHERE caller = $1 AND request_id = $2"
_FORGET = "DELETE FROM requests WHERE created_at < now() - make_interval(days => $1)"


class Mutation(Request, Protocol):
    """A request that may carry an id of its caller's own."""

    request_id: str


@dataclass(frozen=True, slots=True)
class Call:
    """A request as repeats are known by: who asks, under which id (None: never repeated), for what.

    Of a request that holds secrets, digests are made with keys, so that nobody tries guesses against them: `former` are
    those by keys that were used before.
    """

    caller: str
    request_id: UUID | None
    digest: bytes
    former: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, request: Mutation) -> Self:
        """The call at hand. Raises FieldsInvalid where its id is no UUID."""
        request_id = read_optional_uuid("request_id", request.request_id)
        principal = auth.current()
        caller = principal.id
        if principal.agent_id is not None:  # what it was answered for one person is not for another
            caller = f"{caller} for {principal.user_id}"
        return cls(caller, request_id, fingerprint(request))


async def answered(pool: Pool, call: Call, answer: type[Response]) -> Response | None:
    """Return what the call was answered when it was made before. Raises RequestIdReused."""
    if call.request_id is None:
        return None
    async with pool.acquire() as connection:
        return await _recall(connection, call, answer)


async def once(
    pool: Pool, call: Call, answer: type[Response], work: Callable[[Connection], Awaitable[Response]]
) -> Response:
    """Do `work` in a transaction, or answer what it answered when it was done before.

    Raises RequestIdReused where the id was used for another request, and whatever `work` raises: then nothing is
    kept, and the id is free.
    """
    async with pool.acquire() as connection, connection.transaction():
        if call.request_id is None:
            return await work(connection)
        if not await connection.fetchval(_BEGIN, call.caller, call.request_id, call.digest):
            before = await _recall(connection, call, answer)
            if before is None:
                raise TryAgain  # forgotten at this very moment
            return before
        response = await work(connection)
        await connection.execute(_FINISH, call.caller, call.request_id, response.SerializeToString())
        return response


async def _recall(connection: Connection, call: Call, answer: type[Response]) -> Response | None:
    row = await connection.fetchrow(_ANSWERED, call.caller, call.request_id)
    if row is None:
        return None
    if row["digest"] not in (call.digest, *call.former):
        raise RequestIdReused
    return answer.FromString(row["response"])


async def forget(pool: Pool, days: int) -> None:
    """Forget what was answered more than so many days ago."""
    await pool.execute(_FORGET, days)
