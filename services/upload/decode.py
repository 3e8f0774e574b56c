"""Headers as they come over the wire, judged beside what ingest judges."""

from acervo.common.v1 import lane_pb2
from acervo.ingest.v1 import documents_pb2
from acervo.upload.v1 import upload_pb2 as pb
from services.shared.fields import Fields

_PEOPLES_SOURCES = (
    documents_pb2.DOCUMENT_SOURCE_UNSPECIFIED,
    documents_pb2.DOCUMENT_SOURCE_UPLOAD,
    documents_pb2.DOCUMENT_SOURCE_CLI,
)


def check_header(message: pb.UploadDocumentHeader, *, by_service: bool) -> None:
    """Refuse a header that cannot be right, from a service or from a person. Raises FieldsInvalid."""
    with Fields() as fields:
        fields.optional_uuid("actor_user_id", message.actor_user_id)
        if message.sha256:
            fields.sha256("sha256", message.sha256)
        fields.source_path(message.source_path)
        if message.lane not in lane_pb2.Lane.values():
            fields.refuse("lane", "This must be INTERACTIVE or BULK.")
        if message.source not in documents_pb2.DocumentSource.values():
            fields.refuse("source", "This must be a known source.")
        if not by_service:
            _check_person(fields, message)


def _check_person(fields: Fields, message: pb.UploadDocumentHeader) -> None:
    if message.source not in _PEOPLES_SOURCES:
        fields.refuse("source", "This must be UPLOAD or CLI.")
    if message.actor_user_id:
        fields.refuse("actor_user_id", "This is for services alone.")
    if message.discard_original:
        fields.refuse("discard_original", "This is for services alone.")
