"""Ingest's own database, empty, for each test, and its server with an access that does as it is told."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from acervo.access.v1.access_pb2_grpc import add_AccessServiceServicer_to_server
from acervo.ingest.v1.documents_pb2_grpc import DocumentServiceStub, add_DocumentServiceServicer_to_server
from services.ingest.reach import Reach
from services.ingest.rpc import CALLERS, DocumentService
from services.ingest.settings import IngestSettings
from services.ingest.watch import Hub
from services.shared.client import Peers, open_channel
from services.shared.db import Listener, Pool, open_pool
from services.shared.server import build_server
from tests.conftest import Databases
from tests.integration.ingest import access_double
from tests.integration.ingest.access_double import AccessDouble
from tests.integration.ingest.calls import Calls
from tests.integration.ingest.steps import Steps
from tests.signing import Trust

AUTHORISE_SECONDS = 0.3


@pytest.fixture
async def pool(databases: Databases) -> AsyncIterator[Pool]:
    async with await open_pool(databases["ingest"], size=6, application="test") as pool:
        yield pool


@pytest.fixture
def steps(pool: Pool) -> Steps:
    return Steps(pool)


def settings(trust: Trust, **fields: Any) -> IngestSettings:
    """What ingest needs to be told in a test."""
    required = {
        "database_url": "",
        "nats_url": "",
        "blob_url": "",
        "issuers": str(trust.issuers),
        "service_tokens": str(trust.directory / "tokens" / "ingest"),
    }
    return IngestSettings.model_validate({**required, **fields})


@pytest.fixture
async def calls(pool: Pool, databases: Databases, tmp_path: Path) -> AsyncIterator[Calls]:
    """Ingest's server, which authorises its watchers again every 0.3 seconds."""
    trust = Trust(tmp_path)
    tokens = trust.service_tokens("ingest", "access")
    double = AccessDouble()
    async with contextlib.AsyncExitStack() as stack:
        access = await build_server(
            settings(trust),
            trust.verifier("access"),
            [(add_AccessServiceServicer_to_server, double)],
            access_double.CALLERS,
        )
        await access.start()
        stack.push_async_callback(access.stop, 0)
        own = settings(trust, access_address=access.address)
        peers = Peers(own, tokens)
        stack.push_async_callback(peers.close)
        listener = Listener(databases["ingest"], "ingest")
        hub = Hub(pool, listener)
        for body in (listener.run, hub.run):
            stack.callback(asyncio.create_task(body()).cancel)
        service = DocumentService(pool, Reach(peers), hub, AUTHORISE_SECONDS)
        server = await build_server(
            own, trust.verifier("ingest"), [(add_DocumentServiceServicer_to_server, service)], CALLERS
        )
        await server.start()
        stack.push_async_callback(server.stop, 0)
        channel = open_channel(server.address)
        stack.push_async_callback(channel.close)
        yield Calls(DocumentServiceStub(channel), trust, double)
