"""Which headers are refused, and by which field."""

from typing import Any, cast

import pytest

from acervo.common.v1.lane_pb2 import Lane
from acervo.ingest.v1 import documents_pb2
from acervo.upload.v1.upload_pb2 import UploadDocumentHeader
from services.shared.errors import FieldsInvalid
from services.upload.decode import check_header

ID = "018f2a3b-0000-7000-8000-00000000000a"
FOR_SERVICES: list[tuple[str, Any]] = [
    ("source", documents_pb2.DOCUMENT_SOURCE_LOCAL),
    ("actor_user_id", ID),
    ("discard_original", True),
]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("actor_user_id", "x"),
        ("sha256", b"short"),
        ("source_path", "/a\0b"),
        ("lane", cast("Lane", 99)),
        ("source", cast("documents_pb2.DocumentSource", 99)),
    ],
)
def test_a_malformed_header_names_its_field(field: str, value: Any) -> None:
    with pytest.raises(FieldsInvalid) as refused:
        check_header(UploadDocumentHeader(**{field: value}), by_service=True)
    assert [violation.path for violation in refused.value.fields] == [field]


@pytest.mark.parametrize(("field", "value"), FOR_SERVICES)
def test_some_fields_are_for_services_alone(field: str, value: Any) -> None:
    header = UploadDocumentHeader(**{field: value})
    check_header(header, by_service=True)
    with pytest.raises(FieldsInvalid) as refused:
        check_header(header, by_service=False)
    assert [violation.path for violation in refused.value.fields] == [field]
