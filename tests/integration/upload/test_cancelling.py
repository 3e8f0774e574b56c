"""Uploads whose callers go, at every moment: what was kept is whole, and what was not leaves nothing."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Coroutine, Generator
from itertools import count
from pathlib import Path
from types import coroutine
from typing import Any
from uuid import UUID, uuid4

import pytest

from acervo.upload.v1.upload_pb2 import UploadDocumentRequest
from services.shared.blobs import BlobStore, Collector
from services.shared.bus import Lane
from services.shared.db import Pool, open_pool
from services.shared.idempotency import Call
from services.shared.ids import uuid7
from services.shared.ingestion_config import DEFAULT
from services.upload.files import File, Source, blob_key
from services.upload.intake import Content, Declared, Intake
from services.upload.reception import Reception, Repeated
from tests.conftest import Databases, NatsServer
from tests.integration.upload.process import Eventually, UploadProcess, surroundings
from tests.integration.upload.stack import BASE, MAX_SIZE, messages

SEED = 20261201
UPLOADS = 150
AT_ONCE = 6


class Kept:
    """What the rows say is kept, and what lies in storage."""

    def __init__(self, pool: Pool, blob_url: str) -> None:
        self._pool = pool
        self._store = BlobStore.open(blob_url)
        self._root = Path(blob_url.removeprefix("file://"))

    async def files(self) -> set[UUID]:
        return {row["id"] for row in await self._pool.fetch("SELECT id FROM files")}

    async def check(self, wanted: dict[UUID, bytes]) -> None:
        """Every file has its bytes, live; nothing else is there once what was given up has been collected."""
        await self._pool.execute("UPDATE blobs SET expires_at = now() WHERE state <> 'live'")
        await Collector(self._pool, self._store, 30).collect()
        keys = {blob_key(file_id) for file_id in await self.files()}
        blobs = {row["key"]: row["state"] for row in await self._pool.fetch("SELECT key, state FROM blobs")}
        assert blobs == dict.fromkeys(keys, "live")
        assert {key async for key in self._store.list_keys()} == keys
        assert list(self._root.rglob("*#*")) == []
        for file_id in await self.files():
            assert await self._store.get(blob_key(file_id)) == wanted[file_id]


@coroutine
def cancelled_at(moment: int, work: Coroutine[Any, Any, None]) -> Generator[Any, Any, bool]:
    """Do `work` in a task that is cancelled at its so many-th wait; say whether it got as far as that."""
    task = asyncio.current_task()
    assert task is not None
    steps = work.__await__()
    step = steps.__next__
    for waits in count():
        try:
            awaited = step()
        except StopIteration:
            return waits > moment
        if waits == moment:
            asyncio.get_running_loop().call_soon(task.cancel)
        try:
            yield awaited
        except asyncio.CancelledError as error:
            step = _throw(steps, error)
        else:
            step = steps.__next__
    raise AssertionError


def _throw(steps: Generator[Any, Any, None], error: BaseException) -> Any:
    return lambda: steps.throw(error)


@pytest.mark.timeout(120)
async def test_a_cancellation_at_any_wait_leaves_a_whole_file_or_none_and_the_request_can_be_made_again(
    databases: Databases, blob_url: str
) -> None:
    pool = await open_pool(databases["upload"], size=4, application="test")
    reception = Reception(pool, BlobStore.open(blob_url), answer_seconds=60, pending_seconds=600)
    kept = Kept(pool, blob_url)
    wanted: dict[UUID, bytes] = {}

    async def receive(call: Call, data: bytes) -> UUID:
        file_id = uuid7()
        wanted[file_id] = data

        async def parts() -> AsyncIterator[bytes]:
            yield data

        try:
            await reception.receive(
                file_id, parts(), _intake(), lambda content: _file(file_id, content), call
            )
        except Repeated as repeated:
            return repeated.made.file_id
        return file_id

    async def ignored(call: Call, data: bytes) -> None:
        await receive(call, data)

    kept_early = 0
    for moment in count():
        data = f"file {moment}\n".encode() * 100
        call = Call("ana", uuid4(), b"digest")
        before = await kept.files()
        task = asyncio.ensure_future(cancelled_at(moment, ignored(call, data)))
        await asyncio.wait([task])
        await kept.check(wanted)
        made = await kept.files() - before
        assert len(made) <= 1
        kept_early += bool(made) and task.cancelled()
        again = await receive(call, data)
        assert made <= {again}
        assert await kept.files() == before | {again}
        await kept.check(wanted)
        if not task.cancelled() and not task.result():
            break
    assert moment > 5
    assert kept_early, "no cancellation came while a commit was under way"
    await pool.close()


def _intake() -> Intake:
    return Intake(Declared("notes.md", "", 0, b"", MAX_SIZE))


def _file(file_id: UUID, content: Content) -> File:
    return File(
        id=file_id,
        knowledge_base_id=BASE,
        collection_name="handbook",
        organization_id=None,
        actor_user_id=None,
        filename="notes.md",
        kind=content.kind,
        size=content.size,
        sha256=content.sha256,
        ingestion_config=DEFAULT,
        replaces=False,
        lane=Lane.INTERACTIVE,
        source=Source.UPLOAD,
        source_path="",
        discard_original=False,
    )


@pytest.mark.timeout(180)
async def test_callers_who_go_between_their_last_byte_and_the_answer_lose_nothing_and_leave_nothing(
    tmp_path: Path, databases: Databases, nats_server: NatsServer, blob_url: str, eventually: Eventually
) -> None:
    async with surroundings(tmp_path, databases, nats_server, blob_url) as (upload, ingest):
        await upload.start(eventually)
        pool = await open_pool(databases["upload"], size=2, application="test")
        kept = Kept(pool, blob_url)
        chance = random.Random(SEED)
        request_ids = [str(UUID(int=chance.getrandbits(128), version=4)) for _ in range(UPLOADS)]
        moments = [chance.uniform(0, 0.05) for _ in range(UPLOADS)]
        free = asyncio.Semaphore(AT_ONCE)

        async def go_at(number: int) -> None:
            async with free:
                await _cancelled(upload, request_ids[number], _content(number), moments[number])

        await asyncio.gather(*map(go_at, range(UPLOADS)))

        async def still() -> bool:
            return not await pool.fetchval(
                "SELECT EXISTS (SELECT FROM files WHERE state = 'received') OR EXISTS "
                "(SELECT FROM pg_stat_activity WHERE application_name = 'upload' AND state <> 'idle')"
            )

        await eventually(still)
        early = {
            row["request_id"]: row["file_id"] for row in await pool.fetch("SELECT * FROM upload_requests")
        }
        assert early.keys() < set(map(UUID, request_ids)), "no caller went before the commit, or none after"
        made: dict[UUID, bytes] = {}
        for number, request_id in enumerate(request_ids):
            answer = await upload.send(messages([_content(number)], request_id=request_id))
            assert answer is not None
            (file_id,) = (
                key for key, document in ingest.documents.items() if document.id == answer.document.id
            )
            assert UUID(file_id) == early.get(UUID(request_id), UUID(file_id))
            made[UUID(file_id)] = _content(number)
        assert len(made) == len(ingest.documents) == UPLOADS
        assert await kept.files() == made.keys()
        await kept.check(made)
        assert await upload.end() == 0
        await pool.close()


def _content(number: int) -> bytes:
    return f"# Rule {number}\n".encode() * 200


async def _cancelled(upload: UploadProcess, request_id: str, data: bytes, after_seconds: float) -> None:
    sent = asyncio.Event()

    async def stream() -> AsyncIterator[UploadDocumentRequest]:
        for message in messages([data], request_id=request_id):
            yield message
        sent.set()

    task = asyncio.create_task(upload.send(stream()))
    await asyncio.wait_for(sent.wait(), 20)
    await asyncio.wait([task], timeout=after_seconds)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
