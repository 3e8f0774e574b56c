"""The life of one service process: connections, loops, consumers, server, and an orderly end.

    async with Runtime.open(settings, "ingest") as runtime:
        await runtime.serve(servicers, callers)
        if settings.role.works:
            runtime.background(policy)
            runtime.consume("parse-bulk", handler, slots=2)
            runtime.facts({bus.DOCUMENT_INDEXED: handler})
        await runtime.run()

Start order is free: a database or a broker that is not there yet is waited for. At SIGTERM or SIGINT the process turns
unready, stops pulling, lets running work end (or cancels it, which hands it back), and closes everything.
"""

import asyncio
import contextlib
import hashlib
import logging
import os
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self, TypeVar
from uuid import NAMESPACE_OID, uuid5

import nats.errors
from obstore.exceptions import BaseError

from acervo.events.v1.facts_pb2 import FactHandled
from services.shared import bus, idempotency
from services.shared.admission import Dispatcher, Policy
from services.shared.auth import ServiceTokens, TokenVerifier, load_issuers
from services.shared.blobs import BlobStore, Collector, claim
from services.shared.broker import Broker, Delivery, Handler, Undecodable, read_id
from services.shared.client import Peers
from services.shared.db import DATABASE_REFUSES, DISCONNECTED, Listener, Pool, Prepare, open_pool
from services.shared.errors import Unavailable
from services.shared.leader import lead
from services.shared.outbox import Answers, Relay
from services.shared.server import Callers, Server, Servicer, build_server
from services.shared.settings import ServiceSettings, naming

log = logging.getLogger(__name__)

Body = Callable[[], Awaitable[None]]
T = TypeVar("T")

HOUR: Final = 3600.0

_RESTART_SECONDS = 0.5
_FACT_SLOTS = 64
_NO_STORAGE = "This must name blob storage that can be opened: file:///path, s3://, gs:// or az://."
_NO_DATABASE = (
    "The database does not let this user in: the user, the password or the database's name is wrong."
)
_DEAD_LETTER = """
INSERT INTO dead_letters (id, consumer, subject, payload, error) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
"""


class Runtime:
    """What a service's parts are built on. Made by `open`."""

    def __init__(self, settings: ServiceSettings, given: "_Given", pool: Pool, broker: Broker) -> None:
        self.settings = settings
        self.service = service = given.service
        self.worker = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.pool = pool
        self.broker = broker
        self.blobs = given.blobs
        self.listener = Listener(settings.database_url, service)
        self.peers = Peers(settings, ServiceTokens(settings.service_tokens))
        self.verifier = given.verifier
        self._answers = Answers(pool)
        self._stopping = asyncio.Event()
        self._consumers: list[asyncio.Task[None]] = []
        self._loops: list[asyncio.Task[None]] = []
        self._at_stop: list[Callable[[], None]] = []
        self._server: Server | None = None

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, settings: ServiceSettings, service: str, prepare: Prepare | None = None
    ) -> AsyncIterator[Self]:
        """Connect to database and broker, waiting for them, and close everything at the end.

        `prepare` is run on each new connection to the database.

        Raises:
            Misconfigured: if a setting is found to be wrong, by the database too.
        """
        given = _Given.of(settings, service)
        pool = await _insist("database", lambda: _open_pool(settings, service, prepare))
        try:
            broker = await _insist("broker", lambda: Broker.connect(settings.nats_url, service))
            await _insist("streams", broker.ensure)
            runtime = cls(settings, given, pool, broker)
            try:
                runtime.loop("listener", runtime.listener.run)
                runtime._loops.append(asyncio.create_task(runtime._end_without_broker()))
                yield runtime
            finally:
                await runtime._close()
        finally:
            with contextlib.suppress(TimeoutError, *DISCONNECTED):
                async with asyncio.timeout(settings.drain_seconds):
                    await pool.close()
            pool.terminate()

    async def claim_blobs(self) -> None:
        """Wait until blob storage is there: the one that holds the blobs of this service, which keeps some."""
        await _insist("blob storage", lambda: claim(self.pool, self.blobs, self.service))

    def loop(self, name: str, body: Body) -> None:
        """Run `body` as long as the process, again after it failed."""
        self._loops.append(asyncio.create_task(_forever(name, body), name=name))

    def singleton(self, name: str, body: Body) -> None:
        """Run `body` in one process of this service at a time."""
        turn = f"{self.service}.{name}"
        self.loop(name, lambda: lead(self.pool, turn, self.worker, self.settings.leader_seconds, body))

    def every(self, name: str, seconds: float, body: Body) -> None:
        """Run `body` in one process of this service at a time, again and again with a pause between."""

        async def again() -> None:
            while True:
                await body()
                await asyncio.sleep(seconds)

        self.singleton(name, again)

    def background(self, policy: Policy | None = None) -> None:
        """Run what every service with an outbox needs: relay, dispatcher, collector of blobs, the end of old requests.

        `policy` is how jobs are admitted; None where the service has none.
        """
        settings = self.settings
        self.every("requests", HOUR, lambda: idempotency.forget(self.pool, settings.request_days))
        self.singleton("relay", self._relay)
        self.singleton("collector", Collector(self.pool, self.blobs, settings.pending_blob_seconds / 20).run)

        async def dispatch() -> None:
            with self.listener.signal("jobs") as signal:
                await Dispatcher(
                    self.pool,
                    policy,
                    signal,
                    deadline_seconds=settings.emit_deadline_seconds,
                    reconcile_seconds=settings.reconcile_seconds,
                ).run()

        self.singleton("dispatcher", dispatch)

    async def _relay(self) -> None:
        with self.listener.signal("outbox") as signal:
            await Relay(self.pool, self.broker, signal).run()

    def consume(self, name: str, handler: Handler, *, slots: int) -> None:
        """Pull messages of a declared consumer for `handler`, to have `slots` in hand at a time."""

        async def work() -> None:
            await self.broker.consume(
                name,
                handler,
                self._dead_letter,
                slots=slots,
                heartbeat_seconds=self.settings.heartbeat_seconds,
                stopping=self._stopping,
            )

        self._consumers.append(asyncio.create_task(_until_it_ends(name, work), name=name))

    def facts(self, handlers: Mapping[str, Handler]) -> None:
        """Hear facts: one handler for each subject that this service is declared to hear."""
        consumer = bus.CONSUMERS[f"{self.service}-facts"]
        answers = bus.handled_subject(self.service)
        if {*handlers, answers} != set(consumer.subjects):
            raise ValueError(
                f"{consumer.name} hears {consumer.subjects}, and there are handlers for {tuple(handlers)}"
            )

        async def handle(delivery: Delivery) -> None:
            if delivery.subject.startswith(answers.removesuffix("*")):
                await self._fact_handled(delivery)
            elif delivery.subject in handlers:
                await handlers[delivery.subject](delivery)
            else:
                raise Undecodable(f"nobody here handles {delivery.subject}")

        self.consume(consumer.name, handle, slots=_FACT_SLOTS)

    async def _fact_handled(self, delivery: Delivery) -> None:
        fact_id = read_id(FactHandled.FromString(delivery.data).fact_id)
        # Only the hearer itself may publish on this subject; what the message says may be anything.
        await self._answers.handled(fact_id, delivery.subject.rpartition(".")[2])

    async def _dead_letter(self, consumer: str, delivery: Delivery, error: str) -> None:
        """Keep a message for a person to look at; one that comes again with the same content is kept once."""
        content = hashlib.sha256(delivery.data).hexdigest()
        letter_id = uuid5(NAMESPACE_OID, f"{consumer}\n{delivery.subject}\n{content}")
        reason = error.replace("\0", "\N{REPLACEMENT CHARACTER}")
        await self.pool.execute(_DEAD_LETTER, letter_id, consumer, delivery.subject, delivery.data, reason)

    async def serve(self, servicers: Sequence[Servicer], callers: Mapping[str, Callers]) -> str:
        """Start the gRPC server, and return its address. Without servicers it answers for health alone."""
        self._server = await build_server(self.settings, self.verifier, servicers, callers)
        await self._server.start()
        log.info("serving", extra={"address": self._server.address})
        return self._server.address

    async def run(self) -> None:
        """Work until SIGTERM or SIGINT, then drain."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        await self._stopping.wait()
        log.info("draining")
        deadline = loop.time() + self.settings.drain_seconds
        if self._server is not None:
            await self._server.unready()
        for end in self._at_stop:
            end()
        await _finish(self._consumers, self.settings.drain_seconds)
        if self._server is not None:
            await self._server.stop(max(1.0, deadline - loop.time()))

    async def _end_without_broker(self) -> None:
        """End the process, for its supervisor to start it anew, where the server has closed the connection for good."""
        await self.broker.closed.wait()
        log.error("the broker closed the connection; the process ends")
        self.stop()

    def at_stop(self, end: Callable[[], None]) -> None:
        """Call `end` when the process begins to drain: for what would otherwise hold it up, such as endless streams."""
        self._at_stop.append(end)

    def stop(self) -> None:
        """Ask the process to drain and end."""
        self._stopping.set()

    async def _close(self) -> None:
        self._stopping.set()
        await _finish(self._consumers, 0)
        await _finish(self._loops, 0)
        if self._server is not None:
            await self._server.stop(0)
        await self.peers.close()
        await self.broker.close()


@dataclass(frozen=True, slots=True)
class _Given:
    """What is made of the settings alone, before anybody is waited for."""

    service: str
    blobs: BlobStore
    verifier: TokenVerifier

    @classmethod
    def of(cls, settings: ServiceSettings, service: str) -> Self:
        with naming("ACERVO_BLOB_URL", _NO_STORAGE, OSError, BaseError):
            store = BlobStore.open(settings.blob_url)
        return cls(service, store, TokenVerifier(load_issuers(settings.issuers), service))


async def _open_pool(settings: ServiceSettings, service: str, prepare: Prepare | None) -> Pool:
    with naming("ACERVO_DATABASE_URL", _NO_DATABASE, *DATABASE_REFUSES):
        return await open_pool(
            settings.database_url, size=settings.database_pool, application=service, prepare=prepare
        )


async def _finish(tasks: Sequence[asyncio.Task[None]], seconds: float) -> None:
    """Give tasks so long to end by themselves, then cancel them and wait."""
    if not tasks:
        return
    _, late = await asyncio.wait(tasks, timeout=seconds)
    for task in late:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _forever(name: str, body: Body) -> None:
    while True:
        await _until_it_ends(name, body)
        await asyncio.sleep(_RESTART_SECONDS)


async def _until_it_ends(name: str, body: Body) -> None:
    """Run `body`, again after each failure, until it returns."""
    while True:
        try:
            return await body()
        except (*DISCONNECTED, nats.errors.Error, TimeoutError, Unavailable) as error:
            log.warning("%s was interrupted: %r", name, error)
        except Exception:
            log.exception("%s failed; it starts again", name)
        await asyncio.sleep(_RESTART_SECONDS)


async def _insist(what: str, connect: Callable[[], Awaitable[T]]) -> T:
    told = ""
    while True:
        try:
            return await connect()
        except (*DISCONNECTED, nats.errors.Error, TimeoutError, Unavailable) as error:
            if told != (told := type(error).__name__):
                log.warning("waiting for the %s: %s", what, told)
            await asyncio.sleep(_RESTART_SECONDS)
