"""Documents on the wire."""

from datetime import datetime
from typing import TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from acervo.common.v1 import lane_pb2
from acervo.ingest.v1 import documents_pb2 as pb
from services.ingest.documents import Document, Original, Source, Stage, State
from services.shared.bus import Lane
from services.shared.errors import meaning
from services.shared.ingestion_config_codec import config_to_proto

STATES = {
    State.PROCESSING: pb.DOCUMENT_STATE_PROCESSING,
    State.DONE: pb.DOCUMENT_STATE_DONE,
    State.ERROR: pb.DOCUMENT_STATE_ERROR,
}
STAGES = {
    None: pb.DOCUMENT_STAGE_UNSPECIFIED,
    Stage.QUEUED: pb.DOCUMENT_STAGE_QUEUED,
    Stage.PARSING: pb.DOCUMENT_STAGE_PARSING,
    Stage.EMBEDDING: pb.DOCUMENT_STAGE_EMBEDDING,
}
SOURCES = {
    Source.UPLOAD: pb.DOCUMENT_SOURCE_UPLOAD,
    Source.CLI: pb.DOCUMENT_SOURCE_CLI,
    Source.LOCAL: pb.DOCUMENT_SOURCE_LOCAL,
}
LANES = {Lane.INTERACTIVE: lane_pb2.LANE_INTERACTIVE, Lane.BULK: lane_pb2.LANE_BULK}

_K = TypeVar("_K")
_V = TypeVar("_V")


def reverse(table: dict[_K, _V]) -> dict[_V, _K]:
    """Turn a table of codes around."""
    return {code: name for name, code in table.items()}


def document_to_proto(document: Document) -> pb.Document:
    """Write a document as callers see it."""
    return pb.Document(
        id=str(document.id),
        knowledge_base_id=str(document.knowledge_base_id),
        collection_name=document.collection_name,
        filename=document.filename,
        kind=document.kind,
        size=document.size,
        sha256=document.sha256,
        state=STATES[document.state],
        stage=STAGES[document.stage],
        failure=_failure(document),
        chunk_count=document.chunk_count,
        page_count=document.page_count,
        source=SOURCES[document.source],
        source_path=document.source_path,
        has_original=document.original is Original.KEPT,
        attempt=document.attempt,
        create_time=timestamp(document.created_at),
        complete_time=None if document.completed_at is None else timestamp(document.completed_at),
        warnings=[pb.Warning(code=notice.code, message=notice.message) for notice in document.notices],
        ingestion_config=config_to_proto(document.config),
    )


def timestamp(moment: datetime) -> Timestamp:
    """Write a moment."""
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp


def _failure(document: Document) -> pb.Failure | None:
    if document.reason is None:
        return None
    told = meaning(document.reason)
    return pb.Failure(reason=document.reason, message=told.message, advice=told.advice)
