"""The connection to NATS JetStream: declaring the streams, publishing, and pulling work.

One place decides what becomes of a message: acknowledged when its handler returns, set aside as a dead letter when it
cannot be decoded, handed back at once when the handler says so and with a delay when it raises. A cancelled handler
leaves its message unacknowledged, so that another worker gets it.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Self
from uuid import UUID

import nats
from google.protobuf.message import DecodeError
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext, api
from nats.js.errors import BadRequestError

from acervo.events.v1.facts_pb2 import FactHandled
from services.shared import bus
from services.shared.db import DISCONNECTED

log = logging.getLogger(__name__)

FACT_ID = "Acervo-Fact"
FROM = "Acervo-From"

_BATCH = 64
_PUBLISH_SECONDS = 5.0
_FETCH_SECONDS = 1.0
_RETRY_SECONDS = 0.5
_HAND_BACK_SECONDS = 2.0
_CLOSE_SECONDS = 2
_REPEAT_SECONDS = 60.0
_STREAM_DIFFERS = 10058
"""The server's code for a stream that is there with another configuration."""


class HandBack(Exception):
    """Raised by a handler that has not begun: the message is for whoever pulls next."""


class Undecodable(Exception):
    """A message that no version of this code can read: kept as a dead letter, never delivered again."""


def read_id(text: str) -> UUID:
    """Read an id out of a message. Raises Undecodable."""
    try:
        return UUID(text)
    except ValueError:
        raise Undecodable(f"not a UUID: {text[:40]!r}") from None


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to publish. `id` is what the broker recognises a repeat by; `fact_id` marks an announced fact."""

    id: UUID
    subject: str
    payload: bytes
    fact_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that came. Delivered at least once, in no particular order."""

    subject: str
    data: bytes


Handler = Callable[[Delivery], Awaitable[None]]
DeadLetter = Callable[[str, Delivery, str], Awaitable[None]]


class Broker:
    """One process's connection to NATS as one service."""

    def __init__(self, client: Client, service: str, closed: asyncio.Event) -> None:
        self.service = service
        self.closed = closed
        """Set when the connection has ended for good: closed, or refused by the server."""
        self._client = client
        self._js: JetStreamContext = client.jetstream()
        self._ensuring = asyncio.Lock()

    @classmethod
    async def connect(cls, url: str, service: str) -> Self:
        """Connect as `service` (the URL holds user and password) and reconnect whenever the connection breaks."""
        closed = asyncio.Event()

        async def close() -> None:
            closed.set()

        client = await nats.connect(
            url,
            name=f"acervo-{service}",
            inbox_prefix=bus.inbox_prefix(service),
            max_reconnect_attempts=-1,
            reconnect_time_wait=0.2,
            allow_reconnect=True,
            ping_interval=10,
            error_cb=Reporter().report,
            closed_cb=close,
        )
        return cls(client, service, closed)

    async def close(self) -> None:
        """Flush what was published and disconnect."""
        with contextlib.suppress(nats.errors.Error):
            await self._client.flush(_CLOSE_SECONDS)
        await self._client.close()

    @property
    def connected(self) -> bool:
        """Whether the broker can be reached now."""
        return self._client.is_connected

    async def ensure(self) -> None:
        """Declare both streams and all durable consumers. Streams that are there stay as they are."""
        async with self._ensuring:
            for stream in bus.Stream:
                await self._declare(stream)
            for consumer in bus.CONSUMERS.values():
                await self._js.add_consumer(consumer.stream, _consumer_config(consumer))

    async def _declare(self, stream: bus.Stream) -> None:
        try:
            await self._js.add_stream(_stream_config(stream))
        except BadRequestError as error:
            if error.err_code != _STREAM_DIFFERS:
                raise
            log.warning("stream %s has another configuration than the declared one, and keeps it", stream)

    async def publish(self, messages: Sequence[Outgoing]) -> list[UUID]:
        """Publish up to 64 at a time and return the ids that the broker stored, or had stored before.

        A stream that refuses a message is offered no more of them; the other one is.
        """
        acknowledged: list[UUID] = []
        refusing: set[bus.Stream] = set()
        for start in range(0, len(messages), _BATCH):
            batch = [
                message
                for message in messages[start : start + _BATCH]
                if bus.stream_of(message.subject) not in refusing
            ]
            answers = await asyncio.gather(*map(self._publish_one, batch), return_exceptions=True)
            for message, answer in zip(batch, answers, strict=True):
                if answer is None:
                    acknowledged.append(message.id)
                    continue
                stream = bus.stream_of(message.subject)
                if stream not in refusing:
                    log.warning("%s refused a message: %r", stream, answer)
                    refusing.add(stream)
        if refusing:
            await self._ensure_quietly()
        return acknowledged

    async def _publish_one(self, message: Outgoing) -> None:
        headers = {api.Header.MSG_ID.value: str(message.id)}
        if message.fact_id is not None:
            headers |= {FACT_ID: str(message.fact_id), FROM: self.service}
        await self._js.publish(message.subject, message.payload, timeout=_PUBLISH_SECONDS, headers=headers)

    async def consume(
        self,
        name: str,
        handler: Handler,
        dead_letter: DeadLetter,
        *,
        slots: int,
        heartbeat_seconds: float,
        stopping: asyncio.Event,
    ) -> None:
        """Pull from a declared consumer, never more than there are free slots, until told to stop.

        Returns once the running handlers are done. On cancellation they are cancelled too; their messages come again to
        whoever pulls next.
        """
        consumer = bus.CONSUMERS[name]
        work = _Work(consumer.name, handler, dead_letter, heartbeat_seconds, stopping)
        free = asyncio.Semaphore(slots)
        async with asyncio.TaskGroup() as group:
            while not stopping.is_set():
                try:
                    subscription = await self._js.pull_subscribe_bind(
                        consumer=consumer.name, stream=consumer.stream, inbox_prefix=self._inbox_prefix
                    )
                    await self._pull(subscription, work, free, group)
                except (nats.errors.Error, OSError) as error:
                    log.warning("%s cannot pull: %r", name, error)
                    await asyncio.sleep(_RETRY_SECONDS)
                    await self._ensure_quietly()

    @property
    def _inbox_prefix(self) -> bytes:
        return f"{bus.inbox_prefix(self.service)}.".encode()

    async def _pull(
        self,
        subscription: JetStreamContext.PullSubscription,
        work: "_Work",
        free: asyncio.Semaphore,
        group: asyncio.TaskGroup,
    ) -> None:
        try:
            while not work.stopping.is_set():
                taken, started = await _take(free), 0
                try:
                    for message in await _fetch(subscription, taken, work.stopping):
                        if started < taken and not work.stopping.is_set():
                            task = group.create_task(self._handle(message, work))
                            task.add_done_callback(lambda _: free.release())
                            started += 1
                        else:
                            await message.nak()
                finally:
                    for _ in range(taken - started):
                        free.release()
        finally:
            with contextlib.suppress(nats.errors.Error):
                await subscription.unsubscribe()

    async def _handle(self, message: Msg, work: "_Work") -> None:
        """Decide what becomes of a message. Raises nothing: one message never stops the others."""
        beating = asyncio.create_task(_keep(message, work.heartbeat_seconds))
        try:
            await self._work_on(message, work)
        except HandBack:
            with contextlib.suppress(nats.errors.Error):
                await message.nak()
        except nats.errors.Error as error:
            log.warning("%s could not acknowledge: %r", work.consumer, error)
        except DISCONNECTED as error:
            log.warning("%s was interrupted on %s: %r", work.consumer, message.subject, error)
            with contextlib.suppress(nats.errors.Error):
                await message.nak(delay=_HAND_BACK_SECONDS)
        except Exception:
            log.exception("%s failed on %s; it comes again", work.consumer, message.subject)
            with contextlib.suppress(nats.errors.Error):
                await message.nak(delay=_HAND_BACK_SECONDS)
        finally:
            beating.cancel()

    async def _work_on(self, message: Msg, work: "_Work") -> None:
        delivery = Delivery(message.subject, message.data)
        try:
            await work.handler(delivery)
        except (Undecodable, DecodeError) as error:
            log.exception("%s got a message that cannot be decoded", work.consumer)
            await work.dead_letter(work.consumer, delivery, str(error))
            await message.term()
        else:
            await self._answer(message)
            await message.ack()

    async def _answer(self, message: Msg) -> None:
        headers = message.headers or {}
        if FACT_ID not in headers:
            return
        answer = FactHandled(fact_id=headers[FACT_ID], service=self.service)
        message_id = f"{headers[FACT_ID]}-{self.service}-{message.metadata.sequence.stream}"
        await self._js.publish(
            bus.handled_subject(headers[FROM], self.service),
            answer.SerializeToString(),
            timeout=_PUBLISH_SECONDS,
            headers={api.Header.MSG_ID.value: message_id},
        )

    async def _ensure_quietly(self) -> None:
        try:
            await self.ensure()
        except (nats.errors.Error, OSError) as error:
            log.warning("the streams cannot be declared yet: %r", error)


@dataclass(frozen=True, slots=True)
class _Work:
    consumer: str
    handler: Handler
    dead_letter: DeadLetter
    heartbeat_seconds: float
    stopping: asyncio.Event


async def _take(free: asyncio.Semaphore) -> int:
    """Wait for one slot, take those that are free beside it, up to a batch, and return how many."""
    await free.acquire()
    taken = 1
    while taken < _BATCH and not free.locked():
        await free.acquire()
        taken += 1
    return taken


async def _fetch(
    subscription: JetStreamContext.PullSubscription, count: int, stopping: asyncio.Event
) -> list[Msg]:
    """Return what came within a second: nothing, some, or more than `count`, where a fetch before ended too soon."""
    if stopping.is_set():
        return []
    try:
        return await subscription.fetch(count, timeout=_FETCH_SECONDS)
    except TimeoutError:
        return []


async def _keep(message: Msg, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        with contextlib.suppress(nats.errors.Error):
            await message.in_progress()


class Reporter:
    """Logs what goes wrong with the connection; the same again at most once a minute."""

    def __init__(self) -> None:
        self._told: dict[str, float] = {}

    async def report(self, error: Exception) -> None:
        said, now = repr(error), time.monotonic()
        if now - self._told.get(said, -_REPEAT_SECONDS) < _REPEAT_SECONDS:
            return
        self._told[said] = now
        if "authorization" in said.lower():
            log.error("NATS refuses the user or the password in ACERVO_NATS_URL; correct it: %s", said)
        else:
            log.warning("NATS: %s", said)


def _stream_config(stream: bus.Stream) -> api.StreamConfig:
    retention = api.RetentionPolicy.WORK_QUEUE if stream is bus.Stream.WORK else api.RetentionPolicy.INTEREST
    return api.StreamConfig(
        name=stream,
        subjects=list(bus.SUBJECTS[stream]),
        retention=retention,
        storage=api.StorageType.FILE,
        discard=api.DiscardPolicy.NEW,
        max_bytes=bus.MAX_BYTES[stream],
        max_msg_size=bus.MAX_MESSAGE_BYTES,
        duplicate_window=bus.DUPLICATE_WINDOW_SECONDS,
        max_age=bus.FACTS_SECONDS if stream is bus.Stream.FACTS else 0,
    )


def _consumer_config(consumer: bus.Consumer) -> api.ConsumerConfig:
    return api.ConsumerConfig(
        durable_name=consumer.name,
        ack_policy=api.AckPolicy.EXPLICIT,
        ack_wait=bus.ACK_WAIT_SECONDS,
        max_deliver=-1,
        max_ack_pending=bus.MAX_ACK_PENDING,
        filter_subjects=list(consumer.subjects),
    )
