"""Puts the service together."""

import contextlib
from collections.abc import AsyncIterator

from acervo.vectorstore.v1.collections_pb2_grpc import add_CollectionServiceServicer_to_server
from acervo.vectorstore.v1.search_pb2_grpc import add_SearchServiceServicer_to_server
from services.shared import telemetry
from services.shared.admission import Policy
from services.shared.bus import Lane
from services.shared.runtime import Runtime
from services.shared.turns import Turns, pulled
from services.vectorstore import consumers, wire
from services.vectorstore.embedding import Embedders, EmbeddingCache
from services.vectorstore.indexing import STAGE, Indexing
from services.vectorstore.rpc import CALLERS, CollectionService, SearchService
from services.vectorstore.search import Searcher
from services.vectorstore.settings import VectorstoreSettings

SERVICE = "vectorstore"


async def main() -> None:
    """Run the service with the settings of the environment."""
    settings = VectorstoreSettings.model_validate({})
    telemetry.configure(SERVICE, settings.log_level)
    async with Runtime.open(settings, SERVICE, wire.prepare) as runtime, _embedders() as embedders:
        if settings.role.works:
            work(runtime, settings, embedders)
        await serve(runtime, settings, embedders)
        await runtime.run()


async def serve(runtime: Runtime, settings: VectorstoreSettings, embedders: Embedders) -> str:
    """Answer calls, or for health alone where this process is a worker; return the address."""
    if not settings.role.serves:
        return await runtime.serve([], {})
    search = SearchService(runtime.peers, Searcher(runtime.pool, embedders))
    collections = CollectionService(runtime.peers, runtime.pool)
    return await runtime.serve(
        [
            (add_SearchServiceServicer_to_server, search),
            (add_CollectionServiceServicer_to_server, collections),
        ],
        CALLERS,
    )


def work(runtime: Runtime, settings: VectorstoreSettings, embedders: Embedders) -> None:
    """Index documents and hear facts."""
    cache = EmbeddingCache(runtime.pool, embedders)
    indexing = Indexing(
        runtime.pool,
        runtime.blobs,
        runtime.peers,
        cache,
        worker=runtime.worker,
        lease_seconds=settings.lease_seconds,
        heartbeat_seconds=settings.heartbeat_seconds,
    )
    runtime.background(Policy(STAGE))
    runtime.singleton("cache", lambda: cache.expire_forever(settings.cache_days))
    turns = Turns(settings.embed_slots)
    runtime.at_stop(turns.close)
    for lane in Lane:
        runtime.consume(
            f"embed-{lane.value}",
            consumers.work(indexing, turns, lane),
            slots=pulled(lane, settings.embed_slots),
        )
    runtime.facts(consumers.facts(runtime.pool))


@contextlib.asynccontextmanager
async def _embedders() -> AsyncIterator[Embedders]:
    embedders = Embedders()
    try:
        yield embedders
    finally:
        await embedders.close()
