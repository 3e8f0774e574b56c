"""upload as a process of its own, with real NATS and PostgreSQL, killed and started again."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from grpc.aio import AioRpcError
from grpc_health.v1 import health_pb2, health_pb2_grpc

from acervo.events.v1.facts_pb2 import DocumentFinished
from acervo.ingest.v1.documents_pb2_grpc import add_DocumentServiceServicer_to_server
from acervo.upload.v1.upload_pb2 import UploadDocumentRequest
from acervoctl.stack.ports import free_port
from acervoctl.stack.services import FAST_DEADLINES
from services.shared import bus
from services.shared.blobs import BlobStore, Collector
from services.shared.broker import Broker, Outgoing
from services.shared.client import Stubs, call_options, open_channel
from services.shared.db import open_pool
from services.shared.ids import uuid7
from services.shared.server import build_server
from tests.conftest import Databases, NatsServer
from tests.integration.upload.stack import INGEST_CALLERS, Ingest, messages, settings
from tests.signing import Trust

Eventually = Callable[..., Awaitable[None]]
PARTS = [b"# Handbook\n" * 20_000, b"the end\n"]


class Upload:
    """The process, and what it talks to."""

    def __init__(self, environment: dict[str, str], address: str, trust: Trust) -> None:
        self._environment = environment
        self._address = address
        self._trust = trust
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, eventually: Eventually) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "services.upload"),
            env={**os.environ, **self._environment, "ACERVO_LISTEN": self._address},
            stderr=asyncio.subprocess.DEVNULL,
        )

        async def serves() -> bool:
            async with open_channel(self._address) as channel:
                stub: health_pb2_grpc.HealthStub = health_pb2_grpc.HealthStub(channel)
                try:
                    answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=1)
                except AioRpcError:
                    return False
                return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

        await eventually(serves)

    async def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def end(self) -> int:
        assert self._process is not None
        self._process.terminate()
        return await asyncio.wait_for(self._process.wait(), 30)

    async def send(self, stream: AsyncIterator[UploadDocumentRequest]) -> None:
        """Upload, whatever becomes of it."""
        stubs = Stubs(settings(self._trust, upload_address=self._address))
        try:
            await stubs.upload().UploadDocument(stream, **call_options(self._trust.person()))
        except AioRpcError as error:
            assert error.code() is grpc.StatusCode.UNAVAILABLE  # noqa: PT017 - a kill is expected, not required
        finally:
            await stubs.close()


async def _stream(sent: asyncio.Event, go_on: asyncio.Event) -> AsyncIterator[UploadDocumentRequest]:
    for message in messages(PARTS):
        yield message
    sent.set()
    await go_on.wait()


@asynccontextmanager
async def _ingest(trust: Trust) -> AsyncIterator[tuple[Ingest, str]]:
    ingest = Ingest()  # type: ignore[abstract]  # upload calls no other methods
    servicers = [(add_DocumentServiceServicer_to_server, ingest)]
    server = await build_server(settings(trust), trust.verifier("ingest"), servicers, INGEST_CALLERS)
    await server.start()
    yield ingest, server.address
    ingest.answering.set()
    await server.stop(0)


@pytest.mark.timeout(180)
async def test_a_kill_at_any_point_of_an_upload_loses_and_leaves_nothing(
    tmp_path: Path, databases: Databases, nats_server: NatsServer, blob_url: str, eventually: Eventually
) -> None:
    trust = Trust(tmp_path)
    trust.service_tokens("upload", "ingest")
    async with _ingest(trust) as (ingest, ingest_address):
        environment = {
            **FAST_DEADLINES,
            "ACERVO_DATABASE_URL": databases["upload"],
            "ACERVO_NATS_URL": nats_server.url("upload"),
            "ACERVO_BLOB_URL": blob_url,
            "ACERVO_ISSUERS": str(trust.issuers),
            "ACERVO_SERVICE_TOKENS": str(tmp_path / "tokens" / "upload"),
            "ACERVO_INGEST_ADDRESS": ingest_address,
        }
        upload = Upload(environment, f"127.0.0.1:{free_port(set())}", trust)
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
            await Collector(pool, store, 30).collect()  # the process's own passes every 30 s
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
