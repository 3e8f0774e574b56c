"""PostgreSQL: pools, transactions, and waking up when another process has written."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

import asyncpg

log = logging.getLogger(__name__)

# What runs statements: a connection of its own, or one that a pool lent.
Connection: TypeAlias = (
    "asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"
)
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"
Prepare: TypeAlias = Callable[[Connection], Awaitable[None]]

# Losing the server or the connection: the work was not done, and doing it again later is right.
DISCONNECTED = (
    OSError,
    asyncpg.InterfaceError,
    # What asyncpg says of a connection on which the dying server has just sent its last words.
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
)
# The address is wrong: waiting does not help.
DATABASE_REFUSES = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.InsufficientPrivilegeError,
)
# Meeting another transaction: the statement can be run again at once.
CONTENDED = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.LockNotAvailableError)

# Statements here are short and their rows are in memory or on solid disks. At PostgreSQL's own price for a random page,
# a search in a shared table reads all of a base where an index of words would leave a tenth of it.
_PLANNING = {"jit": "off", "random_page_cost": "1.1"}
_CONNECT_SECONDS = 10
_COMMAND_SECONDS = 60
_RECONNECT_SECONDS = 0.5
_ALIVE_SECONDS = 30


async def open_pool(url: str, *, size: int, application: str, prepare: Prepare | None = None) -> Pool:
    """Open a pool of at most `size` connections. JSON columns come and go as Python objects.

    The search path comes from the role that the URL names. `prepare` is run on each new connection.
    """

    async def initialise(connection: Connection) -> None:
        await _prepare(connection)
        if prepare is not None:
            await prepare(connection)

    return await asyncpg.create_pool(
        url,
        min_size=1,
        max_size=size,
        timeout=_CONNECT_SECONDS,
        command_timeout=_COMMAND_SECONDS,
        init=initialise,
        reset=_leave,
        server_settings={"application_name": application, **_PLANNING},
    )


async def _leave(connection: Connection) -> None:
    """Give a connection back as it is, its transaction rolled back: asyncpg's own reset costs each use a round trip.

    So whoever borrows one changes no session: settings and advisory locks are those of a transaction.
    """


async def _prepare(connection: Connection) -> None:
    for kind in ("json", "jsonb"):
        await connection.set_type_codec(kind, schema="pg_catalog", encoder=json.dumps, decoder=json.loads)


class Signal:
    """Something may have changed. Waiting never misses what came before the wait."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def set(self) -> None:
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Return once the signal was set, at the latest after `seconds`, and reset it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()
        self._event.clear()


class Listener:
    """One connection that hears NOTIFY for a whole process, and is opened again when it breaks.

    Subscribers get payloads through a bounded queue (the oldest is dropped, and they are told by `None`, which also
    follows a reconnect: look at everything again), or just a `Signal`.
    """

    def __init__(self, url: str, schema: str) -> None:
        self._url = url
        self._schema = schema
        self._queues: dict[str, list[asyncio.Queue[str | None]]] = {}
        self._signals: dict[str, list[Signal]] = {}
        self._changed = asyncio.Event()

    @contextlib.contextmanager
    def signal(self, channel: str) -> Any:
        """Yield a `Signal` that is set at each notification of this schema's `channel`."""
        signal = Signal()
        self._signals.setdefault(channel, []).append(signal)
        self._changed.set()
        try:
            yield signal
        finally:
            self._signals[channel].remove(signal)

    @contextlib.contextmanager
    def payloads(self, channel: str, size: int = 1024) -> Any:
        """Yield a queue of the payloads of this schema's `channel`; None says that some were missed."""
        queue: asyncio.Queue[str | None] = asyncio.Queue(size)
        self._queues.setdefault(channel, []).append(queue)
        self._changed.set()
        try:
            yield queue
        finally:
            self._queues[channel].remove(queue)

    async def run(self) -> None:
        """Keep the connection until cancelled."""
        while True:
            try:
                async with self._connection() as connection:
                    await self._listen(connection)
            except DISCONNECTED as error:
                log.warning("listener lost its connection: %s", type(error).__name__)
            await asyncio.sleep(_RECONNECT_SECONDS)

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
        connection = await asyncpg.connect(self._url, timeout=_CONNECT_SECONDS)
        try:
            yield connection
        finally:
            connection.terminate()

    async def _listen(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        closed = asyncio.Event()
        connection.add_termination_listener(lambda _: closed.set())
        heard: set[str] = set()
        while not closed.is_set():
            self._changed.clear()
            for channel in {*self._queues, *self._signals} - heard:
                await connection.add_listener(f"{self._schema}.{channel}", self._heard)
                heard.add(channel)
                self._wake(channel, None)
            waits = [asyncio.ensure_future(closed.wait()), asyncio.ensure_future(self._changed.wait())]
            try:
                await asyncio.wait(waits, timeout=_ALIVE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
            # A connection that a network dropped without a word looks as if nobody had written.
            await connection.execute("SELECT 1", timeout=_CONNECT_SECONDS)

    def _heard(self, _connection: object, _pid: int, channel: str, payload: object) -> None:
        self._wake(channel.removeprefix(f"{self._schema}."), str(payload))

    def _wake(self, channel: str, payload: str | None) -> None:
        for signal in self._signals.get(channel, ()):
            signal.set()
        for queue in self._queues.get(channel, ()):
            missed = queue.full()
            while missed and not queue.empty():
                queue.get_nowait()
            queue.put_nowait(None if missed else payload)
