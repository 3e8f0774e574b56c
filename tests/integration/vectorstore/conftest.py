"""Vectorstore's own database, empty, for each test, and the parts that work on it."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from acervo.access.v1.access_pb2_grpc import add_AccessServiceServicer_to_server
from services.shared.blobs import BlobStore
from services.shared.client import Peers
from services.shared.db import Pool, open_pool
from services.shared.server import build_server
from services.vectorstore import wire
from services.vectorstore.embedding import Embedders, EmbeddingCache
from services.vectorstore.indexing import Indexing
from services.vectorstore.search import Searcher
from services.vectorstore.settings import VectorstoreSettings
from tests.conftest import Databases
from tests.integration.ingest import access_double
from tests.integration.ingest.access_double import AccessDouble
from tests.integration.vectorstore.stage import Stage
from tests.signing import Trust


@pytest.fixture
async def pool(databases: Databases) -> AsyncIterator[Pool]:
    async with await open_pool(
        databases["vectorstore"], size=6, application="test", prepare=wire.prepare
    ) as pool:
        yield pool


@pytest.fixture
async def embedders() -> AsyncIterator[Embedders]:
    embedders = Embedders()
    yield embedders
    await embedders.close()


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(tmp_path)


def settings(trust: Trust, access_address: str) -> VectorstoreSettings:
    """What vectorstore needs to be told in a test."""
    return VectorstoreSettings.model_validate(
        {
            "database_url": "",
            "nats_url": "",
            "blob_url": "",
            "issuers": str(trust.issuers),
            "service_tokens": str(trust.directory / "tokens" / "vectorstore"),
            "access_address": access_address,
        }
    )


@pytest.fixture
async def access(trust: Trust) -> AsyncIterator[tuple[AccessDouble, str]]:
    """Access over real gRPC, and its address."""
    double = AccessDouble()
    server = await build_server(
        settings(trust, ""),
        trust.verifier("access"),
        [(add_AccessServiceServicer_to_server, double)],
        access_double.CALLERS,
    )
    await server.start()
    yield double, server.address
    await server.stop(0)


@pytest.fixture
async def peers(trust: Trust, access: tuple[AccessDouble, str]) -> AsyncIterator[Peers]:
    async with contextlib.AsyncExitStack() as stack:
        peers = Peers(settings(trust, access[1]), trust.service_tokens("vectorstore", "access"))
        stack.push_async_callback(peers.close)
        yield peers


@pytest.fixture
def stage(
    pool: Pool, blob_url: str, peers: Peers, embedders: Embedders, access: tuple[AccessDouble, str]
) -> Stage:
    store = BlobStore.open(blob_url)
    indexing = Indexing(
        pool,
        store,
        peers,
        EmbeddingCache(pool, embedders),
        worker="w1",
        lease_seconds=60,
        heartbeat_seconds=20,
    )
    return Stage(pool, store, indexing, Searcher(pool, embedders), access[0])
