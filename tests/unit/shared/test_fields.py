"""What of a request's fields is refused, and how."""

from collections.abc import Callable
from uuid import UUID

import pytest

from acervo.access.v1.organizations_pb2 import ListOrganizationsRequest
from services.shared.errors import FieldsInvalid, NotFound
from services.shared.fields import Fields, read_optional_uuid, read_page, read_uuid

ID = "018f2a3b-0000-7000-8000-00000000000a"


def _refused(read: Callable[[Fields], object]) -> list[str]:
    try:
        with Fields() as fields:
            read(fields)
    except FieldsInvalid as refusal:
        return [violation.path for violation in refusal.fields]
    return []


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(FieldsInvalid) as refused, Fields() as fields:
        fields.uuid("a", "x")
        fields.refuse("b", "This must be given.")
    assert [violation.path for violation in refused.value.fields] == ["a", "b"]


def test_a_refusal_of_another_kind_goes_first() -> None:
    with pytest.raises(NotFound), Fields() as fields:
        fields.refuse("a", "This must be given.")
        raise NotFound("base")


@pytest.mark.parametrize("text", [ID, ID.upper(), str(UUID(int=0))])
def test_a_uuid_is_read_in_either_case(text: str) -> None:
    assert read_uuid("id", text) == read_optional_uuid("id", text) == UUID(text)


@pytest.mark.parametrize("text", ["x", ID.replace("-", ""), f"{{{ID}}}", f"urn:uuid:{ID}", f"{ID} ", "é"])
def test_what_is_not_written_as_a_uuid_is_refused(text: str) -> None:
    assert _refused(lambda fields: fields.optional_uuid("id", text)) == ["id"]


def test_a_uuid_may_be_left_out_only_where_it_is_optional() -> None:
    assert read_optional_uuid("id", "") is None
    assert _refused(lambda fields: fields.uuid("id", "")) == ["id"]


def test_a_code_that_is_not_known_is_refused() -> None:
    assert _refused(lambda fields: fields.choice("mode", 1, {1: "one"}, "")) == []
    assert _refused(lambda fields: fields.choice("mode", 2, {1: "one"}, "")) == ["mode"]


@pytest.mark.parametrize(("value", "refused"), [(0, ["n"]), (1, []), (3, []), (4, ["n"])])
def test_bounds_are_allowed_and_what_is_beyond_them_is_not(value: int, refused: list[str]) -> None:
    assert _refused(lambda fields: fields.within("n", value, 1, 3)) == refused
    assert _refused(lambda fields: fields.count("n", [None] * value, 3)) == refused


@pytest.mark.parametrize(
    ("length", "refused"), [(0, ["sha256"]), (31, ["sha256"]), (32, []), (33, ["sha256"])]
)
def test_a_sha256_has_its_length(length: int, refused: list[str]) -> None:
    assert _refused(lambda fields: fields.sha256("sha256", bytes(length))) == refused


@pytest.mark.parametrize(("path", "refused"), [("", 0), ("x" * 4096, 0), ("x" * 4097, 1), ("/a\0b", 1)])
def test_a_source_path_is_bounded_and_without_nuls(path: str, refused: int) -> None:
    assert len(_refused(lambda fields: fields.source_path(path))) == refused


@pytest.mark.parametrize(
    ("size", "token", "refused"),
    [
        (0, "", []),
        (1000, "", []),
        (1001, "", ["page_size"]),
        (-1, "", ["page_size"]),
        (1, "x", ["page_token"]),
        (-1, "x", ["page_size", "page_token"]),
    ],
)
def test_a_page_has_at_most_1000_rows_and_a_token_of_its_listing(
    size: int, token: str, refused: list[str]
) -> None:
    request = ListOrganizationsRequest(page_size=size, page_token=token)
    assert _refused(lambda fields: fields.page(request)) == refused
    if not refused:
        assert read_page(request).size == (size or 100)
