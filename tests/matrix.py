"""Every method against every kind of caller: who is answered, and that all others are told of nothing.

A service lays down its `Row`s and a `World` of things that callers may or may not reach; `check` asks for them as each
kind of caller, and for things that are not there. What a caller may not know of must be answered byte by byte, and by
the same statements, as what does not exist. A method without a row fails.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Generic, Protocol, Self, TypeVar

import asyncpg
import grpc
from google.protobuf import descriptor_pool
from google.protobuf.message import Message
from grpc.aio import AioRpcError

from acervo.common.v1 import error_reason_pb2 as reasons
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from services.shared.server import Callers

_SECONDS: Final = 30
# A difference between what is refused and what is absent is there each time; what services do by themselves is not.
_TRIES: Final = 10

Metadata = tuple[tuple[str, str], ...]


class Kind(StrEnum):
    """What calls. The roles are those in the organization of the world."""

    NOBODY = "nobody"
    """Without a token."""
    FORGER = "forger"
    LATE = "late"
    """With an expired token."""
    ASTRAY = "astray"
    """With a token for another audience."""
    STRANGER = "stranger"
    """The owner of another organization."""
    VIEWER = "viewer"
    MEMBER = "member"
    GRANTED = "granted"
    """A viewer who was granted the bases to view."""
    EDITOR = "editor"
    """A viewer who was granted the bases to edit."""
    BUILDER = "builder"
    ADMIN = "admin"
    OWNER = "owner"
    AGENT = "agent"
    """Acts for the owner; was granted a base to view."""
    OTHER_AGENT = "other_agent"
    """Acts for the owner; was granted nothing."""
    OPERATOR = "operator"
    """The deployment's admin."""
    SERVICE = "service"


UNVERIFIED: Final = frozenset({Kind.NOBODY, Kind.FORGER, Kind.LATE, Kind.ASTRAY})
AGENTS: Final = frozenset({Kind.AGENT, Kind.OTHER_AGENT})
PEOPLE: Final = frozenset(Kind) - UNVERIFIED - AGENTS - {Kind.SERVICE}
MEMBERS: Final = PEOPLE - {Kind.STRANGER, Kind.OPERATOR}


class World(Protocol):
    """Things that are there, and who calls."""

    def absent(self) -> Self:
        """The same with ids of nothing."""

    def metadata(self, kind: Kind) -> Metadata:
        """What a caller sends along."""

    async def digest(self) -> str:
        """What everything there is comes to: it changes with whatever is written."""


W = TypeVar("W", bound=World)


@dataclass(frozen=True, slots=True)
class Row(Generic[W]):
    """How a method is asked, and who is answered."""

    request: Callable[[W], "Message | Sequence[Message]"]
    """What is sent: a message, or those of a stream."""
    answered: frozenset[Kind]
    refused: Mapping[Kind, reasons.ErrorReason] = field(default_factory=dict)
    """Who is refused by one of the exceptions, since they may know of the thing."""
    of_oneself: bool = False
    """Whether the request names nothing that could be absent."""
    lasting: bool = False
    """Whether one world does for all: no answer changes what a later one is about."""


Outcome = bytes | tuple[object, ...]


class Statements(Protocol):
    """What a database is asked."""

    exact: bool
    """Whether nobody but the callers makes it ask anything."""

    def clear(self) -> None:
        """Forget what was asked so far."""

    def heard(self) -> tuple[str, ...]:
        """What was asked since."""


@dataclass
class PoolStatements:
    """The statements of a pool of this process."""

    exact = True
    _heard: list[str] = field(default_factory=list)

    @classmethod
    async def of(cls, pool: Pool) -> Self:
        statements = cls()

        def note(query: asyncpg.connection.LoggedQuery) -> None:
            statements._heard.append(query.query)

        connections = [await pool.acquire() for _ in range(pool.get_max_size())]
        for connection in connections:
            connection.add_query_logger(note)
        for connection in connections:
            await pool.release(connection)
        return statements

    def clear(self) -> None:
        self._heard.clear()

    def heard(self) -> tuple[str, ...]:
        return tuple(self._heard)


@dataclass(frozen=True, slots=True)
class Asking:
    """Calls a server, and hears the statements that it sends."""

    channel: grpc.aio.Channel
    statements: Statements

    async def ask(
        self, method: str, request: Message | Sequence[Message], metadata: Metadata
    ) -> tuple[Outcome, tuple[str, ...]]:
        """What a caller is told, but for the id of the request, and by which statements."""
        self.statements.clear()
        try:
            outcome: Outcome = await self._answer(method, request, metadata)
        except AioRpcError as error:
            trailing = [pair for pair in error.trailing_metadata() or () if pair[0] != "x-request-id"]
            outcome = (from_rpc_error(error).reason, error.code(), error.details(), *sorted(trailing))
        return outcome, self.statements.heard()

    async def _answer(self, method: str, request: Message | Sequence[Message], metadata: Metadata) -> bytes:
        """All that is answered."""
        service, _, name = method.removeprefix("/").partition("/")
        streams = descriptor_pool.Default().FindServiceByName(service).methods_by_name[name].server_streaming
        if not isinstance(request, Message):
            upload: Any = self.channel.stream_unary(method, request_serializer=_write)
            return bytes(await upload(iter(request), metadata=metadata, timeout=_SECONDS))
        if streams:
            watch: Any = self.channel.unary_stream(method, request_serializer=_write)
            return b"".join([part async for part in watch(request, metadata=metadata, timeout=_SECONDS)])
        call: Any = self.channel.unary_unary(method, request_serializer=_write)
        return bytes(await call(request, metadata=metadata, timeout=_SECONDS))


def _write(message: Message) -> bytes:
    return message.SerializeToString()


def shut_out(kind: Kind, callers: Callers) -> reasons.ErrorReason | None:
    """Why a kind of caller is not let in to a method at all; None where it is."""
    if kind in UNVERIFIED or (callers is Callers.PEOPLE and kind is Kind.SERVICE):
        return reasons.ERROR_REASON_TOKEN_INVALID
    if callers is Callers.SERVICES and kind is not Kind.SERVICE:
        return reasons.ERROR_REASON_SERVICES_ONLY
    return None


async def check(
    asking: Asking, method: str, callers: Callers, rows: Iterable[Row[W]], make: Callable[[], Awaitable[W]]
) -> None:
    """Ask a method as every kind of caller. `make` makes another world of the same shape."""
    for row in rows:
        world = await make()
        before = await world.digest()
        for kind in Kind:
            if kind not in row.answered:
                await _check_refused(asking, method, callers, row, world, kind)
        assert await world.digest() == before, f"{method}: a refused call changed something"
        for kind in row.answered:
            await _check_answered(asking, method, row, world if row.lasting else await make(), kind)


async def _check_answered(asking: Asking, method: str, row: Row[W], world: W, kind: Kind) -> None:
    metadata = world.metadata(kind)
    absent, _ = await asking.ask(method, row.request(world.absent()), metadata)
    present, _ = await asking.ask(method, row.request(world), metadata)
    assert isinstance(present, bytes), (method, kind, present)
    assert row.of_oneself or present != absent, (method, kind, present)


async def _check_refused(
    asking: Asking, method: str, callers: Callers, row: Row[W], world: W, kind: Kind
) -> None:
    metadata = world.metadata(kind)
    nothing = row.request(world.absent())
    await asking.ask(method, nothing, metadata)  # the first time, types are looked up too
    for _ in range(1 if asking.statements.exact else _TRIES):
        absent, looked = await asking.ask(method, nothing, metadata)
        present, looked_too = await asking.ask(method, row.request(world), metadata)
        if looked == looked_too:
            break
    why = shut_out(kind, callers)
    expected = row.refused.get(kind) if why is None else why
    if expected is not None:
        assert isinstance(present, tuple), (method, kind)
        assert present[0] == expected, (method, kind, present)
    if expected is None or why is not None:
        assert present == absent, (method, kind)
        more, less = Counter(looked_too) - Counter(looked), Counter(looked) - Counter(looked_too)
        assert looked == looked_too, (method, kind, list(more), list(less))
        assert looked or asking.statements.exact or why is not None, (method, kind, "nothing was heard")
        assert isinstance(present, bytes) or present[0] == (why or reasons.ERROR_REASON_NOT_FOUND), (
            method,
            kind,
            present,
        )
