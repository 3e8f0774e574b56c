"""The worker that reads documents: what it writes, and how each thing that can go wrong ends."""

import asyncio
import io
import random
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import zstandard
from google.protobuf.proto import parse_length_prefixed

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.ingest.v1.chunks_pb2 import Chunk, ChunkFileHeader, PageText
from services.ingest import removal
from services.ingest.documents import Document, Original, Stage, State
from services.ingest.parsing import MOST_TRIES, Parsers, Parsing, Timing
from services.ingest.pool.job import Cut, Job, Outcome, Refused
from services.ingest.pool.parser_pool import ParserPool, PoolBroken
from services.shared import staged_file
from services.shared.blobs import BlobStore
from services.shared.db import Listener, Pool
from services.shared.ids import uuid7
from tests.conftest import Databases
from tests.full_disk import full_device
from tests.integration.ingest.steps import Steps

BASE = uuid7()
QUICK = 7.0
TEXT = b"# Leave\n\nTwenty-eight days a year.\n"
Eventually = Callable[..., Awaitable[None]]


class Script:
    """A parser that does what it is told, one thing a call."""

    def __init__(self, *acts: Outcome | Exception) -> None:
        self._acts = list(acts)
        self.started = asyncio.Event()
        self.cancelled = False
        self.seconds: list[float | None] = []

    async def parse(self, job: Job, /) -> Outcome:
        self.started.set()
        self.seconds.append(job.seconds)
        if not self._acts:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled = True
                raise
        act = self._acts.pop(0)
        if isinstance(act, Exception):
            raise act
        return act


CRASHED = Refused(pb.ERROR_REASON_PARSER_CRASHED, "It crashed.")
CUT = Cut(b"pages", b"chunks", 0, 1, ())


class Bench:
    """A store, and workers over it."""

    def __init__(self, pool: Pool, steps: Steps, store: BlobStore, scratch: Path) -> None:
        self.store = store
        self.scratch = scratch
        self._pool = pool
        self._steps = steps

    def worker(self, parsers: Parsers, *, lease: float = 60, heartbeat: float = 20) -> Parsing:
        timing = Timing(lease, heartbeat, 60, 600, QUICK)
        return Parsing(self._pool, self.store, parsers, worker="w", timing=timing, scratch=self.scratch)

    async def stored(self, **changes: object) -> Document:
        """A document whose original is in the store."""
        document = await self._steps.create(BASE, original_key=f"upload/files/{uuid7()}", **changes)
        await self.store.put(document.original_key, TEXT)
        return document

    async def parse(self, parsers: Parsers, document: Document) -> Document:
        """Admit the document, let a worker have it, and return it as it is then."""
        await self._pool.execute("UPDATE jobs SET due_at = now()")
        await self._steps.admit()
        await self.worker(parsers).parse(document.id, document.attempt)
        found = await self._steps.get(document)
        assert found is not None
        return found


@pytest.fixture
def bench(pool: Pool, steps: Steps, blob_url: str, tmp_path: Path) -> Bench:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return Bench(pool, steps, BlobStore.open(blob_url), scratch)


async def test_pages_and_chunks_are_written_where_vectorstore_looks_for_them(
    bench: Bench, steps: Steps
) -> None:
    document = await bench.stored(replaces=True, source_path="/docs/leave.md")
    async with ParserPool(slots=1) as parsers:
        read = await bench.parse(parsers, document)
    assert (read.stage, read.chunk_count, read.page_count) == (Stage.EMBEDDING, 1, 0)
    key = f"ingest/chunks/{document.id}/1/1"
    assert read.chunks_key == key
    decoder = zstandard.ZstdDecompressor()
    data = io.BytesIO(decoder.stream_reader(await bench.store.get(key), read_across_frames=True).read())
    header = parse_length_prefixed(ChunkFileHeader, data)
    assert header is not None
    assert (header.document_id, header.attempt, header.epoch) == (str(document.id), 1, 1)
    assert (header.address, header.version) == ("/docs/leave.md", document.version)
    chunk = parse_length_prefixed(Chunk, data)
    assert chunk is not None
    assert "Twenty-eight days" in chunk.text
    assert parse_length_prefixed(Chunk, data) is None
    pages = io.BytesIO(decoder.stream_reader(await bench.store.get(f"ingest/pages/{document.id}/1/1")).read())
    page = parse_length_prefixed(PageText, pages)
    assert page is not None
    assert chunk.text == page.text[chunk.start : chunk.end]
    assert set((await steps.blob_states()).values()) == {"live"}
    assert list(bench.scratch.iterdir()) == []


async def test_what_a_large_file_comes_to_is_stored_whole(bench: Bench, steps: Steps) -> None:
    words = random.Random(7).randbytes(3 << 20).hex()
    document = await bench.stored()
    await bench.store.put(document.original_key, words.encode())
    async with ParserPool(slots=1) as parsers:
        read = await bench.parse(parsers, document)
    assert read.chunks_key is not None
    stored = await bench.store.get(read.chunks_key)
    assert await steps.pool.fetchval("SELECT size FROM blobs WHERE key = $1", read.chunks_key) == len(stored)
    data = io.BytesIO(zstandard.ZstdDecompressor().stream_reader(stored, read_across_frames=True).read())
    header = parse_length_prefixed(ChunkFileHeader, data)
    assert header is not None
    count, start = 0, 0
    while (chunk := parse_length_prefixed(Chunk, data)) is not None:
        assert words[chunk.start : chunk.end] == chunk.text
        assert chunk.start <= start
        count, start = count + 1, chunk.end
    assert (count, start) == (header.chunk_count, len(words))


async def test_a_file_that_cannot_be_read_fails_with_its_reason_and_keeps_its_original(
    bench: Bench,
) -> None:
    document = await bench.stored()
    failed = await bench.parse(Script(Refused(pb.ERROR_REASON_FILE_ENCRYPTED, "Locked.")), document)
    assert (failed.state, failed.reason) == (State.ERROR, pb.ERROR_REASON_FILE_ENCRYPTED)
    assert failed.original is Original.KEPT


async def test_a_file_that_crashes_its_parser_gets_one_more_chance(bench: Bench) -> None:
    lucky, poisoned = await bench.stored(filename="a.md"), await bench.stored(filename="b.md")
    assert (await bench.parse(Script(CRASHED), lucky)).stage is Stage.QUEUED
    assert (await bench.parse(Script(CUT), lucky)).stage is Stage.EMBEDDING
    assert (await bench.parse(Script(CRASHED), poisoned)).stage is Stage.QUEUED
    failed = await bench.parse(Script(CRASHED), poisoned)
    assert failed.reason == pb.ERROR_REASON_PARSER_CRASHED


async def test_a_retry_gives_a_crashing_file_its_chances_anew(bench: Bench, steps: Steps) -> None:
    document = await bench.stored()
    for _ in range(2):
        await bench.parse(Script(CRASHED), document)
    retried = await steps.retry(document)
    assert (await bench.parse(Script(CRASHED), retried)).stage is Stage.QUEUED


async def test_faults_that_pass_are_tried_again_and_do_not_count_as_crashes(bench: Bench) -> None:
    document = await bench.stored()
    for act in (PoolBroken(), OSError("no room"), CRASHED, PoolBroken()):
        assert (await bench.parse(Script(act), document)).stage is Stage.QUEUED
    assert (await bench.parse(Script(CUT), document)).stage is Stage.EMBEDDING


async def test_a_fault_that_does_not_pass_ends_with_a_reason(bench: Bench) -> None:
    document = await bench.stored()
    for _ in range(MOST_TRIES - 1):
        assert (await bench.parse(Script(PoolBroken()), document)).state is State.PROCESSING
    failed = await bench.parse(Script(PoolBroken()), document)
    assert (failed.state, failed.reason) == (State.ERROR, pb.ERROR_REASON_UNAVAILABLE)


async def test_an_original_that_is_gone_is_said_to_be(bench: Bench, steps: Steps) -> None:
    document = await steps.create(BASE, original_key="upload/files/nowhere")
    failed = await bench.parse(Script(CUT), document)
    assert failed.reason == pb.ERROR_REASON_ORIGINAL_GONE
    assert failed.original is Original.GONE


async def test_storage_that_is_away_is_waited_for_and_ends_no_document(bench: Bench, tmp_path: Path) -> None:
    document = await bench.stored()
    (tmp_path / "blobs").rename(tmp_path / "away")
    for _ in range(MOST_TRIES + 1):
        assert (await bench.parse(Script(CUT), document)).stage is Stage.QUEUED
    (tmp_path / "away").rename(tmp_path / "blobs")
    assert (await bench.parse(Script(CUT), document)).stage is Stage.EMBEDDING


async def test_storage_that_goes_away_while_a_file_is_read_is_waited_for(
    bench: Bench, tmp_path: Path
) -> None:
    document, here, away = await bench.stored(), tmp_path / "blobs", tmp_path / "away"

    class Unmounted(Script):
        async def parse(self, job: Job, /) -> Outcome:
            here.rename(away)
            return await super().parse(job)

    for _ in range(MOST_TRIES + 1):
        assert (await bench.parse(Unmounted(CUT), document)).stage is Stage.QUEUED
        shutil.rmtree(here, ignore_errors=True)
        away.rename(here)
    assert (await bench.parse(Script(CUT), document)).stage is Stage.EMBEDDING


async def test_a_full_disk_is_waited_for_and_ends_no_document(
    bench: Bench, steps: Steps, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    document = await bench.stored()
    with monkeypatch.context() as patched:
        patched.setattr(staged_file, "_staged_name", full_device)
        for _ in range(MOST_TRIES + 1):
            assert (await bench.parse(Script(CUT), document)).stage is Stage.QUEUED
    assert [record for record in caplog.records if record.exc_info] == []
    assert "No space left" in caplog.text
    assert (await bench.parse(Script(CUT), document)).stage is Stage.EMBEDDING


@pytest.mark.parametrize("by", ["deletion", "takeover"])
async def test_a_worker_whose_document_is_taken_away_stops_reading(
    bench: Bench, steps: Steps, by: str
) -> None:
    document = await bench.stored()
    await steps.admit()
    script = Script()
    worker = bench.worker(script, heartbeat=0.05)
    reading = asyncio.create_task(worker.parse(document.id, 1))
    await script.started.wait()
    if by == "deletion":
        await steps.delete(document)
    else:
        await steps.pool.execute("UPDATE jobs SET lease_until = now() - interval '1 second'")
        assert (await bench.parse(Script(CUT), document)).stage is Stage.EMBEDDING
    await reading
    assert script.cancelled
    assert set((await steps.blob_states()).values()) <= {"live"}


@pytest.mark.parametrize("of", ["document", "base"])
async def test_what_is_read_of_a_document_that_goes_is_given_up_before_the_next_heartbeat(
    bench: Bench, steps: Steps, databases: Databases, of: str
) -> None:
    document, other = await bench.stored(), await bench.stored()
    await steps.admit()
    script, still = Script(), Script()
    listener = Listener(databases["ingest"], "ingest")
    worker, beside = bench.worker(script, heartbeat=50), bench.worker(still, heartbeat=50)
    running = [asyncio.create_task(body) for body in (listener.run(), worker.watch(listener))]
    reading = asyncio.create_task(worker.parse(document.id, 1))
    kept = asyncio.create_task(beside.parse(other.id, 1))
    await script.started.wait()
    await still.started.wait()
    if of == "document":
        await steps.delete(document)
    else:
        await removal.bury_base(steps.pool, BASE, uuid7())
    await asyncio.wait_for(reading, 20)
    assert script.cancelled
    assert not kept.done()
    for task in (*running, kept):
        task.cancel()
    await asyncio.gather(*running, kept, return_exceptions=True)


async def test_a_file_that_takes_long_is_read_in_a_second_try(bench: Bench) -> None:
    document = await bench.stored()
    timeout = Refused(pb.ERROR_REASON_PARSE_TIMEOUT, "It takes too long.")
    script = Script(timeout, CUT)
    worker = bench.worker(script)
    assert not await worker.is_long(document.id, 1)
    assert (await bench.parse(script, document)).stage is Stage.QUEUED
    assert await worker.is_long(document.id, 1)
    assert (await bench.parse(script, document)).stage is Stage.EMBEDDING
    assert script.seconds == [QUICK, None]

    another = await bench.stored()
    script = Script(timeout, timeout)
    await bench.parse(script, another)
    failed = await bench.parse(script, another)
    assert (failed.state, failed.reason) == (State.ERROR, pb.ERROR_REASON_PARSE_TIMEOUT)


async def test_a_worker_that_is_stopped_hands_its_document_back(bench: Bench, steps: Steps) -> None:
    document = await bench.stored()
    await steps.admit()
    script = Script()
    reading = asyncio.create_task(bench.worker(script).parse(document.id, 1))
    await script.started.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    (handed_back,) = await steps.pool.fetch("SELECT state, tries, crashes FROM jobs")
    assert tuple(handed_back) == ("waiting", 0, 0)
    assert (await bench.parse(Script(CUT), document)).stage is Stage.EMBEDDING


async def test_messages_that_repeat_or_come_late_do_nothing(bench: Bench, steps: Steps) -> None:
    document = await bench.stored()
    await bench.worker(Script(CUT)).parse(document.id, 1)
    assert (await steps.get(document)) == document
    await bench.parse(Script(CUT), document)
    for attempt in (1, 2):
        await bench.worker(Script(CUT)).parse(document.id, attempt)
    await bench.worker(Script(CUT)).parse(uuid7(), 1)
    assert await steps.pool.fetchval("SELECT epoch FROM jobs WHERE stage = 'parse'") == 1
