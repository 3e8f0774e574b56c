"""Whoever is removed is refused by every service with the very next call, whatever the token says."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import httpx

from acervo.access.v1 import access_pb2
from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo_client import AcervoClient, AcervoError
from acervo_client.local import person_token
from acervoctl.people import person_id
from acervoctl.stack.stack import Stack
from tests.e2e.conftest import HASHING

TEXT = b"The lamp of the workshop is green."

Calls = Mapping[str, Callable[[], Awaitable[object]]]


async def _refused(calls: Calls) -> set[str]:
    """Which of the calls are answered as if what they name were not there."""
    found = set()
    for name, call in calls.items():
        try:
            await call()
        except AcervoError as error:
            if error.reason != "NOT_FOUND":
                raise
            found.add(name)
    return found


def _calls(client: AcervoClient, http: httpx.AsyncClient, base: str, document: str, path: Path) -> Calls:
    async def search_by_http() -> None:
        answer = await http.post("/api/v1/search", json={"query": "lamp", "knowledge_base_ids": [base]})
        if answer.is_error:
            raise AcervoError(answer.json()["error"]["reason"], "")

    return {
        "access": lambda: client.bases.get(base),
        "upload": lambda: client.documents.upload(path, knowledge_base_id=base),
        "ingest": lambda: client.documents.get(document),
        "vectorstore": lambda: client.search("lamp", knowledge_base_ids=[base]),
        "sync": lambda: client.sources.list(base),
        "gateway": search_by_http,
    }


async def test_a_removed_member_is_refused_by_every_service_with_the_next_call(
    stack: Stack, client: AcervoClient, tmp_path: Path
) -> None:
    path = tmp_path / "lamp.txt"
    path.write_bytes(TEXT)
    acme = await client.organizations.create("Acme")
    await client.organizations.put_member(acme.id, person_id("bea"), org.ROLE_BUILDER)
    base = await client.bases.create("Plans", scope=kb.SCOPE_ORG, organization_id=acme.id, embedding=HASHING)
    agent = await client.agents.create("Clerk", acme.id)
    await client.grants.add(base.id, access_pb2.PERMISSION_VIEW, agent_id=agent.id)
    document = (await client.documents.upload(path, knowledge_base_id=base.id)).document
    async for _ in client.documents.watch([document.id]):
        pass

    token = person_token(stack.home.root, "bea")
    agents_token = person_token(stack.home.root, "bea", agent_id=agent.id)
    async with (
        AcervoClient(stack.addresses, token) as bea,
        AcervoClient(stack.addresses, agents_token) as clerk,
        httpx.AsyncClient(base_url=stack.gateway_url, headers={"authorization": f"Bearer {token}"}) as http,
    ):
        calls = _calls(bea, http, base.id, document.id, path)
        assert await _refused(calls) == set()
        assert await clerk.search("lamp", knowledge_base_ids=[base.id])
        await client.organizations.remove_member(acme.id, person_id("bea"))
        assert await _refused(calls) == set(calls)
        assert await _refused({"agent": lambda: clerk.search("lamp", knowledge_base_ids=[base.id])}) == {
            "agent"
        }
