"""Pages and their tokens."""

from dataclasses import dataclass
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.access.pages import START, cut, read_token, write_token


@dataclass(frozen=True)
class Row:
    id: UUID


@given(st.uuids())
def test_a_token_names_the_id_that_it_was_written_for(last: UUID) -> None:
    assert read_token(write_token(last)) == last


def test_no_token_is_the_first_page() -> None:
    assert read_token("") == START


@given(st.text(min_size=1, max_size=40))
def test_what_was_not_written_here_is_no_token(text: str) -> None:
    try:
        last = read_token(text)
    except ValueError:
        return
    assert write_token(last) == text


@pytest.mark.parametrize("token", ["x", "é", "AAAA", "A" * 22 + "==", "A" * 21 + "B"])
def test_malformed_tokens_are_refused(token: str) -> None:
    with pytest.raises(ValueError, match="page token"):
        read_token(token)


@given(st.integers(0, 30), st.integers(1, 10))
def test_pages_hold_every_row_once_in_order(count: int, size: int) -> None:
    rows = [Row(UUID(int=number + 1)) for number in range(count)]
    seen: list[Row] = []
    token = ""
    while True:
        after = read_token(token)
        page = cut([row for row in rows if row.id > after][: size + 1], size)
        seen += page.rows
        token = page.next_page_token
        if not token:
            break
    assert seen == rows
