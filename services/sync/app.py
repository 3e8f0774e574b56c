"""The composition root of sync."""

from acervo.sync.v1.sources_pb2_grpc import add_SourceServiceServicer_to_server
from services.shared import bus, telemetry
from services.shared.admission import Policy
from services.shared.runtime import Runtime
from services.sync import runs
from services.sync.consumers import FactListener, RunWorker
from services.sync.passes import Limits, Means
from services.sync.peers import Documents, Uploads
from services.sync.reach import Reach
from services.sync.rpc import CALLERS, SourceService
from services.sync.settings import SyncSettings

SERVICE = "sync"


def work(runtime: Runtime, settings: SyncSettings, reach: Reach) -> None:
    """Start what carries out runs and hears facts."""
    limits = Limits(settings.sync_transfers, settings.sync_unfinished)
    means = Means(runtime.pool, Uploads(runtime.peers), Documents(runtime.peers), limits)
    worker = RunWorker(runtime, settings, means, reach)
    listener = FactListener(runtime.pool)
    runtime.background(Policy(runs.STAGE))
    for lane in bus.Lane:
        runtime.consume(f"sync-{lane}", worker.handle, slots=settings.sync_slots)
    runtime.facts(
        {
            bus.DOCUMENT_FINISHED: listener.document_finished,
            bus.DOCUMENT_DELETED: listener.document_deleted,
            bus.BASE_DELETED: listener.base_deleted,
            bus.BASE_EMPTIED: listener.base_emptied,
        }
    )


async def main() -> None:
    """Run sync until the process is asked to end."""
    settings = SyncSettings.model_validate({})
    telemetry.configure(SERVICE, settings.log_level)
    async with Runtime.open(settings, SERVICE) as runtime:
        reach = Reach(runtime.peers)
        if settings.role.serves:
            servicer = SourceService(runtime.pool, reach, settings)
            await runtime.serve([(add_SourceServiceServicer_to_server, servicer)], CALLERS)
        else:
            await runtime.serve([], {})
        if settings.role.works:
            work(runtime, settings, reach)
        await runtime.run()
