"""Grants to agents: what they open, and bases that agents hold."""

from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.common.v1 import error_reason_pb2 as reasons
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from tests.integration.access.callers import ADMIN, Access, person_id, refusal


def idof(name: str) -> str:
    return str(person_id(name))


async def test_an_agent_reaches_what_was_granted_to_it_by_id_and_nothing_else(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    agent = await access.register("ana", acme)
    bound, other = await access.private_base("ana", acme), await access.private_base("ana", acme)
    await access.grant("ana", bound, agent_id=agent)
    for acting_for in ("ana", "bea"):
        assert await access.may(access.agent(acting_for, agent), bound) == "view"
        assert await access.may(access.agent(acting_for, agent), other) == ""
    assert await access.may(access.agent("ana", await access.register("ana", acme)), bound) == ""
    answer = await access.bases.ListKnowledgeBases(
        kb.ListKnowledgeBasesRequest(), **access.agent("bea", agent)
    )
    assert [base.id for base in answer.knowledge_bases] == [bound]


async def test_an_agent_bound_to_one_base_of_a_name_searches_that_one(access: Access) -> None:
    acme = await access.organization("ana")
    agent = await access.register("ana", acme)
    fields = {"scope": kb.SCOPE_ORG, "organization_id": acme, "collection_name": "handbook"}
    bound, _ = await access.base("ana", **fields), await access.base("ana", **fields)
    await access.grant("ana", bound.id, agent_id=agent)
    assert await access.resolve(access.agent("ana", agent), names=("handbook",)) == {bound.id}


async def test_an_agent_loses_with_the_person_it_acts_for(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    agent = await access.register("ana", acme)
    base = await access.private_base("ana", acme)
    await access.grant("ana", base, agent_id=agent)
    assert await access.may(access.agent("zoe", agent), base) == ""
    await access.remove("ana", acme, "bea")
    assert await access.may(access.agent("bea", agent), base) == ""
    assert await access.may(access.agent("ana", agent), base) == "view"


async def test_a_personal_base_is_granted_to_an_agent_that_acts_for_its_owner_and_to_nobody_else(
    access: Access,
) -> None:
    agent = await access.register("ana")
    base = (await access.base("ana")).id
    await access.grant_edit("ana", base, agent_id=agent)
    assert await access.may(access.agent("ana", agent), base) == "view edit"
    assert await access.may(access.agent("bea", agent), base) == ""
    refused = from_rpc_error(await refusal(access.grant("ana", base, user_id=idof("bea"))))
    assert [violation.path for violation in refused.fields] == ["knowledge_base_id"]


async def test_an_app_base_is_granted_to_agents_for_viewing_by_the_deployments_admin(access: Access) -> None:
    agent = await access.register(ADMIN)
    base = (await access.base(ADMIN, scope=kb.SCOPE_APP)).id
    assert from_rpc_error(await refusal(access.grant("ana", base, agent_id=agent))).metadata == {
        "kind": "knowledge_base"
    }
    await access.grant(ADMIN, base, agent_id=agent)
    assert await access.may(access.agent("zoe", agent), base) == "view"
    refused = from_rpc_error(await refusal(access.grant_edit(ADMIN, base, agent_id=agent)))
    assert [violation.path for violation in refused.fields] == ["permission"]


async def test_a_base_that_agents_hold_is_not_deleted_and_those_that_one_may_see_are_named(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana", bea=org.ROLE_MEMBER, cem=org.ROLE_VIEWER)
    base = await access.private_base("bea", acme)
    await access.grant_edit("ana", base, user_id=idof("cem"))
    agents = [await access.register("ana", acme, name) for name in ("Clerk", "Scout")]
    grants = [await access.grant("bea", base, agent_id=agent) for agent in agents]
    for name in ("ana", "bea"):
        refused = from_rpc_error(await refusal(access.delete(name, base)))
        assert refused.reason == reasons.ERROR_REASON_BASE_IN_USE
        assert refused.metadata == {"agents": ",".join(agents)}
        assert refused.message == (
            f"Agents hold this knowledge base: Clerk ({agents[0]}), Scout ({agents[1]})."
        )
    hidden = from_rpc_error(await refusal(access.delete("cem", base)))
    assert hidden.reason == reasons.ERROR_REASON_BASE_IN_USE
    assert hidden.metadata == {}
    assert not any(told in hidden.message for told in ("Clerk", "Scout", *agents))
    assert await pool.fetchval("SELECT count(*) FROM teardowns") == 0
    for grant in grants:
        await access.revoke("bea", grant.id)
    await access.delete("cem", base)
    assert await pool.fetchval("SELECT count(*) FROM grants") == 0


async def test_who_may_not_see_the_agents_is_still_told_of_those_one_granted_oneself(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_BUILDER)
    agent = await access.register("ana", acme)
    base = await access.private_base("ana", acme)
    await access.grant_edit("ana", base, user_id=idof("bea"))
    await access.grant("ana", base, agent_id=await access.register("ana", acme))
    await access.grant("bea", base, agent_id=agent)
    await access.add("ana", acme, "bea", org.ROLE_VIEWER)
    assert from_rpc_error(await refusal(access.delete("bea", base))).metadata == {"agents": agent}


async def test_a_default_base_is_emptied_under_the_agents_that_hold_it(access: Access) -> None:
    acme = await access.organization("ana")
    agent = await access.register("ana", acme)
    request = kb.ListKnowledgeBasesRequest(organization_id=acme)
    (default,) = (await access.bases.ListKnowledgeBases(request, **access.person("ana"))).knowledge_bases
    await access.grant("ana", default.id, agent_id=agent)
    await access.delete("ana", default.id)
    assert await access.may(access.agent("ana", agent), default.id) == "view"
