"""The contract's messages as JSON for scripts. Keys are stable; new ones may be added."""

from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase, Scope
from acervo.ingest.v1.documents_pb2 import Document, DocumentStage, DocumentState
from acervo.sync.v1.sources_pb2 import Run, RunState, SyncMode
from acervo.vectorstore.v1.collections_pb2 import CollectionStats
from acervo.vectorstore.v1.search_pb2 import Passage
from services.shared.reasons import meaning, reason_name


def state_name(state: DocumentState) -> str:
    """`processing`, `done` or `error`."""
    return DocumentState.Name(state).removeprefix("DOCUMENT_STATE_").lower()


def stage_name(stage: DocumentStage) -> str:
    """`queued`, `parsing` or `embedding`; empty where there is none."""
    name = DocumentStage.Name(stage).removeprefix("DOCUMENT_STAGE_").lower()
    return "" if name == "unspecified" else name


def run_state_name(state: RunState) -> str:
    """`running`, `done` or `error`."""
    return RunState.Name(state).removeprefix("RUN_STATE_").lower()


def scope_name(scope: Scope) -> str:
    """`personal`, `org` or `app`."""
    return Scope.Name(scope).removeprefix("SCOPE_").lower()


def document(message: Document) -> dict[str, Any]:
    """A document; `failure` is null unless its state is `error`."""
    return {
        "id": message.id,
        "knowledge_base_id": message.knowledge_base_id,
        "collection": message.collection_name,
        "filename": message.filename,
        "source_path": message.source_path,
        "kind": message.kind,
        "size": message.size,
        "sha256": message.sha256.hex(),
        "state": state_name(message.state),
        "stage": stage_name(message.stage),
        "chunks": message.chunk_count,
        "pages": message.page_count,
        "attempt": message.attempt,
        "failure": failure(message),
        "warnings": [{"code": warning.code, "message": warning.message} for warning in message.warnings],
        "created_at": _time(message.create_time),
        "completed_at": _time(message.complete_time),
    }


def failure(message: Document) -> dict[str, str] | None:
    """Why a document failed, and what to do about it."""
    if not message.HasField("failure"):
        return None
    told = message.failure
    return {"reason": reason_name(told.reason), "message": told.message, "advice": told.advice}


def failure_of(reason: int, message: str) -> dict[str, str]:
    """A reason with its sentence, the reason's own where none is given, and with its advice."""
    known = meaning(reason)
    return {"reason": reason_name(reason), "message": message or known.message, "advice": known.advice}


def knowledge_base(message: KnowledgeBase, stats: CollectionStats) -> dict[str, Any]:
    """A base with what it holds."""
    return {
        "id": message.id,
        "collection": message.collection_name,
        "display_name": message.display_name,
        "scope": scope_name(message.scope),
        "organization_id": message.organization_id,
        "owner_user_id": message.owner_user_id,
        "model": message.embedding.model,
        "width": message.embedding.width,
        "documents": stats.document_count,
        "chunks": stats.chunk_count,
        "created_at": _time(message.create_time),
    }


def passage(message: Passage) -> dict[str, Any]:
    """A passage; `page` is null where the kind of file has none."""
    return {
        "document_id": message.document_id,
        "knowledge_base_id": message.knowledge_base_id,
        "collection": message.collection_name,
        "filename": message.filename,
        "page": message.page or None,
        "ordinal": message.ordinal,
        "start": message.start,
        "end": message.end,
        "text": message.text,
        "excerpt": message.excerpt,
        "scores": {
            "fused": message.scores.fused,
            "vector": message.scores.vector,
            "lexical": message.scores.lexical,
            "lexical_coverage": message.scores.lexical_coverage,
        },
    }


def run(message: Run) -> dict[str, Any]:
    """A run of a source; `failure` is null unless the run as a whole failed.

    `kinds_not_taken` counts, by extension, files among the skipped.
    """
    counts = message.counts
    failed = message.failure_reason != 0
    return {
        "id": message.id,
        "source_id": message.source_id,
        "mode": SyncMode.Name(message.mode).removeprefix("SYNC_MODE_").lower(),
        "state": run_state_name(message.state),
        "counts": {field.name: getattr(counts, field.name) for field in counts.DESCRIPTOR.fields},
        "failure": failure_of(message.failure_reason, message.failure_message) if failed else None,
        "failed_files": [
            {"path": file.source_path, **failure_of(file.reason, file.message)}
            for file in message.failed_files
        ],
        "kinds_not_taken": dict(message.kinds_not_taken),
        "created_at": _time(message.create_time),
        "completed_at": _time(message.complete_time),
    }


def _time(stamp: Timestamp) -> str | None:
    return stamp.ToJsonString() if stamp.seconds else None
