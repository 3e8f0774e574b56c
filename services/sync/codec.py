"""Sources and runs on the wire."""

from collections.abc import Iterable
from datetime import datetime
from typing import cast

from google.protobuf.timestamp_pb2 import Timestamp

from acervo.sync.v1 import sources_pb2 as pb
from services.shared.errors import ErrorReason
from services.sync.modes import Mode
from services.sync.runs import FailedFile, Run, RunState
from services.sync.sources import Source

MODES = {
    Mode.NEW_ONLY: pb.SYNC_MODE_NEW_ONLY,
    Mode.UPDATE_ONLY: pb.SYNC_MODE_UPDATE_ONLY,
    Mode.FULL: pb.SYNC_MODE_FULL,
}
STATES = {
    RunState.RUNNING: pb.RUN_STATE_RUNNING,
    RunState.DONE: pb.RUN_STATE_DONE,
    RunState.ERROR: pb.RUN_STATE_ERROR,
}


def source_to_proto(source: Source) -> pb.Source:
    """Write a source as callers see it."""
    directory = pb.LocalDirectory(path=source.directory.path, recursive=source.directory.recursive)
    return pb.Source(
        id=str(source.id),
        knowledge_base_id=str(source.knowledge_base_id),
        display_name=source.display_name,
        local_directory=directory,
        mode=MODES[source.mode],
        create_time=_timestamp(source.created_at),
        owner_user_id=str(source.owner_user_id),
        detached=source.detached,
    )


def run_to_proto(run: Run, failed_files: Iterable[FailedFile] = ()) -> pb.Run:
    """Write a run as callers see it."""
    counts = run.counts
    return pb.Run(
        id=str(run.id),
        source_id=str(run.source_id),
        mode=MODES[run.mode],
        state=STATES[run.state],
        counts=pb.RunCounts(
            listed=counts.listed,
            ingested=counts.ingested,
            updated=counts.updated,
            skipped=counts.skipped,
            failed=counts.failed,
            removed=counts.removed,
        ),
        failure_reason=_reason(run.failure_reason or 0),
        failure_message=run.failure_message,
        kinds_not_taken=run.kinds_not_taken,
        create_time=_timestamp(run.created_at),
        complete_time=None if run.completed_at is None else _timestamp(run.completed_at),
        failed_files=[
            pb.FailedFile(source_path=file.path, reason=_reason(file.reason), message=file.message)
            for file in failed_files
        ],
    )


def _reason(number: int) -> ErrorReason:
    return cast("ErrorReason", number)


def _timestamp(moment: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp
