import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.ingest.v1 import documents_pb2
from acervo.vectorstore.v1 import search_pb2
from acervoctl.stack.ports import free_port
from services.shared.errors import AcervoError
from tests.integration.gateway.stack import DOCUMENT_ID, Stack, overloaded, running
from tests.signing import Trust


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncIterator[Stack]:
    async with running(tmp_path) as stack:
        yield stack


def error(response: httpx.Response) -> dict[str, Any]:
    content: dict[str, Any] = response.json()["error"]
    assert set(content) == {"reason", "message", "advice", "request_id", "details"}
    assert content["request_id"] == response.headers["x-request-id"]
    return content


async def test_health_asks_nobody(stack: Stack) -> None:
    for path in ("/healthz", "/readyz"):
        response = await stack.client.get(path, headers={"authorization": ""})
        assert (response.status_code, response.json()) == (200, {"status": "ok"})


async def test_a_document_says_status_where_grpc_says_state(stack: Stack) -> None:
    response = await stack.client.get(f"/api/v1/documents/{DOCUMENT_ID}")
    assert response.status_code == 200
    document = response.json()["document"]
    assert (document["status"], document["stage"]) == ("processing", "parsing")
    assert document["sha256"] == "ab" * 32
    assert "state" not in document
    assert stack.backend.calls[0][0] == "ana"


async def test_an_absent_document_is_not_found(stack: Stack) -> None:
    response = await stack.client.get("/api/v1/documents/other")
    assert response.status_code == 404
    assert error(response)["reason"] == "NOT_FOUND"


async def test_documents_are_listed_by_page_and_status(stack: Stack) -> None:
    response = await stack.client.get(
        "/api/v1/documents",
        params={
            "collection_name": "handbook",
            "status": ["done", "error"],
            "page_size": 7,
            "page_token": "t",
        },
    )
    answer = response.json()
    assert [document["id"] for document in answer["documents"]] == [DOCUMENT_ID]
    assert answer["next_page_token"] == "next"
    assert answer["counts"] == {"processing": 1, "done": 0, "error": 0}
    states = [documents_pb2.DOCUMENT_STATE_DONE, documents_pb2.DOCUMENT_STATE_ERROR]
    assert stack.backend.calls[0][1] == documents_pb2.ListDocumentsRequest(
        collection_name="handbook", states=states, page_size=7, page_token="t"
    )


async def test_knowledge_bases_are_listed(stack: Stack) -> None:
    response = await stack.client.get("/api/v1/knowledge-bases", params={"page_size": 5})
    (base,) = response.json()["knowledge_bases"]
    assert (base["display_name"], base["scope"], base["organization_id"]) == ("Handbook", "personal", None)


async def test_a_search_answers_passages(stack: Stack) -> None:
    question = {"query": "what?", "collection_names": ["handbook"], "top_k": 3, "mode": "lexical"}
    response = await stack.client.post("/api/v1/search", json=question)
    (passage,) = response.json()["passages"]
    assert (passage["text"], passage["page"], passage["scores"]["fused"]) == ("found", 2, 0.5)
    assert stack.backend.calls[0][1] == search_pb2.SearchRequest(
        query="what?", collection_names=["handbook"], top_k=3, mode=search_pb2.SEARCH_MODE_LEXICAL
    )


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b'{"query": ""}', "query"),
        (b"{}", "query"),
        (b'{"query": "a", "top_k": "many"}', "top_k"),
        (b'{"query": "a", "mode": "best"}', "mode"),
        (b'{"query": "a", "filter": "x"}', "filter"),
        (b'{"query": "a", "knowledge_base_ids": [1]}', "knowledge_base_ids.0"),
        (b'{"query": "\\ud800"}', "query"),
        (b'{"query": "a", "top_k": 99999999999}', "top_k"),
        (b"[]", "body"),
        (b"nonsense", "body"),
        (b"[" * 100_000, "body"),
    ],
)
async def test_a_wrong_question_is_told_which_field(stack: Stack, body: bytes, path: str) -> None:
    response = await stack.client.post("/api/v1/search", content=body)
    assert response.status_code == 422
    (field,) = error(response)["details"]["fields"]
    assert field["path"] == path


@pytest.mark.parametrize("authorization", ["", "Basic x", "Bearer", "Bearer nonsense"])
async def test_without_a_good_token_nothing_is_answered(stack: Stack, authorization: str) -> None:
    for path in (f"/api/v1/documents/{DOCUMENT_ID}", "/api/v1/knowledge-bases"):
        response = await stack.client.get(path, headers={"authorization": authorization})
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"
        assert error(response)["reason"] == "TOKEN_INVALID"
    assert stack.backend.calls == []


async def test_an_answer_is_chosen_by_the_reason(stack: Stack) -> None:
    for reason, status in {
        reasons.ERROR_REASON_FILE_TOO_LARGE: 413,
        reasons.ERROR_REASON_FILE_KIND_UNSUPPORTED: 415,
        reasons.ERROR_REASON_FIELD_INVALID: 422,
        reasons.ERROR_REASON_NAME_TAKEN: 409,
        reasons.ERROR_REASON_SERVICES_ONLY: 403,
    }.items():
        stack.backend.failure = AcervoError(reason)
        response = await stack.client.get("/api/v1/knowledge-bases")
        assert response.status_code == status
        assert error(response)["advice"]


async def test_a_full_service_is_asked_again_later(stack: Stack) -> None:
    stack.backend.failure = overloaded()
    response = await stack.client.get("/api/v1/knowledge-bases")
    assert response.status_code == 429
    assert response.headers["retry-after"] == "1"


async def test_a_service_that_is_down_is_unavailable(stack: Stack) -> None:
    await stack.server.stop(0)
    response = await stack.client.get("/api/v1/knowledge-bases")
    assert response.status_code == 503
    assert error(response)["reason"] == "UNAVAILABLE"


async def test_an_unforeseen_error_tells_an_id_and_nothing_else(stack: Stack) -> None:
    stack.backend.failure = KeyError("a secret")
    response = await stack.client.get("/api/v1/knowledge-bases", headers={"x-request-id": "mine"})
    assert response.status_code == 500
    assert error(response)["request_id"] == "mine"
    assert "secret" not in response.text


async def test_unknown_paths_and_methods_are_refused_in_the_same_form(stack: Stack) -> None:
    assert error(await stack.client.get("/api/v1/nothing"))["reason"] == "NOT_FOUND"
    for method, path, allowed in (
        ("DELETE", "/api/v1/search", {"POST"}),
        ("DELETE", "/api/v1/documents", {"GET", "HEAD", "POST"}),
        ("HEAD", f"/api/v1/documents/{DOCUMENT_ID}/events", {"GET"}),
    ):
        response = await stack.client.request(method, path)
        assert response.status_code == 405
        assert set(response.headers["allow"].split(", ")) == allowed
        if method != "HEAD":
            assert error(response)["reason"] == "METHOD_NOT_ALLOWED"


async def test_no_path_sends_a_client_elsewhere(stack: Stack) -> None:
    response = await stack.client.get("/api/v1/documents/", headers={"host": "evil.example"})
    assert (response.status_code, error(response)["reason"]) == (404, "NOT_FOUND")


async def test_no_other_origin_is_let_in(stack: Stack) -> None:
    response = await stack.client.get("/healthz", headers={"origin": "https://evil.example"})
    assert not [name for name in response.headers if name.startswith("access-control-")]


async def test_answers_are_neither_kept_nor_guessed_at(stack: Stack) -> None:
    response = await stack.client.get("/api/v1/knowledge-bases")
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "server" not in response.headers


async def test_the_process_serves_until_it_is_asked_to_end(
    tmp_path: Path, eventually: Callable[..., Awaitable[None]]
) -> None:
    port = free_port(set())
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.gateway"),
        env={
            **os.environ,
            "ACERVO_LISTEN": f"127.0.0.1:{port}",
            "ACERVO_ISSUERS": str(Trust(tmp_path).issuers),
        },
        stderr=asyncio.subprocess.PIPE,
    )
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:

        async def serves() -> bool:
            try:
                return (await client.get("/healthz")).status_code == 200
            except httpx.TransportError:
                return False

        await eventually(serves)
    process.send_signal(signal.SIGTERM)
    _, logged = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 0
    assert json.loads(logged.splitlines()[0])["message"] == "serving"
