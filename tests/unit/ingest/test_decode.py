"""Which fields of a call are refused before anything is done."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from acervo.common.v1.ingestion_config_pb2 import IngestionConfig
from acervo.ingest.v1 import documents_pb2 as pb
from services.ingest import decode
from services.shared.errors import FieldsInvalid
from services.shared.ingestion_config import DEFAULT
from services.shared.ingestion_config_codec import config_to_proto

ID = str(UUID(int=7))
CREATION: dict[str, Any] = {
    "file_id": ID,
    "knowledge_base_id": ID,
    "collection_name": "handbook",
    "filename": "a.md",
    "kind": "md",
    "size": 3,
    "sha256": bytes(32),
    "blob_key": "upload/files/x",
    "ingestion_config": config_to_proto(DEFAULT),
}


def _refused(read: Callable[[], object]) -> list[str]:
    with pytest.raises(FieldsInvalid) as refused:
        read()
    return [violation.path for violation in refused.value.fields]


def test_a_complete_creation_is_taken() -> None:
    taken = decode.new_document(UUID(int=1), pb.CreateDocumentRequest(**CREATION))
    assert (taken.file_id, taken.config, taken.source_path) == (UUID(ID), DEFAULT, "")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("file_id", "x"),
        ("knowledge_base_id", ""),
        ("organization_id", "x"),
        ("actor_user_id", "x"),
        ("collection_name", ""),
        ("filename", ""),
        ("filename", "../a.md"),
        ("filename", "a\0.md"),
        ("kind", "exe"),
        ("size", 0),
        ("sha256", b"short"),
        ("blob_key", ""),
        ("source_path", "/a\0b"),
        ("source_path", "x" * 4097),
        ("ingestion_config", IngestionConfig()),
    ],
)
def test_a_malformed_creation_names_its_field(field: str, value: Any) -> None:
    request = pb.CreateDocumentRequest(**{**CREATION, field: value})
    assert _refused(lambda: decode.new_document(UUID(int=1), request)) == [field]


@pytest.mark.parametrize(
    ("fields", "path"),
    [({"page_size": -1}, "page_size"), ({"page_size": 1001}, "page_size"), ({"states": [0]}, "states")],
)
def test_a_malformed_listing_names_its_field(fields: dict[str, Any], path: str) -> None:
    assert _refused(lambda: decode.listing(pb.ListDocumentsRequest(**fields))) == [path]


@pytest.mark.parametrize(
    ("count", "text", "path"),
    [(0, ID, "document_ids"), (1001, ID, "document_ids"), (1, "x", "document_ids[0]")],
)
def test_a_malformed_watch_names_its_field(count: int, text: str, path: str) -> None:
    request = pb.WatchDocumentsRequest(document_ids=[text] * count)
    assert _refused(lambda: decode.watched(request)) == [path]
