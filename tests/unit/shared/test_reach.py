"""How requests name a base."""

from uuid import UUID

import pytest

from acervo.ingest.v1.documents_pb2 import ListDocumentsRequest
from services.shared.errors import FieldsInvalid
from services.shared.reach import target, target_of

ID = UUID(int=7)


def test_a_base_is_named_by_id_or_by_collection() -> None:
    assert target_of(ListDocumentsRequest(knowledge_base_id=str(ID))) == target(ID)
    assert target_of(ListDocumentsRequest(collection_name="a")).collection_name == "a"


@pytest.mark.parametrize(("base", "name"), [("", ""), (str(ID), "a"), ("x", "")])
def test_a_base_is_named_in_one_way(base: str, name: str) -> None:
    with pytest.raises(FieldsInvalid) as refused:
        target_of(ListDocumentsRequest(knowledge_base_id=base, collection_name=name))
    assert [violation.path for violation in refused.value.fields] == ["knowledge_base_id"]
