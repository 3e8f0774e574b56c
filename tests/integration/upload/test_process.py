"""upload as a process of its own, with real NATS and PostgreSQL, killed and started again."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from acervo.events.v1.facts_pb2 import DocumentFinished
from acervo.upload.v1.upload_pb2 import UploadDocumentRequest
from services.shared import bus
from services.shared.blobs import BlobStore, Collector
from services.shared.broker import Broker, Outgoing
from services.shared.db import open_pool
from services.shared.ids import uuid7
from tests.conftest import Databases, NatsServer
from tests.integration.upload.process import Eventually, surroundings
from tests.integration.upload.stack import messages

PARTS = [b"# Handbook\n" * 20_000, b"the end\n"]


async def _stream(sent: asyncio.Event, go_on: asyncio.Event) -> AsyncIterator[UploadDocumentRequest]:
    for message in messages(PARTS):
        yield message
    sent.set()
    await go_on.wait()


@pytest.mark.timeout(180)
async def test_a_kill_at_any_point_of_an_upload_loses_and_leaves_nothing(
    tmp_path: Path, databases: Databases, nats_server: NatsServer, blob_url: str, eventually: Eventually
) -> None:
    async with surroundings(tmp_path, databases, nats_server, blob_url) as (upload, ingest):
        pool = await open_pool(databases["upload"], size=2, application="test")
        store = BlobStore.open(blob_url)

        async def count(query: str) -> int:
            found: int = await pool.fetchval(query)
            return found

        async def received() -> bool:
            return bool(ingest.created)

        async def tracked() -> bool:
            return await count("SELECT count(*) FROM files WHERE state = 'tracked'") == 1

        async def clean() -> bool:
            # A removal that a kill cut off is tried again after a minute.
            await pool.execute("UPDATE blobs SET expires_at = now() WHERE state = 'deleting'")
            await Collector(pool, store, 30).collect()
            return await count("SELECT count(*) FROM files") == await count("SELECT count(*) FROM blobs") == 0

        # While the bytes come: nothing is tracked, and what was written is collected.
        await upload.start(eventually)
        sent, go_on = asyncio.Event(), asyncio.Event()
        sending = asyncio.create_task(upload.send(_stream(sent, go_on)))
        await asyncio.wait_for(sent.wait(), 20)
        await upload.kill()
        await sending
        await pool.execute("UPDATE blobs SET expires_at = now()")

        # While ingest is asked: the next process asks again.
        await upload.start(eventually)
        go_on.set()
        ingest.answering.clear()
        sending = asyncio.create_task(upload.send(_stream(sent, go_on)))
        await eventually(received)
        await upload.kill()
        await sending
        ingest.answering.set()
        await upload.start(eventually)
        await eventually(tracked)
        (file_id,) = {created.file_id for _, created in ingest.created}
        assert len(ingest.documents) == 1

        # What ingest tells on the bus is obeyed.
        await pool.execute("UPDATE files SET discard_original = true")
        broker = await Broker.connect(nats_server.url("ingest"), "ingest")
        fact = DocumentFinished(document_id=ingest.documents[file_id].id, file_id=file_id, done=True)
        await broker.publish([Outgoing(uuid7(), bus.DOCUMENT_FINISHED, fact.SerializeToString())])
        await eventually(clean)
        assert [key async for key in store.list_keys()] == []
        assert await upload.end() == 0
        await broker.close()
        await pool.close()
