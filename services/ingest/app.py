"""Puts the service together."""

import contextlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from acervo.ingest.v1.documents_pb2_grpc import add_DocumentServiceServicer_to_server
from services.ingest import admission, consumers, rows
from services.ingest.parsing import Parsing, Timing
from services.ingest.pool.parser_pool import ParserPool, PoolLimits
from services.ingest.reach import Reach
from services.ingest.rpc import CALLERS, DocumentService
from services.ingest.settings import IngestSettings
from services.ingest.watch import Hub
from services.shared import telemetry
from services.shared.bus import Lane
from services.shared.runtime import HOUR, Runtime
from services.shared.turns import Turns, pulled

SERVICE = "ingest"
_MIB = 1024 * 1024


async def main() -> None:
    """Run the service with the settings of the environment."""
    settings = IngestSettings.model_validate({})
    telemetry.configure(SERVICE, settings.log_level)
    async with contextlib.AsyncExitStack() as stack:
        runtime = await stack.enter_async_context(Runtime.open(settings, SERVICE))
        await runtime.claim_blobs()
        if settings.role.works:
            await stack.enter_async_context(work(runtime, settings))
        await serve(runtime, settings)
        await runtime.run()


async def serve(runtime: Runtime, settings: IngestSettings) -> str:
    """Answer calls, or for health alone where this process is a worker; return the address."""
    if not settings.role.serves:
        return await runtime.serve([], {})
    hub = Hub(runtime.pool, runtime.listener)
    runtime.loop("hub", hub.run)
    runtime.at_stop(hub.close)
    service = DocumentService(runtime.pool, Reach(runtime.peers), hub)
    return await runtime.serve([(add_DocumentServiceServicer_to_server, service)], CALLERS)


@contextlib.asynccontextmanager
async def work(runtime: Runtime, settings: IngestSettings) -> AsyncIterator[None]:
    """Read documents and hear facts, with parsers that live as long as the block."""
    limits = PoolLimits(seconds=settings.parse_seconds, memory=settings.parse_memory_mib * _MIB)
    timing = Timing(
        settings.lease_seconds,
        settings.heartbeat_seconds,
        settings.emit_deadline_seconds,
        settings.pending_blob_seconds,
        settings.quick_parse_seconds,
    )
    async with ParserPool(slots=settings.parser_slots, limits=limits) as parsers:
        parsing = Parsing(
            runtime.pool,
            runtime.blobs,
            parsers,
            worker=runtime.worker,
            timing=timing,
            scratch=settings.scratch or Path(tempfile.gettempdir()),
        )
        runtime.background(
            admission.policy(
                bulk_in_flight=settings.bulk_in_flight,
                interactive_in_flight=settings.interactive_in_flight,
            )
        )
        runtime.every("sweep", HOUR, lambda: rows.forget_removed(runtime.pool))
        runtime.loop("watch", lambda: parsing.watch(runtime.listener))
        turns = Turns(settings.parser_slots)
        runtime.at_stop(turns.close)
        for lane in Lane:
            runtime.consume(
                f"parse-{lane.value}",
                consumers.work(parsing, turns, lane),
                slots=pulled(lane, settings.parser_slots),
            )
        runtime.facts(consumers.facts(runtime.pool))
        yield
