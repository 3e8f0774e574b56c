import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from acervo.ingest.v1 import documents_pb2
from services.shared.errors import NotFound
from tests.integration.gateway.stack import DOCUMENT_ID, DONE, Stack, running

URL = f"/api/v1/documents/{DOCUMENT_ID}/events"
Change = documents_pb2.WatchDocumentsResponse


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncIterator[Stack]:
    async with running(tmp_path) as stack:
        yield stack


async def events(response: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    """All events of a stream, once it has ended."""
    text = (await response.aread()).decode()
    blocks = [block.split("\n") for block in text.split("\n\n") if block.startswith("event: ")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


async def test_a_document_is_sent_as_it_is_and_at_each_change(stack: Stack) -> None:
    stack.backend.changes.put_nowait(Change(document=DONE))
    stack.backend.changes.put_nowait(None)
    async with stack.client.stream("GET", URL) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        told = await events(response)
    assert [(name, document["status"]) for name, document in told] == [
        ("document", "processing"),
        ("document", "done"),
    ]


async def test_a_deleted_document_is_told(stack: Stack) -> None:
    stack.backend.changes.put_nowait(Change(document=documents_pb2.Document(id=DOCUMENT_ID), deleted=True))
    stack.backend.changes.put_nowait(None)
    async with stack.client.stream("GET", URL) as response:
        told = await events(response)
    assert told[-1] == ("deleted", {"id": DOCUMENT_ID})


async def test_a_document_out_of_reach_has_no_stream(stack: Stack) -> None:
    stack.backend.failure = NotFound("document")
    response = await stack.client.get(URL)
    assert response.status_code == 404
    assert response.json()["error"]["reason"] == "NOT_FOUND"


async def test_losing_access_ends_the_stream_with_an_error(stack: Stack) -> None:
    stack.backend.changes.put_nowait(Change(document=documents_pb2.Document(id="lost")))
    async with stack.client.stream("GET", URL) as response:
        told = await events(response)
    assert (told[-1][0], told[-1][1]["error"]["reason"]) == ("error", "NOT_FOUND")


async def test_a_client_who_goes_ends_the_watch(stack: Stack) -> None:
    async with stack.client.stream("GET", URL):
        await asyncio.wait_for(stack.backend.watched.wait(), 10)
    await asyncio.wait_for(stack.backend.left.wait(), 10)


async def test_a_drain_ends_streams_and_says_so(stack: Stack) -> None:
    async with stack.client.stream("GET", URL) as response:
        await asyncio.wait_for(stack.backend.watched.wait(), 10)
        stack.gateway.stop()
        told = await events(response)
    assert [name for name, _ in told] == ["document"]
    await asyncio.wait_for(stack.backend.left.wait(), 10)
