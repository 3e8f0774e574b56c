"""The whole service as a process, over a real broker: what dies, is wiped or is lost delays work and loses none."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from services.ingest.documents import Document
from services.shared.blobs import BlobStore
from services.shared.broker import Broker
from services.shared.bus import Lane
from services.shared.db import Pool
from services.shared.ids import uuid7
from tests.conftest import Databases, NatsServer
from tests.integration.ingest.processes import IngestProcess, Vectorstore
from tests.integration.ingest.steps import Steps
from tests.signing import Trust

Eventually = Callable[..., Awaitable[None]]
BASE = uuid7()


@pytest.fixture
async def broker(nats_server: NatsServer) -> AsyncIterator[Broker]:
    broker = await Broker.connect(nats_server.url("vectorstore"), "vectorstore")
    await broker.ensure()
    yield broker
    await broker.close()


@pytest.fixture
async def ingest(
    databases: Databases, nats_server: NatsServer, blob_url: str, tmp_path: Path
) -> AsyncIterator[IngestProcess]:
    trust = Trust(tmp_path)
    trust.service_tokens("ingest", "access")
    process = IngestProcess(
        {
            "ACERVO_DATABASE_URL": databases["ingest"],
            "ACERVO_NATS_URL": nats_server.url("ingest"),
            "ACERVO_BLOB_URL": blob_url,
            "ACERVO_ISSUERS": str(trust.issuers),
            "ACERVO_SERVICE_TOKENS": str(tmp_path / "tokens" / "ingest"),
            "ACERVO_SCRATCH": str(tmp_path),
        },
        tmp_path / "ingest.log",
    )
    yield process
    await process.kill()


class Load:
    """Documents of several organizations whose originals are in the store."""

    def __init__(self, steps: Steps, store: BlobStore) -> None:
        self._steps = steps
        self._store = store

    async def add(self, count: int, lane: Lane) -> list[Document]:
        organizations = [uuid7() for _ in range(3)]
        made = []
        for n in range(count):
            key = f"upload/files/{uuid7()}"
            await self._store.put(key, f"Rule {n}: leave is {n} days.\n".encode())
            made.append(
                await self._steps.create(
                    BASE,
                    filename=f"{lane.value}-{n}.txt",
                    kind="txt",
                    lane=lane,
                    original_key=key,
                    organization_id=organizations[n % 3],
                )
            )
        return made

    async def all_done(self) -> bool:
        states = await self._steps.pool.fetch("SELECT state FROM documents")
        assert all(row["state"] != "error" for row in states)
        return all(row["state"] == "done" for row in states)


@pytest.fixture
def load(steps: Steps, blob_url: str) -> Load:
    return Load(steps, BlobStore.open(blob_url))


async def _nothing_left(pool: Pool) -> bool:
    return bool(
        await pool.fetchval(
            """
            SELECT NOT EXISTS (SELECT FROM outbox) AND NOT EXISTS (SELECT FROM jobs WHERE state <> 'ended')
                AND (SELECT count(*) FROM blobs WHERE state = 'live') = (SELECT count(*) FROM documents)
            """
        )
    )


async def test_documents_of_both_lanes_are_read_and_done(
    ingest: IngestProcess, load: Load, broker: Broker, pool: Pool, eventually: Eventually
) -> None:
    await ingest.start()
    await load.add(12, Lane.BULK)
    await load.add(4, Lane.INTERACTIVE)
    vectorstore = Vectorstore(broker)
    async with vectorstore.answering():
        await eventually(load.all_done, 60)
    await eventually(lambda: _nothing_left(pool))
    assert await ingest.drain() == 0


async def test_answers_that_are_lost_are_asked_for_until_they_come(
    ingest: IngestProcess, load: Load, broker: Broker, pool: Pool, eventually: Eventually
) -> None:
    await ingest.start()
    documents = await load.add(3, Lane.INTERACTIVE)
    vectorstore = Vectorstore(broker, patience=2)
    async with vectorstore.answering():
        await eventually(load.all_done, 60)
    assert set(vectorstore.asked) == {str(document.id) for document in documents}
    assert min(vectorstore.asked.values()) >= 2


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.soak)])
async def test_killed_workers_and_a_wiped_broker_lose_nothing(
    ingest: IngestProcess,
    load: Load,
    broker: Broker,
    nats_server: NatsServer,
    pool: Pool,
    eventually: Eventually,
    seed: int,
) -> None:
    chance = random.Random(seed)
    await ingest.start()
    await load.add(20, Lane.BULK)
    await load.add(5, Lane.INTERACTIVE)

    async def harm() -> None:
        for act in chance.sample(["kill", "wipe", "kill"], 3):
            await _until_some_more_are_done(pool, chance.randint(2, 6), eventually)
            if act == "wipe":
                nats_server.wipe()
            else:
                await ingest.kill()
                await ingest.start()

    async with Vectorstore(broker).answering():
        await asyncio.gather(harm(), eventually(load.all_done, 90))
        await eventually(lambda: _nothing_left(pool), 30)
    finished = await pool.fetch("SELECT state, chunk_count, attempt FROM documents")
    assert {tuple(row) for row in finished} == {("done", 1, 1)}


async def _until_some_more_are_done(pool: Pool, count: int, eventually: Eventually) -> None:
    done = "SELECT count(*) FROM documents WHERE state = 'done'"
    total = await pool.fetchval("SELECT count(*) FROM documents")
    goal = min(total, await pool.fetchval(done) + count)

    async def reached() -> bool:
        return bool(await pool.fetchval(done) >= goal)

    await eventually(reached, 60)
