"""Which fields of a call are refused before anything is done."""

from typing import Any
from uuid import UUID

import pytest

from acervo.common.v1.ingestion_config_pb2 import IngestionConfig
from acervo.ingest.v1 import documents_pb2 as pb
from services.ingest import checks, pages
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


def test_a_complete_creation_is_taken() -> None:
    assert list(checks.creation(pb.CreateDocumentRequest(**CREATION))) == []


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
    assert [violation.path for violation in checks.creation(request)] == [field]


@pytest.mark.parametrize(
    ("fields", "path"),
    [({"page_size": -1}, "page_size"), ({"page_size": 1001}, "page_size"), ({"states": [0]}, "states")],
)
def test_a_malformed_listing_names_its_field(fields: dict[str, Any], path: str) -> None:
    violations = checks.listing(pb.ListDocumentsRequest(**fields))
    assert [violation.path for violation in violations] == [path]


@pytest.mark.parametrize(("count", "text"), [(0, ID), (1001, ID), (1, "x")])
def test_a_malformed_watch_names_its_field(count: int, text: str) -> None:
    request = pb.WatchDocumentsRequest(document_ids=[text] * count)
    assert [violation.path for violation in checks.watching(request)] == ["document_ids"]


@pytest.mark.parametrize(("base", "name", "refused"), [(ID, "", 0), ("", "a", 0), ("", "", 1), (ID, "a", 1)])
def test_a_base_is_named_in_one_way(base: str, name: str, refused: int) -> None:
    assert len(list(checks.target(base, name))) == refused


def test_a_page_token_opens_its_own_listing_alone() -> None:
    last = UUID(int=5)
    token = pages.encode(last, ["base", "done"])
    assert pages.decode(token, ["base", "done"]) == last
    for wrong, listing in (
        (token, ["base", "error"]),
        (token[:-1], ["base", "done"]),
        ("", []),
        ("é!", []),
        (token + "A", ["base", "done"]),
    ):
        with pytest.raises(pages.TokenInvalid):
            pages.decode(wrong, listing)
