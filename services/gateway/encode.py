"""Messages as the JSON that the web app reads. Where gRPC says `state`, HTTP says `status`."""

from collections.abc import Callable, Sequence
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from acervo.access.v1 import knowledge_bases_pb2 as bases_pb
from acervo.common.v1 import ingestion_config_pb2 as config_pb
from acervo.ingest.v1 import documents_pb2 as documents_pb
from acervo.vectorstore.v1 import search_pb2 as search_pb
from services.shared.errors import reason_name

Json = dict[str, Any]


def document(message: documents_pb.Document) -> Json:
    """A document."""
    return {
        "id": message.id,
        "knowledge_base_id": message.knowledge_base_id,
        "collection_name": message.collection_name,
        "filename": message.filename,
        "kind": message.kind,
        "size": message.size,
        "sha256": message.sha256.hex(),
        "status": _word(documents_pb.DocumentState.Name, message.state, "DOCUMENT_STATE_"),
        "stage": _word(documents_pb.DocumentStage.Name, message.stage, "DOCUMENT_STAGE_"),
        "failure": _failure(message.failure) if message.HasField("failure") else None,
        "chunk_count": message.chunk_count,
        "page_count": message.page_count,
        "source": _word(documents_pb.DocumentSource.Name, message.source, "DOCUMENT_SOURCE_"),
        "source_path": message.source_path,
        "has_original": message.has_original,
        "attempt": message.attempt,
        "create_time": _time(message.create_time),
        "complete_time": _time(message.complete_time) if message.HasField("complete_time") else None,
        "warnings": [{"code": warning.code, "message": warning.message} for warning in message.warnings],
        "ingestion_config": _config(message.ingestion_config),
    }


def documents(message: documents_pb.ListDocumentsResponse) -> Json:
    """A page of documents."""
    counts = message.counts
    return {
        "documents": [document(one) for one in message.documents],
        "next_page_token": message.next_page_token,
        "counts": {"processing": counts.processing, "done": counts.done, "error": counts.error},
    }


def knowledge_bases(message: bases_pb.ListKnowledgeBasesResponse) -> Json:
    """A page of knowledge bases."""
    return {
        "knowledge_bases": [_knowledge_base(one) for one in message.knowledge_bases],
        "next_page_token": message.next_page_token,
    }


def passages(found: Sequence[search_pb.Passage]) -> Json:
    """What a search found, best first."""
    return {"passages": [_passage(one) for one in found]}


def _failure(message: documents_pb.Failure) -> Json:
    return {
        "reason": reason_name(message.reason),
        "message": message.message,
        "advice": message.advice,
    }


def _config(message: config_pb.IngestionConfig) -> Json:
    return {
        "parser": _word(config_pb.Parser.Name, message.parser, "PARSER_"),
        "chunk_size": message.chunk_size,
        "chunk_overlap": message.chunk_overlap,
        "chunking_strategy": _word(
            config_pb.ChunkingStrategy.Name, message.chunking_strategy, "CHUNKING_STRATEGY_"
        ),
    }


def _knowledge_base(message: bases_pb.KnowledgeBase) -> Json:
    return {
        "id": message.id,
        "display_name": message.display_name,
        "collection_name": message.collection_name,
        "scope": _word(bases_pb.Scope.Name, message.scope, "SCOPE_"),
        "organization_id": message.organization_id or None,
        "owner_user_id": message.owner_user_id or None,
        "visibility": _word(bases_pb.Visibility.Name, message.visibility, "VISIBILITY_"),
        "team_id": message.team_id or None,
        "embedding": {"model": message.embedding.model, "width": message.embedding.width},
        "ingestion_config": _config(message.ingestion_config),
        "default_base": message.default_base,
        "create_time": _time(message.create_time),
    }


def _passage(message: search_pb.Passage) -> Json:
    scores = message.scores
    return {
        "document_id": message.document_id,
        "knowledge_base_id": message.knowledge_base_id,
        "collection_name": message.collection_name,
        "filename": message.filename,
        "page": message.page or None,
        "ordinal": message.ordinal,
        "start": message.start,
        "end": message.end,
        "text": message.text,
        "excerpt": message.excerpt,
        "scores": {
            "fused": scores.fused,
            "vector": scores.vector,
            "lexical": scores.lexical,
            "lexical_coverage": scores.lexical_coverage,
        },
    }


def _word(name: Callable[[Any], str], number: int, prefix: str) -> str | None:
    """The value of an enum as a lower-case word, None where it is not set."""
    return name(number).removeprefix(prefix).lower() if number else None


def _time(moment: Timestamp) -> str:
    return moment.ToJsonString()
