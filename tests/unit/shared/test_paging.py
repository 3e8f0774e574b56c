"""Pages and their tokens."""

from dataclasses import dataclass
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acervo.access.v1.knowledge_bases_pb2 import ListKnowledgeBasesRequest
from acervo.access.v1.organizations_pb2 import ListOrganizationsRequest
from services.shared.paging import DEFAULT_SIZE, PageRequest, TokenInvalid


@dataclass(frozen=True)
class Row:
    id: UUID


def _request(size: int = 0, token: str = "", name: str = "handbook") -> ListKnowledgeBasesRequest:
    return ListKnowledgeBasesRequest(page_size=size, page_token=token, collection_name=name)


def _token(last: UUID) -> str:
    return PageRequest.of(_request(1)).cut([Row(last), Row(last)]).next_page_token


def test_no_token_is_the_first_page_in_either_order() -> None:
    first = PageRequest.of(_request())
    assert (first.size, first.after, first.before) == (DEFAULT_SIZE, UUID(int=0), UUID(int=2**128 - 1))


@given(st.uuids())
def test_a_token_goes_on_from_the_id_that_it_was_written_for(last: UUID) -> None:
    page = PageRequest.of(_request(5, _token(last)))
    assert (page.after, page.before) == (last, last)


def test_a_token_opens_its_own_listing_alone() -> None:
    token = _token(UUID(int=5))
    with pytest.raises(TokenInvalid):
        PageRequest.of(_request(token=token, name="other"))
    with pytest.raises(TokenInvalid):
        PageRequest.of(ListOrganizationsRequest(page_token=token))


@given(st.text(min_size=1, max_size=40))
@pytest.mark.parametrize("written", [_token(UUID(int=5))])
def test_what_was_not_written_here_is_no_token(written: str, text: str) -> None:
    for token in (text, written[:-1], written + "A", written + "=", written + text):
        with pytest.raises(TokenInvalid):
            PageRequest.of(_request(token=token))


@pytest.mark.parametrize("descending", [False, True])
@given(st.integers(0, 30), st.integers(1, 10))
def test_pages_hold_every_row_once_in_order(descending: bool, count: int, size: int) -> None:
    rows = sorted((Row(UUID(int=number + 1)) for number in range(count)), key=lambda row: row.id)
    rows = rows[::-1] if descending else rows
    seen: list[Row] = []
    token = ""
    while True:
        wanted = PageRequest.of(_request(size, token))
        left = [row for row in rows if (row.id < wanted.before if descending else row.id > wanted.after)]
        page = wanted.cut(left[: wanted.limit])
        seen += page.rows
        token = page.next_page_token
        if not token:
            break
    assert seen == rows
