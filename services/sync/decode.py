"""Requests as they come over the wire: read, or refused field by field."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from uuid import UUID

from acervo.access.v1.access_pb2 import Target
from acervo.sync.v1 import sources_pb2 as pb
from services.shared.errors import FieldsInvalid, FieldViolation
from services.sync import pages
from services.sync.codec import MODES
from services.sync.modes import Mode

MAX_NAME = 200
MAX_PATH = 1024

_MODES = {code: mode for mode, code in MODES.items()}


def uuid(text: str, field: str) -> UUID:
    """Read an id. Raises FieldsInvalid."""
    try:
        return UUID(text)
    except ValueError:
        raise FieldsInvalid([FieldViolation(field, "must be a UUID")]) from None


def optional_uuid(text: str, field: str) -> UUID | None:
    """Read an id that may be left out. Raises FieldsInvalid."""
    return uuid(text, field) if text else None


def target(request: pb.CreateSourceRequest) -> Target:
    """Read which base a source is for. Raises FieldsInvalid."""
    if bool(request.knowledge_base_id) == bool(request.collection_name):
        raise FieldsInvalid([FieldViolation("knowledge_base_id", "give either this or collection_name")])
    if request.collection_name:
        return Target(collection_name=request.collection_name)
    return by_id(uuid(request.knowledge_base_id, "knowledge_base_id"))


def by_id(base_id: UUID) -> Target:
    """Name a base by its id."""
    return Target(knowledge_base_id=str(base_id))


def mode(code: pb.SyncMode, default: Mode) -> Mode:
    """Read a mode. Raises FieldsInvalid."""
    if code == pb.SYNC_MODE_UNSPECIFIED:
        return default
    if code not in _MODES:
        raise FieldsInvalid([FieldViolation("mode", "is not a mode")])
    return _MODES[code]


def check_source(request: pb.CreateSourceRequest) -> None:
    """Raise FieldsInvalid with every rule that the new source breaks."""
    if violations := list(_violations(request)):
        raise FieldsInvalid(violations)


def _violations(request: pb.CreateSourceRequest) -> Iterator[FieldViolation]:
    if len(request.display_name) > MAX_NAME:
        yield FieldViolation("display_name", f"at most {MAX_NAME} characters")
    if "\0" in request.display_name:
        yield FieldViolation("display_name", "must not hold NUL characters")
    if request.WhichOneof("connector") is None:
        yield FieldViolation("local_directory", "is missing")
        return
    path = request.local_directory.path
    if not PurePosixPath(path).is_absolute():
        yield FieldViolation("local_directory.path", "must be absolute")
    if len(path) > MAX_PATH or "\0" in path:
        yield FieldViolation("local_directory.path", f"at most {MAX_PATH} characters, none of them NUL")


def page(size: int, token: str, first: UUID) -> tuple[int, UUID]:
    """Read which page is asked for: its size, and the id to go on from. Raises FieldsInvalid."""
    violations = []
    if not 0 <= size <= pages.MAX_SIZE:
        violations.append(FieldViolation("page_size", f"must be 1 to {pages.MAX_SIZE}"))
    last = first
    try:
        last = pages.read_token(token) if token else first
    except ValueError:
        violations.append(FieldViolation("page_token", "must be the next_page_token of the page before"))
    if violations:
        raise FieldsInvalid(violations)
    return size or pages.DEFAULT_SIZE, last
