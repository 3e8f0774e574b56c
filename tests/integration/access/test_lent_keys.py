"""A key goes where whoever lends it says, and nowhere that somebody else said before."""

from typing import Any

import pytest

from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from services.shared.client import from_rpc_error
from tests.integration.access.callers import Access, refusal
from tests.integration.access.test_embedding_settings import MODEL, URL, get, key, openai_base

NAMED = "embedding_base_url"


@pytest.fixture
async def acme(access: Access) -> str:
    return await access.organization("ada", bob=org.ROLE_BUILDER)


async def paths(call: Any) -> list[str]:
    return [field.path for field in from_rpc_error(await refusal(call)).fields]


async def test_no_address_of_another_organization_comes_with_a_name(access: Access, acme: str) -> None:
    evil = await access.organization("eve", ada=org.ROLE_BUILDER)
    theirs = await key(access, "eve", evil)
    await openai_base(access, "eve", evil, theirs, collection_name="handbook", embedding_base_url=URL)
    ours = await key(access, "ada", acme)
    base = await openai_base(access, "ada", acme, ours, collection_name="handbook")
    assert (base.embedding_base_url, base.embedding_secret_id) == ("", ours)
    other = {"scope": kb.SCOPE_ORG, "organization_id": acme, "collection_name": "handbook"}
    adopted = await access.base("ada", **other)
    assert (adopted.embedding_provider, adopted.embedding_base_url) == ("openai", "")


async def test_a_key_that_is_named_goes_to_no_address_that_is_not(access: Access, acme: str) -> None:
    ours = await key(access, "ada", acme)
    base = await openai_base(access, "ada", acme, ours)
    assert await refusal(access.update("bob", base.id, embedding_base_url=URL))
    await access.update("bob", base.id, embedding_secret_id="")
    await access.update("bob", base.id, embedding_base_url=URL)
    assert await paths(access.update("ada", base.id, embedding_secret_id=ours)) == [NAMED]
    assert not (await get(access, "ada", base.id)).embedding_secret_id
    for address in ("", URL):
        said = {"embedding_secret_id": ours, NAMED: address}
        assert (await access.update("ada", base.id, **said)).embedding_base_url == address


async def test_a_key_that_is_named_for_a_held_name_goes_to_no_adopted_address(
    access: Access, acme: str
) -> None:
    ours = await key(access, "ada", acme)
    await openai_base(access, "ada", acme, ours, collection_name="handbook", embedding_base_url=URL)
    assert await paths(openai_base(access, "ada", acme, ours, collection_name="handbook")) == [NAMED]


async def test_managing_a_base_lets_nobody_edit_it_besides(access: Access, acme: str) -> None:
    await access.add("ada", acme, "bea", org.ROLE_MEMBER)
    base = await access.base("bea", scope=kb.SCOPE_ORG, organization_id=acme)
    await access.add("ada", acme, "bea", org.ROLE_VIEWER)
    shown = {"visibility": kb.VISIBILITY_ORG}
    for besides in ({"display_name": "Mine"}, {"embedding_provider": "local"}):
        told = await refusal(access.update("bea", base.id, **shown, **besides))
        assert told.details() == "There is no such knowledge base."
    assert (await get(access, "ada", base.id)).display_name == base.display_name
    assert (await access.update("bea", base.id, **shown)).visibility == kb.VISIBILITY_ORG


async def test_who_manages_and_does_not_edit_is_not_told_the_key(access: Access, acme: str) -> None:
    await access.add("ada", acme, "bea", org.ROLE_MEMBER)
    base = await access.base(
        "bea", scope=kb.SCOPE_ORG, organization_id=acme, embedding=MODEL, visibility=kb.VISIBILITY_PRIVATE
    )
    ours = await key(access, "ada", acme)
    await access.update("ada", base.id, embedding_provider="openai", embedding_secret_id=ours)
    await access.add("ada", acme, "bea", org.ROLE_VIEWER)
    assert not (await access.update("bea", base.id, visibility=kb.VISIBILITY_ORG)).embedding_secret_id


async def test_an_agent_changes_nothing_of_who_serves_a_base(access: Access, acme: str) -> None:
    base = await access.base("ada", scope=kb.SCOPE_ORG, organization_id=acme)
    agent = await access.register("ada", acme)
    await access.grant_edit("ada", base.id, agent_id=agent)
    as_agent = access.agent("ada", agent)
    request = kb.UpdateKnowledgeBaseRequest(knowledge_base_id=base.id, embedding_provider="local")
    request.update_mask.paths.append("embedding_provider")
    told = await refusal(access.bases.UpdateKnowledgeBase(request, **as_agent))
    assert told.details() == "There is no such knowledge base."
    request.display_name, request.update_mask.paths[0] = "Mine", "display_name"
    await access.bases.UpdateKnowledgeBase(request, **as_agent)


async def test_who_may_not_makes_access_ask_for_no_address(
    access: Access, acme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def ask(path: str, url: str, allowed: object) -> None:
        asked.append(url)

    monkeypatch.setattr("services.access.rpc.knowledge_bases.check_outward", ask)
    base = await access.base("ada", scope=kb.SCOPE_ORG, organization_id=acme)
    assert await refusal(access.update("eve", base.id, embedding_base_url=URL))
    assert await refusal(openai_base(access, "eve", acme, acme, embedding_base_url=URL))
    assert not asked
    await openai_base(access, "ada", acme, await key(access, "ada", acme), embedding_base_url=URL)
    assert asked == [URL]
