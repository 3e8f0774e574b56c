"""Paths as text: different files never read the same, and each leads back to its own file."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.pathtext import path_of, path_text

PIECES = st.one_of(
    st.binary(min_size=1, max_size=2),
    st.sampled_from([b"%", b"%25", b"%E9", b"25", b"E9", b"\xe9", b"\xc3\xa9", b"e\xcc\x81", b"\n", b" "]),
)
NAMES = st.lists(PIECES, max_size=6).map(b"".join)


@given(NAMES)
def test_every_path_is_valid_text_that_leads_back_to_it(name: bytes) -> None:
    text = path_text(os.fsdecode(name))
    text.encode("utf-8")
    assert os.fsencode(path_of(text)) == name


@pytest.mark.parametrize(
    "name", ["a.txt", "año 字.txt", "100%.txt", "50%2 off", "%e9", "e\u0301", "a\n", " "]
)
def test_a_path_that_cannot_be_mistaken_is_its_own_text(name: str) -> None:
    assert path_text(name) == name


@pytest.mark.parametrize(
    ("name", "text"), [(b"caf\xe9.txt", "caf%E9.txt"), (b"caf%E9.txt", "caf%25E9.txt"), (b"%25", "%2525")]
)
def test_what_could_be_mistaken_is_escaped(name: bytes, text: str) -> None:
    assert path_text(os.fsdecode(name)) == text
