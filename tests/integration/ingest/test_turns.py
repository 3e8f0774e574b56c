"""Parsers in turns, over a real broker: what waits is not claimed, and one's long files keep nobody waiting."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from services.ingest import consumers
from services.ingest.documents import Document, Stage
from services.ingest.parsing import Parsing, Timing
from services.ingest.pool.job import Cut, Job, Outcome
from services.shared.blobs import BlobStore
from services.shared.broker import Broker, Delivery, Outgoing
from services.shared.bus import Lane
from services.shared.db import Pool
from services.shared.ids import uuid7
from services.shared.turns import Turns, pulled
from tests.conftest import NatsServer
from tests.integration.ingest.steps import Steps

BASE = uuid7()
ORGANIZATION, ANA, BEN = uuid7(), uuid7(), uuid7()
SLOTS = 2
LONG, SHORT = "txt", "md"
Eventually = Callable[..., Awaitable[None]]


class Parsers:
    """Reads short files at once, and long ones when it is told to."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    async def parse(self, job: Job, /) -> Outcome:
        if job.kind == LONG:
            await self.gate.wait()
        return Cut(b"pages", b"chunks", 0, 1, ())


class Worker:
    """A worker's consumer of what people wait for, and the documents that are sent to it."""

    def __init__(self, steps: Steps, broker: Broker, store: BlobStore, scratch: Path) -> None:
        self.parsers = Parsers()
        self.turns = Turns(SLOTS)
        self._steps = steps
        self._broker = broker
        self._store = store
        self._parsing = Parsing(
            steps.pool, store, self.parsers, worker="w", timing=Timing(60, 20, 60, 600), scratch=scratch
        )

    async def send(self, **changes: object) -> Document:
        """Upload a file of somebody, and let its message be on the bus."""
        document = await self._steps.create(
            BASE, organization_id=ORGANIZATION, original_key=f"upload/files/{uuid7()}", **changes
        )
        await self._store.put(document.original_key, b"text")
        await self._steps.admit()
        rows = await self._steps.pool.fetch("DELETE FROM outbox RETURNING id, subject, payload")
        await self._broker.publish([Outgoing(row["id"], row["subject"], row["payload"]) for row in rows])
        return document

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        lane, stopping = Lane.INTERACTIVE, asyncio.Event()
        handler = consumers.work(self._parsing, self.turns, lane)
        consuming = asyncio.create_task(
            self._broker.consume(
                f"parse-{lane}",
                handler,
                _dead,
                slots=pulled(lane, SLOTS),
                heartbeat_seconds=20,
                stopping=stopping,
            )
        )
        try:
            yield
        finally:
            stopping.set()
            self.turns.close()
            self.parsers.gate.set()
            await consuming

    async def stages(self) -> dict[str, Stage]:
        rows = await self._steps.pool.fetch("SELECT filename, stage FROM documents")
        return {row["filename"]: Stage(row["stage"]) for row in rows}

    async def waiting(self) -> int:
        """How many documents nobody has claimed."""
        count: int = await self._steps.pool.fetchval(
            "SELECT count(*) FROM jobs WHERE state = 'sent' AND stage = 'parse'"
        )
        return count


async def _dead(consumer: str, delivery: Delivery, error: str) -> None:
    raise AssertionError(f"{consumer} could not decode {delivery}: {error}")


@pytest.fixture
async def worker(
    steps: Steps, nats_server: NatsServer, blob_url: str, tmp_path: Path
) -> AsyncIterator[Worker]:
    broker = await Broker.connect(nats_server.url("ingest"), "ingest")
    await broker.ensure()
    yield Worker(steps, broker, BlobStore.open(blob_url), tmp_path)
    await broker.close()


async def test_one_persons_many_long_files_do_not_keep_a_colleagues_short_one_waiting(
    worker: Worker, eventually: Eventually
) -> None:
    for n in range(12):
        await worker.send(filename=f"long {n}", kind=LONG, actor_user_id=ANA)
    await worker.send(filename="short", kind=SHORT, actor_user_id=BEN)

    async def short_is_read() -> bool:
        return (await worker.stages())["short"] is Stage.EMBEDDING

    async with worker.running():
        await eventually(short_is_read)
        stages = await worker.stages()
        assert stages["long 0"] is Stage.PARSING
        assert {stages[f"long {n}"] for n in range(1, 12)} == {Stage.QUEUED}
        assert await worker.waiting() == 11
        worker.parsers.gate.set()

        async def all_are_read() -> bool:
            return set((await worker.stages()).values()) == {Stage.EMBEDDING}

        await eventually(all_are_read)


async def test_many_peoples_files_that_are_known_to_take_long_keep_nobodys_other_one_waiting(
    worker: Worker, pool: Pool, eventually: Eventually
) -> None:
    for n in range(6):
        await worker.send(filename=f"long {n}", kind=LONG, actor_user_id=uuid7())
    await pool.execute("UPDATE jobs SET tries = 1")

    async def one_is_begun() -> bool:
        return await worker.waiting() == 5

    async def short_is_read() -> bool:
        return (await worker.stages())["short"] is Stage.EMBEDDING

    async def all_are_read() -> bool:
        return set((await worker.stages()).values()) == {Stage.EMBEDDING}

    async with worker.running():
        await eventually(one_is_begun)
        await worker.send(filename="short", kind=SHORT, actor_user_id=BEN)
        await eventually(short_is_read)
        assert await worker.waiting() == 5
        worker.parsers.gate.set()
        await eventually(all_are_read)


async def test_what_waits_for_a_turn_is_handed_back_when_the_process_goes_down(
    worker: Worker, steps: Steps, pool: Pool, eventually: Eventually
) -> None:
    for n in range(3):
        await worker.send(filename=f"long {n}", kind=LONG, actor_user_id=ANA)

    async def one_is_begun() -> bool:
        return await worker.waiting() == 2

    async with worker.running():
        await eventually(one_is_begun)
    assert await worker.waiting() == 2
    worker.turns = Turns(SLOTS)

    async def all_are_read() -> bool:
        return set((await worker.stages()).values()) == {Stage.EMBEDDING}

    async with worker.running():
        await eventually(all_are_read)
    assert {row["takeovers"] for row in await pool.fetch("SELECT takeovers FROM jobs")} == {0}
