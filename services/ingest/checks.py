"""Whether a call's fields can be right at all. Each function returns what is wrong."""

from collections.abc import Iterator
from uuid import UUID

from acervo.ingest.v1 import documents_pb2 as pb
from services.shared.errors import FieldsInvalid, FieldViolation
from services.shared.kinds import KINDS, MAX_LABEL, label

MOST_WATCHED = 1000
MOST_LISTED = 1000
MOST_PATH = 4096
_SHA256_BYTES = 32


def require(violations: Iterator[FieldViolation]) -> None:
    """Raise FieldsInvalid if there are any."""
    found = tuple(violations)
    if found:
        raise FieldsInvalid(found)


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def uuid_field(path: str, text: str) -> Iterator[FieldViolation]:
    """A UUID that must be given."""
    if not is_uuid(text):
        yield FieldViolation(path, "must be a UUID.")


def optional_uuid_field(path: str, text: str) -> Iterator[FieldViolation]:
    """A UUID, or nothing."""
    if text:
        yield from uuid_field(path, text)


def target(base_id: str, collection_name: str) -> Iterator[FieldViolation]:
    """Which base a call means: by id or by collection name, one of the two."""
    if bool(base_id) == bool(collection_name):
        yield FieldViolation("knowledge_base_id", "give this or collection_name, one of the two.")
    yield from optional_uuid_field("knowledge_base_id", base_id)


def upload(request: pb.CheckUploadRequest) -> Iterator[FieldViolation]:
    """A file that somebody wants to upload."""
    if not 0 < len(request.filename) <= MAX_LABEL or not label(request.filename):
        yield FieldViolation("filename", f"must be a name of 1 to {MAX_LABEL} characters.")
    if request.size < 0:
        yield FieldViolation("size", "must not be negative.")


def creation(request: pb.CreateDocumentRequest) -> Iterator[FieldViolation]:
    """A stored file that upload wants tracked."""
    yield from uuid_field("file_id", request.file_id)
    yield from uuid_field("knowledge_base_id", request.knowledge_base_id)
    yield from optional_uuid_field("organization_id", request.organization_id)
    yield from optional_uuid_field("actor_user_id", request.actor_user_id)
    for name in ("collection_name", "blob_key"):
        if not getattr(request, name):
            yield FieldViolation(name, "must be given.")
    if not request.filename or request.filename != label(request.filename):
        yield FieldViolation("filename", "must be a label.")
    if request.kind not in KINDS:
        yield FieldViolation("kind", "must be a canonical kind.")
    if request.size <= 0:
        yield FieldViolation("size", "must be positive.")
    if len(request.sha256) != _SHA256_BYTES:
        yield FieldViolation("sha256", f"must be {_SHA256_BYTES} bytes.")
    if len(request.source_path) > MOST_PATH or "\0" in request.source_path:
        yield FieldViolation("source_path", f"must be at most {MOST_PATH} characters, without NULs.")
    config = request.ingestion_config
    if not (config.parser and config.chunk_size and config.chunking_strategy):
        yield FieldViolation("ingestion_config", "must be complete.")


def listing(request: pb.ListDocumentsRequest) -> Iterator[FieldViolation]:
    """A page of documents."""
    if not 0 <= request.page_size <= MOST_LISTED:
        yield FieldViolation("page_size", f"must be 1 to {MOST_LISTED}.")
    if any(state not in pb.DocumentState.values() or not state for state in request.states):
        yield FieldViolation("states", "must be PROCESSING, DONE or ERROR.")


def watching(request: pb.WatchDocumentsRequest) -> Iterator[FieldViolation]:
    """Documents to watch."""
    if not 0 < len(request.document_ids) <= MOST_WATCHED:
        yield FieldViolation("document_ids", f"must be 1 to {MOST_WATCHED} UUIDs.")
    elif not all(map(is_uuid, request.document_ids)):
        yield FieldViolation("document_ids", "must be UUIDs.")
