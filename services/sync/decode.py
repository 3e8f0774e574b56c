"""Requests as they come over the wire: read, or refused field by field."""

from pathlib import PurePosixPath

from acervo.sync.v1 import sources_pb2 as pb
from services.shared.fields import Fields
from services.sync.codec import MODES
from services.sync.modes import Mode

MAX_NAME = 200
MAX_PATH = 1024

_MODES = {code: mode for mode, code in MODES.items()}


def mode(code: pb.SyncMode, default: Mode) -> Mode:
    """Read a mode. Raises FieldsInvalid."""
    if code == pb.SYNC_MODE_UNSPECIFIED:
        return default
    with Fields() as fields:
        return fields.choice("mode", code, _MODES, default)


def check_source(request: pb.CreateSourceRequest) -> None:
    """Raise FieldsInvalid with every rule that the new source breaks."""
    with Fields() as fields:
        if len(request.display_name) > MAX_NAME:
            fields.refuse("display_name", f"This must have at most {MAX_NAME} characters.")
        if "\0" in request.display_name:
            fields.refuse("display_name", "This must not hold NUL characters.")
        if request.WhichOneof("connector") is None:
            fields.refuse("local_directory", "This is missing.")
            return
        path = request.local_directory.path
        if not PurePosixPath(path).is_absolute():
            fields.refuse("local_directory.path", "This must be absolute.")
        if len(path) > MAX_PATH or "\0" in path:
            fields.refuse(
                "local_directory.path", f"This must have at most {MAX_PATH} characters, none of them NUL."
            )
