"""Requests as they come over the wire: read, or refused field by field."""

from uuid import UUID

from acervo.ingest.v1 import documents_pb2 as pb
from services.ingest.codec import LANES, SOURCES, STATES, reverse
from services.ingest.documents import NewDocument, Original, Source, State
from services.shared.bus import Lane
from services.shared.fields import Fields
from services.shared.ingestion_config_codec import config_from_proto
from services.shared.kinds import KINDS, MAX_LABEL, label
from services.shared.paging import PageRequest

MOST_WATCHED = 1000

_SOURCES = reverse(SOURCES)
_LANES = reverse(LANES)
_STATES = reverse(STATES)


def check_upload(request: pb.CheckUploadRequest) -> None:
    """Refuse a file that nobody could upload. Raises FieldsInvalid."""
    with Fields() as fields:
        if len(request.filename) > MAX_LABEL or not label(request.filename):
            fields.refuse("filename", f"This must be a name of 1 to {MAX_LABEL} characters.")
        if request.size < 0:
            fields.refuse("size", "This must not be negative.")


def new_document(document_id: UUID, request: pb.CreateDocumentRequest) -> NewDocument:
    """Read what upload wants tracked. Raises FieldsInvalid."""
    with Fields() as fields:
        file_id = fields.uuid("file_id", request.file_id)
        base_id = fields.uuid("knowledge_base_id", request.knowledge_base_id)
        organization_id = fields.optional_uuid("organization_id", request.organization_id)
        actor = fields.optional_uuid("actor_user_id", request.actor_user_id)
        _check_file(fields, request)
    return NewDocument(
        id=document_id,
        file_id=file_id,
        knowledge_base_id=base_id,
        collection_name=request.collection_name,
        organization_id=organization_id,
        actor_user_id=actor,
        filename=request.filename,
        kind=request.kind,
        size=request.size,
        sha256=request.sha256,
        original_key=request.blob_key,
        original=Original.STAGED if request.discard_original else Original.KEPT,
        config=config_from_proto(request.ingestion_config),
        lane=_LANES.get(request.lane, Lane.INTERACTIVE if actor else Lane.BULK),
        source=_SOURCES.get(request.source, Source.UPLOAD),
        source_path=request.source_path,
        replaces=request.replace,
    )


def _check_file(fields: Fields, request: pb.CreateDocumentRequest) -> None:
    for name in ("collection_name", "blob_key"):
        if not getattr(request, name):
            fields.refuse(name, "This must be given.")
    if not request.filename or request.filename != label(request.filename):
        fields.refuse("filename", "This must be a label.")
    if request.kind not in KINDS:
        fields.refuse("kind", "This must be a canonical kind.")
    if request.size <= 0:
        fields.refuse("size", "This must be positive.")
    fields.sha256("sha256", request.sha256)
    fields.source_path(request.source_path)
    config = request.ingestion_config
    if not (config.parser and config.chunk_size and config.chunking_strategy):
        fields.refuse("ingestion_config", "This must be complete.")


def listing(request: pb.ListDocumentsRequest) -> tuple[list[State], PageRequest]:
    """Read which documents are asked for: of which states, and which part of them. Raises FieldsInvalid."""
    with Fields() as fields:
        states = {fields.choice("states", code, _STATES, State.DONE) for code in request.states}
        wanted = fields.page(request)
    return list(states or State), wanted


def watched(request: pb.WatchDocumentsRequest) -> list[UUID]:
    """Read which documents to watch, each once. Raises FieldsInvalid."""
    with Fields() as fields:
        fields.count("document_ids", request.document_ids, MOST_WATCHED)
    with Fields() as fields:
        ids = [fields.uuid(f"document_ids[{n}]", text) for n, text in enumerate(request.document_ids)]
    return list(dict.fromkeys(ids))
