import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.forms import (
    MAX_FIELDS_BYTES,
    MAX_HEADER_BYTES,
    Form,
    read_form,
)
from services.shared.errors import FieldsInvalid

CONTENT_TYPE = "multipart/form-data; boundary=X"


def _body(field: bytes, file: bytes) -> bytes:
    return (
        b'--X\r\nContent-Disposition: form-data; name="collection_name"\r\n\r\n' + field + b"\r\n"
        b'--X\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n'
        b"Content-Type: text/markdown\r\n\r\n" + file + b"\r\n--X--\r\n"
    )


async def _cut(body: bytes, cuts: list[int]) -> AsyncIterator[bytes]:
    edges = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    for start, end in itertools.pairwise(edges):
        yield body[start:end]


async def _read(body: bytes, cuts: list[int]) -> tuple[Form, bytes]:
    form = await read_form(CONTENT_TYPE, _cut(body, cuts))
    return form, b"".join([part async for part in form.file])


@given(file=st.binary(max_size=300), cuts=st.lists(st.integers(0, 1000), max_size=10))
def test_how_a_form_is_cut_changes_nothing(file: bytes, cuts: list[int]) -> None:
    if b"\r\n--X" in b"\r\n" + file:
        return
    form, content = asyncio.run(_read(_body(b"handbook", file), cuts))
    assert form.fields == {"collection_name": "handbook"}
    assert (form.filename, form.media_type) == ("a.md", "text/markdown")
    assert content == file


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("x%22y.txt", 'x"y.txt'),
        ("a%0Db%0Ac", "a\rb\nc"),
        ("100%25.txt", "100%25.txt"),
        ("%2e%2e%2Fetc", "%2e%2e%2Fetc"),
        ("a%2522", "a%2522"),
    ],
)
def test_a_name_is_read_as_browsers_write_it(sent: str, meant: str) -> None:
    body = _body(b"handbook", b"x").replace(b'"a.md"', f'"{sent}"'.encode())
    form, _ = asyncio.run(_read(body, []))
    assert form.filename == meant


@given(end=st.integers(0, len(_body(b"handbook", b"content")) - 5))
def test_a_form_that_ends_too_early_is_refused(end: int) -> None:
    with pytest.raises(FieldsInvalid):
        asyncio.run(_read(_body(b"handbook", b"content")[:end], []))


def test_a_form_has_no_content_type_that_is_long_to_read() -> None:
    long = f'{CONTENT_TYPE}; a="{";" * MAX_HEADER_BYTES}'
    with pytest.raises(FieldsInvalid):
        asyncio.run(read_form(long, _cut(_body(b"handbook", b"x"), [])))


async def test_others_have_their_turn_while_a_form_is_read() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await _read(_body(b"x" * (MAX_FIELDS_BYTES - 1000), b"file"), [])
    counting.cancel()
    assert turns >= MAX_FIELDS_BYTES // 4096 - 1
