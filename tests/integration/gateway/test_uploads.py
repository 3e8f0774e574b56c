import asyncio
import hashlib
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.common.v1 import ingestion_config_pb2, lane_pb2
from acervo.upload.v1.upload_pb2 import UploadDocumentHeader
from services.gateway.forms import MAX_FIELDS_BYTES, MAX_HEADER_BYTES, MAX_PART_HEADERS, MAX_PARTS
from services.gateway.uploads import MESSAGE_BYTES
from services.shared.errors import AcervoError
from tests.integration.gateway.stack import DOCUMENT_ID, Stack, running

URL = "/api/v1/documents"
DATA = random.Random(7).randbytes(3_000_001)


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncIterator[Stack]:
    async with running(tmp_path) as stack:
        yield stack


def header_of(stack: Stack) -> UploadDocumentHeader:
    header = stack.backend.calls[-1][1]
    assert isinstance(header, UploadDocumentHeader)
    return header


async def test_a_raw_body_is_sent_on_in_large_messages(stack: Stack) -> None:
    response = await stack.client.post(
        URL,
        content=DATA,
        params={"filename": "año.md", "collection_name": "handbook"},
        headers={"content-type": "text/markdown", "idempotency-key": "k"},
    )
    assert response.status_code == 201
    assert response.json()["document"]["id"] == DOCUMENT_ID
    assert b"".join(stack.backend.received) == DATA
    assert {len(part) for part in stack.backend.received[:-1]} == {MESSAGE_BYTES}
    header = header_of(stack)
    assert (header.filename, header.media_type, header.size) == ("año.md", "text/markdown", len(DATA))
    assert (header.collection_name, header.request_id) == ("handbook", "k")
    assert stack.backend.calls[0][0] == "ana"


async def test_everything_that_a_header_says_can_be_said(stack: Stack) -> None:
    await stack.client.post(
        URL,
        content=b"x",
        params={
            "filename": "a.md",
            "media_type": "text/plain",
            "knowledge_base_id": "b",
            "request_id": "r",
            "sha256": hashlib.sha256(b"x").hexdigest(),
            "source_path": "/a.md",
            "replace": "true",
            "lane": "bulk",
            "ingestion_config": '{"chunk_size": 500, "parser": "pymupdf"}',
        },
    )
    assert header_of(stack) == UploadDocumentHeader(
        filename="a.md",
        media_type="text/plain",
        knowledge_base_id="b",
        request_id="r",
        size=1,
        sha256=hashlib.sha256(b"x").digest(),
        source_path="/a.md",
        replace=True,
        lane=lane_pb2.LANE_BULK,
        ingestion_config=ingestion_config_pb2.IngestionConfig(
            chunk_size=500, parser=ingestion_config_pb2.PARSER_PYMUPDF
        ),
    )


async def test_a_body_of_unknown_length_is_taken(stack: Stack) -> None:
    async def stream() -> AsyncIterator[bytes]:
        for start in range(0, len(DATA), 70_000):
            yield DATA[start : start + 70_000]

    response = await stack.client.post(URL, content=stream(), params={"filename": "a.md"})
    assert response.status_code == 201
    assert header_of(stack).size == 0
    assert b"".join(stack.backend.received) == DATA


async def test_a_form_is_read_as_it_comes(stack: Stack) -> None:
    response = await stack.client.post(
        URL,
        data={"collection_name": "handbook", "replace": "true"},
        files={"file": ("notes.md", DATA, "text/markdown")},
    )
    assert response.status_code == 201
    header = header_of(stack)
    assert (header.filename, header.media_type, header.collection_name) == (
        "notes.md",
        "text/markdown",
        "handbook",
    )
    assert header.replace
    assert b"".join(stack.backend.received) == DATA


async def test_content_that_is_there_already_answers_200(stack: Stack) -> None:
    stack.backend.present = True
    response = await stack.client.post(URL, content=b"x", params={"filename": "a.md"})
    assert response.status_code == 200
    assert response.json()["already_present"]


async def test_a_refusal_reaches_a_client_that_is_still_sending(stack: Stack) -> None:
    stack.backend.failure = AcervoError(reasons.ERROR_REASON_FILE_KIND_UNSUPPORTED)
    response = await stack.client.post(URL, content=DATA * 4, params={"filename": "a.exe"})
    assert response.status_code == 415
    assert response.json()["error"]["reason"] == "FILE_KIND_UNSUPPORTED"


WRONG: dict[str, tuple[dict[str, str], str]] = {
    "an unknown parameter": ({"colour": "red"}, "colour"),
    "a hash that is none": ({"sha256": "xyz"}, "sha256"),
    "a lane that is none": ({"lane": "fast"}, "lane"),
    "a size that is none": ({"size": "-1"}, "size"),
    "a configuration that is no JSON": ({"ingestion_config": "{"}, "ingestion_config"),
    "an unknown setting": ({"ingestion_config": '{"chunks": 1}'}, "ingestion_config.chunks"),
    "a setting that is no number": (
        {"ingestion_config": '{"chunk_size": "x"}'},
        "ingestion_config.chunk_size",
    ),
}


async def test_a_wrong_upload_is_told_which_field(stack: Stack, subtests: pytest.Subtests) -> None:
    for case, (params, path) in WRONG.items():
        with subtests.test(case):
            response = await stack.client.post(URL, content=b"x", params={"filename": "a.md", **params})
            assert response.status_code == 422
            assert [field["path"] for field in response.json()["error"]["details"]["fields"]] == [path]
    assert stack.backend.calls == []


def _form(*parts: tuple[str, bytes], end: str = "--X--\r\n") -> bytes:
    lines = [f"--X\r\n{head}\r\n\r\n".encode() + body + b"\r\n" for head, body in parts]
    return b"".join(lines) + end.encode()


_FIELD = 'content-disposition: form-data; name="collection_name"'
_FILE = 'content-disposition: form-data; name="file"; filename="a.md"'
BROKEN: dict[str, bytes] = {
    "without a file": _form((_FIELD, b"handbook")),
    "with fields after the file": _form((_FILE, b"x"), (_FIELD, b"handbook")),
    "that ends too early": _form((_FILE, b"x"), end=""),
    "that is none": b"nonsense",
}


def _named(name: str) -> str:
    return f'content-disposition: form-data; name="{name}"'


ENDLESS: dict[str, bytes] = {
    "a value": _form((_FIELD, b"x" * 100_000), (_FILE, b"x")),
    "values": _form(*((_named(f"f{n}"), b"x" * 10_000) for n in range(10)), (_FILE, b"x")),
    "lines before it": b"\r\n" * 100_000 + _form((_FILE, b"x")),
    "line ends in a value": _form((_FIELD, b"\r\n" * 50_000), (_FILE, b"x")),
}


async def test_a_form_without_end_before_its_file_is_refused(stack: Stack, subtests: pytest.Subtests) -> None:
    for case, body in ENDLESS.items():
        with subtests.test(case):
            response = await stack.client.post(
                URL, content=body, headers={"content-type": "multipart/form-data; boundary=X"}
            )
            assert (response.status_code, response.json()["error"]["reason"]) == (413, "MESSAGE_TOO_LARGE")
            assert str(MAX_FIELDS_BYTES) in response.json()["error"]["message"]
    assert stack.backend.calls == []


_HEADERS = "".join(f"\r\nx-{n}: 1" for n in range(MAX_PART_HEADERS))
CROWDED: dict[str, tuple[int, bytes]] = {
    "a name": (MAX_HEADER_BYTES, _form((_named("x" * MAX_HEADER_BYTES), b"x"), (_FILE, b"x"))),
    "a header": (MAX_HEADER_BYTES, _form((f"{_FIELD}\r\nx-a: {'x' * 100_000}", b"x"), (_FILE, b"x"))),
    "a file's name": (MAX_HEADER_BYTES, _form((_FILE.replace("a.md", "x" * 100_000), b"x"))),
    "headers": (MAX_PART_HEADERS, _form((f"{_FIELD}{_HEADERS}", b"x"), (_FILE, b"x"))),
    "parts": (MAX_PARTS, _form(*((_named(f"f{n}"), b"") for n in range(MAX_PARTS)), (_FILE, b"x"))),
}


async def test_a_form_with_more_to_read_than_any_real_one_is_told_the_limit(
    stack: Stack, subtests: pytest.Subtests
) -> None:
    for case, (limit, body) in CROWDED.items():
        with subtests.test(case):
            response = await stack.client.post(
                URL, content=body, headers={"content-type": "multipart/form-data; boundary=X"}
            )
            assert response.status_code == 422
            (field,) = response.json()["error"]["details"]["fields"]
            assert field["path"] == "body"
            assert f"more than {limit}" in field["message"]
    assert stack.backend.calls == []


async def test_a_form_of_many_fields_is_refused_in_few_words(stack: Stack) -> None:
    body = _form(*((_named(f"f{n}"), b"") for n in range(MAX_PARTS - 1)), (_FILE, b"x"))
    response = await stack.client.post(
        URL, content=body, headers={"content-type": "multipart/form-data; boundary=X"}
    )
    assert response.status_code == 422
    assert len(response.json()["error"]["details"]["fields"]) == 10


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "Application/X-WWW-Form-URLencoded; a=b"]
)
async def test_what_curl_declares_unasked_declares_nothing(stack: Stack, kind: str) -> None:
    await stack.client.post(URL, content=b"x", params={"filename": "a.md"}, headers={"content-type": kind})
    assert header_of(stack).media_type == ""


async def test_a_broken_form_is_refused(stack: Stack, subtests: pytest.Subtests) -> None:
    for case, body in BROKEN.items():
        with subtests.test(case):
            response = await stack.client.post(
                URL, content=body, headers={"content-type": "multipart/form-data; boundary=X"}
            )
            assert response.status_code == 422
            assert response.json()["error"]["details"]["fields"][0]["path"] == "body"
    for boundary in ("", "; boundary=", f"; boundary={'x' * 300}"):
        response = await stack.client.post(
            URL, content=b"x", headers={"content-type": f"multipart/form-data{boundary}"}
        )
        assert response.status_code == 422


async def test_a_client_who_goes_ends_the_upload(stack: Stack) -> None:
    async def stream() -> AsyncIterator[bytes]:
        yield DATA
        await asyncio.Event().wait()

    upload: asyncio.Task[Any] = asyncio.create_task(
        stack.client.post(URL, content=stream(), params={"filename": "a.md"})
    )
    async with asyncio.timeout(10):
        while not stack.backend.received:  # noqa: ASYNC110 - the backend runs in this loop
            await asyncio.sleep(0.01)
    upload.cancel()
    await asyncio.wait_for(stack.backend.left.wait(), 10)
