"""The composition root of upload."""

from acervo.upload.v1.upload_pb2_grpc import add_UploadServiceServicer_to_server
from services.shared import telemetry
from services.shared.runtime import HOUR, Runtime
from services.upload import requests
from services.upload.consumers import Consumers
from services.upload.reception import Reception
from services.upload.rpc import CALLERS, UploadService
from services.upload.settings import UploadSettings
from services.upload.tracking import Tracking

SERVICE = "upload"


async def start(runtime: Runtime, settings: UploadSettings) -> None:
    """Serve and work as the role says."""
    tracking = Tracking(
        runtime.pool,
        runtime.peers,
        answer_seconds=settings.emit_deadline_seconds,
        reconcile_seconds=settings.reconcile_seconds,
    )
    if settings.role.works:
        runtime.background()
        runtime.facts(Consumers(runtime.pool).handlers())
        runtime.singleton("tracking", tracking.reconcile)
        runtime.every("sweep", HOUR, lambda: requests.forget(runtime.pool, settings.request_days))
    if settings.role.serves:
        service = UploadService(
            runtime.pool,
            runtime.peers,
            Reception(
                runtime.pool,
                runtime.blobs,
                answer_seconds=settings.emit_deadline_seconds,
                pending_seconds=settings.pending_blob_seconds,
            ),
            tracking,
            settings.limits,
        )
        await runtime.serve([(add_UploadServiceServicer_to_server, service)], CALLERS)
    else:
        await runtime.serve([], {})


async def main() -> None:
    """Run upload until the process is asked to end."""
    settings = UploadSettings.model_validate({})
    telemetry.configure(SERVICE, settings.log_level)
    async with Runtime.open(settings, SERVICE) as runtime:
        await runtime.claim_blobs()
        await start(runtime, settings)
        await runtime.run()
