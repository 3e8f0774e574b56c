"""upload as a process of its own, and an ingest that tests can tell what to do."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
from grpc.aio import AioRpcError
from grpc_health.v1 import health_pb2, health_pb2_grpc

from acervo.ingest.v1.documents_pb2_grpc import add_DocumentServiceServicer_to_server
from acervo.upload.v1.upload_pb2 import UploadDocumentResponse
from acervoctl.stack.ports import free_port
from acervoctl.stack.services import FAST_DEADLINES
from services.shared.client import Stubs, call_options, open_channel
from services.shared.server import build_server
from tests.conftest import Databases, NatsServer
from tests.integration.upload.stack import INGEST_CALLERS, Ingest, settings
from tests.signing import Trust

Eventually = Callable[..., Awaitable[None]]


class UploadProcess:
    """The process, and how it is called."""

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

    async def send(self, stream: Any) -> UploadDocumentResponse | None:
        """Upload; None where the process is not there, or ended meanwhile."""
        stubs = Stubs(settings(self._trust, upload_address=self._address))
        try:
            return await stubs.upload().UploadDocument(stream, **call_options(self._trust.person()))
        except AioRpcError as error:
            assert error.code() is grpc.StatusCode.UNAVAILABLE  # noqa: PT017 - a kill is expected, not required
            return None
        finally:
            await stubs.close()


@asynccontextmanager
async def surroundings(
    directory: Path, databases: Databases, nats_server: NatsServer, blob_url: str
) -> AsyncIterator[tuple[UploadProcess, Ingest]]:
    """A process that is yet to be started, and the ingest that it asks."""
    trust = Trust(directory)
    trust.service_tokens("upload", "ingest")
    ingest = Ingest()  # type: ignore[abstract]  # upload calls no other methods
    servicers = [(add_DocumentServiceServicer_to_server, ingest)]
    server = await build_server(settings(trust), trust.verifier("ingest"), servicers, INGEST_CALLERS)
    await server.start()
    environment = {
        **FAST_DEADLINES,
        "ACERVO_UPLOAD_SLOTS_PER_CALLER": "64",
        "ACERVO_DATABASE_URL": databases["upload"],
        "ACERVO_NATS_URL": nats_server.url("upload"),
        "ACERVO_BLOB_URL": blob_url,
        "ACERVO_ISSUERS": str(trust.issuers),
        "ACERVO_SERVICE_TOKENS": str(directory / "tokens" / "upload"),
        "ACERVO_INGEST_ADDRESS": server.address,
    }
    yield UploadProcess(environment, f"127.0.0.1:{free_port(set())}", trust), ingest
    ingest.answering.set()
    await server.stop(0)
