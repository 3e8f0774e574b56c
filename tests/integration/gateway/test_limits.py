"""Whoever sends too much, too slowly or too little is refused, and holds nobody else up."""

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import h11
import pytest

from acervo.ingest.v1 import documents_pb2
from services.gateway import body, connections, door
from services.gateway.connections import MAX_HEAD_BYTES
from services.gateway.decode import MAX_JSON_BYTES
from services.shared import interceptors
from tests.integration.gateway.raw import Raw, connected, request
from tests.integration.gateway.stack import DOCUMENT_ID, SILENT, Stack, running, spellings
from tests.signing import PEOPLE, Signer

EVENTS = f"GET /api/v1/documents/{DOCUMENT_ID}/events"
SEARCH = "POST /api/v1/search"
UPLOAD = "POST /api/v1/documents?filename=a.md"
FORM = "multipart/form-data; boundary=X"
Eventually = Callable[..., Awaitable[None]]


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncIterator[Stack]:
    async with running(tmp_path) as stack:
        yield stack


async def healthy(stack: Stack) -> bool:
    return (await stack.client.get("/healthz")).status_code == 200


async def test_half_sent_requests_keep_nobody_out(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, eventually: Eventually
) -> None:
    monkeypatch.setattr(connections, "MAX_WAITING", 4)
    async with AsyncExitStack() as opened:
        held = [await opened.enter_async_context(connected(stack)) for _ in range(40)]
        for one in held:
            one.send(b"GET /healthz HTTP/1.1\r\nx-a: ")
        assert await healthy(stack)
        for one in held[:30]:
            await eventually(one.closed)


@pytest.mark.parametrize("begun", ["", "G", "GET /healthz HTTP/1.1\r\nhost: x\r\n"])
async def test_a_head_has_its_time_however_it_comes(
    stack: Stack, begun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 1.0)
    async with connected(stack) as one:
        one.send(begun.encode())
        if begun:
            answer = await one.answer()
            assert (answer.status, answer.reason) == (408, "REQUEST_TOO_SLOW")
        assert await one.rest() == b""


async def drip(one: Raw, part: bytes) -> None:
    while not await one.closed():
        one.send(part)
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("before", [b"", request("GET /healthz"), request(SEARCH, "content-length: 99999")])
async def test_a_dripping_head_gets_no_more_time(
    stack: Stack, before: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 1.0)
    async with connected(stack) as one:
        if before:
            one.send(before)
            assert (await one.answer()).status in (200, 401)
        await asyncio.wait_for(drip(one, b"x"), 20)


@pytest.mark.parametrize("line", [SEARCH, UPLOAD])
async def test_a_body_that_stops_is_refused(
    stack: Stack, line: str, monkeypatch: pytest.MonkeyPatch, eventually: Eventually
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 1.0)
    monkeypatch.setattr(body, "PATIENCE_SECONDS", 0.2)
    async with connected(stack) as one:
        one.send(request(line, "content-length: 1000", token=stack.trust.person("ana"), body=b"{"))
        answer = await one.answer()
        assert (answer.status, answer.reason) == (408, "REQUEST_TOO_SLOW")
        assert await one.rest() == b""
    if line == UPLOAD:
        await asyncio.wait_for(stack.backend.left.wait(), 10)


async def test_a_body_that_drips_is_refused(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 1.0)
    monkeypatch.setattr(body, "PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(body, "MIN_BYTES_PER_SECOND", 1 << 20)
    async with connected(stack) as one:
        one.send(request(UPLOAD, "content-length: 100000", token=stack.trust.person("ana")))
        dripping = asyncio.create_task(drip(one, b"x"))
        assert (await one.answer()).status == 408
        await asyncio.wait_for(dripping, 20)


@pytest.mark.parametrize("kind", ["text/markdown", "multipart/form-data; boundary=X"])
async def test_an_upload_without_a_good_token_is_refused_before_its_body_came(
    stack: Stack, kind: str
) -> None:
    async with connected(stack) as one:
        one.send(request(UPLOAD, f"content-type: {kind}", "content-length: 1000", token="nonsense"))
        answer = await one.answer()
    assert (answer.status, answer.reason) == (401, "TOKEN_INVALID")


def strangers(stack: Stack) -> list[str]:
    """Tokens that are no good."""
    forger = Signer(PEOPLE)
    return [
        "",
        "nonsense",
        forger.sign(),
        stack.trust.people.sign(exp=1),
        stack.trust.service("sync", "gateway"),
    ]


async def half_sent(stack: Stack, opened: AsyncExitStack, line: str, token: str) -> Raw:
    one = await opened.enter_async_context(connected(stack))
    one.send(request(line, "content-length: 1000", f"content-type: {FORM}", token=token, body=b"{"))
    return one


@pytest.mark.parametrize("line", [SEARCH, UPLOAD])
async def test_whoever_is_not_known_is_refused_before_their_body_came_and_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr(door, "MAX_REQUESTS", 2)
    async with running(tmp_path) as stack, AsyncExitStack() as opened:
        held = [await half_sent(stack, opened, line, token) for token in strangers(stack)]
        assert (await stack.client.get("/api/v1/knowledge-bases")).status_code == 200
        for one in held:
            answer = await one.answer()
            assert (answer.status, answer.reason) == (401, "TOKEN_INVALID")
        assert [subject for subject, _ in stack.backend.calls] == ["ana"]


async def test_one_person_keeps_nobody_else_out_with_half_sent_bodies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "MAX_REQUESTS_EACH", 2)
    async with running(tmp_path) as stack, AsyncExitStack() as opened:
        held = [await half_sent(stack, opened, SEARCH, token) for token in spellings(stack)]
        for one in held[2:]:
            answer = await one.answer()
            assert (answer.status, answer.reason) == (429, "OVERLOADED")
        ben = {"authorization": f"Bearer {stack.trust.person('ben')}"}
        assert (await stack.client.get("/api/v1/knowledge-bases", headers=ben)).status_code == 200
        assert await healthy(stack)


async def test_an_issuer_that_is_silent_keeps_out_its_own_people_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interceptors, "MAX_ANONYMOUS_CALLS", 2)
    silent = socket.create_server(("127.0.0.1", 0))
    async with running(tmp_path, silent) as stack, AsyncExitStack() as opened:
        token = Signer(SILENT).sign()
        waiting = [await half_sent(stack, opened, SEARCH, token) for _ in range(4)]
        for one in waiting[:2]:
            answer = await one.answer()
            assert (answer.status, answer.reason) == (429, "OVERLOADED")
        assert (await stack.client.get("/api/v1/knowledge-bases")).status_code == 200


async def test_more_requests_than_there_is_room_for_are_refused_and_health_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "MAX_REQUESTS", 2)
    async with running(tmp_path) as stack, AsyncExitStack() as opened:
        for _ in range(2):
            await opened.enter_async_context(stack.client.stream("GET", EVENTS.removeprefix("GET ")))
        refused = await stack.client.get("/api/v1/knowledge-bases")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert refused.json()["error"]["reason"] == "OVERLOADED"
        assert await healthy(stack)


async def test_an_answer_that_nobody_reads_is_given_up(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNREAD_SECONDS", 0.2)
    large = documents_pb2.WatchDocumentsResponse(
        document=documents_pb2.Document(id=DOCUMENT_ID, filename="x" * 1_000_000)
    )
    async with connected(stack) as one:
        one.pause()
        one.send(request(EVENTS, token=stack.trust.person("ana")))
        for _ in range(30):
            stack.backend.changes.put_nowait(large)
        await asyncio.wait_for(stack.backend.left.wait(), 20)


TOO_LONG = {
    "a path": request(f"GET /{'x' * 60_000}"),
    "a document's id": request(f"GET /api/v1/documents/{'%41' * 20_000}"),
    "a query": request(f"GET /api/v1/documents?page_token={'x' * 60_000}"),
    "a header": request("GET /api/v1/documents", f"x-a: {'x' * 60_000}"),
    "a token": request("GET /api/v1/documents", token="x" * 60_000),
    "many headers": request("GET /api/v1/documents", *(f"x-{number}: 1" for number in range(4000))),
    "an endless header": b"GET / HTTP/1.1\r\nx-a: " + b"x" * (1 << 20),
}


async def test_a_head_that_is_too_long_is_refused(stack: Stack, subtests: pytest.Subtests) -> None:
    for case, sent in TOO_LONG.items():
        with subtests.test(case):
            async with connected(stack) as one:
                one.send(sent)
                answer = await one.answer()
                assert (answer.status, answer.reason) == (431, "MESSAGE_TOO_LARGE")
                assert str(MAX_HEAD_BYTES) in answer.body.decode()
    assert await healthy(stack)


async def test_a_token_that_no_service_takes_reaches_none(stack: Stack) -> None:
    response = await stack.client.get(
        "/api/v1/knowledge-bases", headers={"authorization": f"Bearer {'x' * 20_000}"}
    )
    assert (response.status_code, response.json()["error"]["reason"]) == (401, "TOKEN_INVALID")


@pytest.mark.parametrize(
    "sent", [b"\x16\x03\x01 is TLS\r\n\r\n", b"hello\r\n\r\n", b"GET  / HTTP/1.1\r\n\r\n"]
)
async def test_what_is_no_http_is_refused(stack: Stack, sent: bytes) -> None:
    async with connected(stack) as one:
        one.send(sent)
        answer = await one.answer()
        assert (answer.status, answer.reason) == (400, "REQUEST_MALFORMED")
        assert await one.rest() == b""


async def test_tiny_chunks_are_handled_a_few_in_a_turn(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    handled: Counter[int] = Counter()
    turn = 0
    parse = h11.Connection.next_event

    def next_event(parser: h11.Connection) -> object:
        handled[turn] += 1
        return parse(parser)

    async def count_turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(h11.Connection, "next_event", next_event)
    counting = asyncio.create_task(count_turns())
    async with connected(stack) as one:
        one.send(request(UPLOAD, "transfer-encoding: chunked", token=stack.trust.person("ana")))
        one.send(b"1\r\nx\r\n" * 30_000 + b"0\r\n\r\n")
        assert (await one.answer()).status == 201
    counting.cancel()
    assert b"".join(stack.backend.received) == b"x" * 30_000
    assert max(handled.values()) <= 4 * connections.EVENTS_AT_ONCE


async def test_small_answers_do_not_wait_for_acknowledgements(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[socket.socket] = []
    enter = connections.Lobby.enter

    def note(lobby: connections.Lobby, connection: connections.Connection) -> None:
        made.append(connection.transport.get_extra_info("socket"))
        enter(lobby, connection)

    monkeypatch.setattr(connections.Lobby, "enter", note)
    assert await healthy(stack)
    assert made[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_a_body_that_breaks_ends_its_upload(stack: Stack, eventually: Eventually) -> None:
    async def received() -> bool:
        return bool(stack.backend.received)

    async with connected(stack) as one:
        one.send(request(UPLOAD, "transfer-encoding: chunked", token=stack.trust.person("ana")))
        one.send(b"40000\r\n" + b"x" * 0x40000 + b"\r\n")
        await eventually(received)
        one.send(b"no length\r\n")
        answer = await one.answer()
        assert (answer.status, answer.reason) == (400, "REQUEST_MALFORMED")
    await asyncio.wait_for(stack.backend.left.wait(), 10)


async def test_a_request_that_breaks_while_it_is_answered_ends(stack: Stack) -> None:
    async with connected(stack) as one:
        one.send(request(EVENTS, "transfer-encoding: chunked", token=stack.trust.person("ana")))
        await one.head()
        one.send(b"no length\r\n")
        assert b"event: document" in await one.rest()
    await asyncio.wait_for(stack.backend.left.wait(), 10)


HEAVY = {
    "deep": b"[" * 120_000,
    "deep in a field": b'{"query": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "a huge number": b'{"query": "a", "top_k": ' + b"9" * 100_000 + b"}",
    "a number without end": b'{"query": "a", "top_k": 1e999999999}',
    "many fields": b'{"query": "a"' + b"".join(b', "f%d": 1' % n for n in range(9000)) + b"}",
    "a long name": b'{"query": "a", "' + b"x" * 100_000 + b'": 1}',
    "many ids": b'{"query": "a", "knowledge_base_ids": [' + b"1," * 60_000 + b"1]}",
    "nothing known": b'{"query": NaN}',
}


async def test_heavy_json_is_refused_in_few_words(stack: Stack, subtests: pytest.Subtests) -> None:
    for case, content in HEAVY.items():
        with subtests.test(case):
            response, alive = await asyncio.gather(
                stack.client.post("/api/v1/search", content=content), healthy(stack)
            )
            assert response.status_code == 422
            assert len(response.content) < 8192
            assert alive
    assert stack.backend.calls == []


async def test_json_that_is_too_large_says_the_limit(stack: Stack) -> None:
    response = await stack.client.post("/api/v1/search", content=b" " * (MAX_JSON_BYTES + 1))
    assert response.status_code == 413
    assert response.json()["error"]["reason"] == "MESSAGE_TOO_LARGE"
    assert str(MAX_JSON_BYTES) in response.json()["error"]["message"]
