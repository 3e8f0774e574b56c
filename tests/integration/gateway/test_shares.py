"""What lasts is shared: one person has some streams and uploads at a time, and the others have theirs."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from services.gateway import events, uploads
from services.shared import client
from services.shared.errors import NotFound
from tests.integration.gateway.raw import Raw, connected, request
from tests.integration.gateway.stack import DOCUMENT_ID, Stack, running, spellings

EVENTS = f"GET /api/v1/documents/{DOCUMENT_ID}/events"
SEARCH = "POST /api/v1/search"
UPLOAD = "POST /api/v1/documents?filename=a.md"
FORM = "multipart/form-data; boundary=X"
Eventually = Callable[..., Awaitable[None]]


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncIterator[Stack]:
    async with running(tmp_path) as stack:
        yield stack


async def watching(stack: Stack, opened: AsyncExitStack, token: str) -> Raw:
    one = await opened.enter_async_context(connected(stack))
    one.send(request(EVENTS, token=token))
    assert b"200 OK" in await one.head()
    return one


async def test_streams_are_limited_for_each_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eventually: Eventually
) -> None:
    monkeypatch.setattr(events, "MAX_STREAMS_EACH", 3)
    async with running(tmp_path) as stack:
        await limited_for_each_person(stack, eventually)


async def limited_for_each_person(stack: Stack, eventually: Eventually) -> None:
    ana, ben = stack.trust.person("ana"), stack.trust.person("ben")
    others = iter(spellings(stack))

    async def again() -> bool:
        async with connected(stack) as one:
            one.send(request(EVENTS, token=ana))
            return b"200 OK" in await one.head()

    async with AsyncExitStack() as opened:
        for _ in range(events.MAX_STREAMS_EACH - 1):
            await watching(stack, opened, next(others))
        async with AsyncExitStack() as last:
            await watching(stack, last, next(others))
            for token in spellings(stack):
                async with connected(stack) as one:
                    one.send(request(EVENTS, token=token))
                    answer = await one.answer()
                assert (answer.status, answer.reason) == (429, "OVERLOADED")
                assert f"{events.MAX_STREAMS_EACH} event streams" in answer.body.decode()
            await watching(stack, opened, ben)
        await eventually(again)


async def test_refused_watches_take_no_place(stack: Stack) -> None:
    stack.backend.failure = NotFound("document")
    for _ in range(events.MAX_STREAMS_EACH + 1):
        assert (await stack.client.get(EVENTS.removeprefix("GET "))).status_code == 404


async def test_ordinary_calls_go_on_whatever_watchers_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eventually: Eventually
) -> None:
    monkeypatch.setattr(events, "MAX_STREAMS", 1000)
    monkeypatch.setattr(events, "MAX_STREAMS_EACH", 1000)

    async with running(tmp_path) as stack, AsyncExitStack() as opened:

        async def full() -> bool:
            return stack.backend.watching >= client.MAX_STREAMS

        for number in range(client.MAX_STREAMS + 4):
            one = await opened.enter_async_context(connected(stack))
            one.send(request(EVENTS, token=stack.trust.person(f"person-{number % 8}")))
        await eventually(full)
        assert (await stack.client.get(f"/api/v1/documents/{DOCUMENT_ID}")).status_code == 200


def test_one_connection_carries_all_that_lasts() -> None:
    assert max(events.MAX_STREAMS, uploads.MAX_UPLOADS) < client.MAX_STREAMS


async def test_uploads_are_limited_for_each_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eventually: Eventually
) -> None:
    monkeypatch.setattr(uploads, "MAX_UPLOADS_EACH", 2)

    async with running(tmp_path) as stack, AsyncExitStack() as opened:

        async def begun() -> bool:
            return len(stack.backend.calls) == 2

        first, second, *more = spellings(stack)
        for token in (first, second):
            one = await opened.enter_async_context(connected(stack))
            one.send(request(UPLOAD, "content-length: 10", token=token, body=b"x"))
        await eventually(begun)
        for token, status in (*((one, 429) for one in more), (stack.trust.person("ben"), 201)):
            async with connected(stack) as one:
                one.send(request(UPLOAD, "content-length: 1", token=token, body=b"x"))
                assert (await one.answer()).status == status
