"""Whether a header can be right at all, beside what ingest checks. Returns what is wrong."""

from collections.abc import Iterator
from uuid import UUID

from acervo.common.v1 import lane_pb2
from acervo.ingest.v1 import documents_pb2
from acervo.upload.v1 import upload_pb2 as pb
from services.shared.errors import FieldsInvalid, FieldViolation

MAX_SOURCE_PATH = 4096
_SHA256_BYTES = 32
_PEOPLES_SOURCES = (
    documents_pb2.DOCUMENT_SOURCE_UNSPECIFIED,
    documents_pb2.DOCUMENT_SOURCE_UPLOAD,
    documents_pb2.DOCUMENT_SOURCE_CLI,
)


def require(violations: Iterator[FieldViolation]) -> None:
    """Raise FieldsInvalid if there are any."""
    found = tuple(violations)
    if found:
        raise FieldsInvalid(found)


def header(message: pb.UploadDocumentHeader, *, by_service: bool) -> Iterator[FieldViolation]:
    """The header of an upload, by a service or by a person."""
    yield from _uuid("request_id", message.request_id)
    yield from _uuid("actor_user_id", message.actor_user_id)
    if len(message.sha256) not in (0, _SHA256_BYTES):
        yield FieldViolation("sha256", f"must be {_SHA256_BYTES} bytes.")
    if len(message.source_path) > MAX_SOURCE_PATH or "\0" in message.source_path:
        yield FieldViolation("source_path", f"must be at most {MAX_SOURCE_PATH} characters, without NULs.")
    if message.lane not in lane_pb2.Lane.values():
        yield FieldViolation("lane", "must be INTERACTIVE or BULK.")
    if message.source not in documents_pb2.DocumentSource.values():
        yield FieldViolation("source", "must be a known source.")
    if not by_service:
        yield from _for_services(message)


def _for_services(message: pb.UploadDocumentHeader) -> Iterator[FieldViolation]:
    if message.source not in _PEOPLES_SOURCES:
        yield FieldViolation("source", "must be UPLOAD or CLI.")
    if message.actor_user_id:
        yield FieldViolation("actor_user_id", "is for services alone.")
    if message.discard_original:
        yield FieldViolation("discard_original", "is for services alone.")


def _uuid(path: str, text: str) -> Iterator[FieldViolation]:
    if text:
        try:
            UUID(text)
        except ValueError:
            yield FieldViolation(path, "must be a UUID.")
