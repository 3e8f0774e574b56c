"""The registry of agents: who registers them, what they are granted, and how they end."""

import asyncio
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import pytest

from acervo.access.v1 import agents_pb2 as pb
from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.common.v1 import error_reason_pb2 as reasons
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from services.shared.ids import uuid7
from tests.integration.access.callers import ADMIN, STRANGE_AGENT, Access, person_id, refusal, told

MIGRATION = Path("services/access/migrations/0009_agents.sql")


async def listed(access: Access, reader: str, organization_id: str = "") -> list[str]:
    request = pb.ListAgentsRequest(organization_id=organization_id)
    return [agent.id for agent in (await access.agents.ListAgents(request, **access.person(reader))).agents]


async def base_of(access: Access, organization_id: str) -> str:
    return (await access.base("ana", scope=kb.SCOPE_ORG, organization_id=organization_id)).id


async def test_an_organizations_agents_are_seen_by_its_members_and_a_persons_by_the_person(
    access: Access,
) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    theirs, hers = await access.register("ana", acme), await access.register("ana")
    assert await listed(access, "bea", acme) == await listed(access, "ana", acme) == [theirs]
    assert await listed(access, "ana") == [hers]
    assert await listed(access, "bea") == []


async def test_a_new_agent_is_told_with_whose_it_is(access: Access) -> None:
    acme = await access.organization("ana")
    request = pb.CreateAgentRequest(organization_id=acme, display_name=" Clerk ")
    theirs = (await access.agents.CreateAgent(request, **access.person("ana"))).agent
    assert (theirs.organization_id, theirs.owner_user_id, theirs.display_name) == (acme, "", "Clerk")
    request = pb.CreateAgentRequest(display_name="Scout")
    hers = (await access.agents.CreateAgent(request, **access.person("ana"))).agent
    assert (hers.organization_id, hers.owner_user_id) == ("", access.id("ana"))


async def test_agents_are_listed_oldest_first_page_by_page(access: Access) -> None:
    made = [await access.register("ana") for _ in range(3)]
    request = pb.ListAgentsRequest(page_size=2)
    first = await access.agents.ListAgents(request, **access.person("ana"))
    request.page_token = first.next_page_token
    second = await access.agents.ListAgents(request, **access.person("ana"))
    assert [agent.id for agent in (*first.agents, *second.agents)] == made
    assert second.next_page_token == ""


async def test_an_agent_is_renamed_and_stays_the_one_it_was(access: Access) -> None:
    agent = await access.register("ana")
    request = pb.RenameAgentRequest(agent_id=agent, display_name="Scout")
    renamed = (await access.agents.RenameAgent(request, **access.person("ana"))).agent
    assert (renamed.id, renamed.display_name) == (agent, "Scout")


async def test_the_same_request_id_registers_one_agent(access: Access) -> None:
    request = pb.CreateAgentRequest(request_id=str(uuid4()), display_name="Clerk")
    made = [(await access.agents.CreateAgent(request, **access.person("ana"))).agent for _ in range(2)]
    assert made[0] == made[1]
    assert await listed(access, "ana") == [made[0].id]


async def test_an_agent_that_is_not_registered_is_granted_nothing_and_reaches_nothing(
    access: Access,
) -> None:
    acme = await access.organization("ana")
    base, app = await base_of(access, acme), (await access.base(ADMIN, scope=kb.SCOPE_APP)).id
    refused = from_rpc_error(await refusal(access.grant("ana", base, agent_id=STRANGE_AGENT)))
    assert refused.metadata == {"kind": "agent"}
    for one in (base, app):
        assert await access.may(access.agent("ana", STRANGE_AGENT), one) == ""


async def test_a_base_goes_to_agents_of_its_organization_and_one_of_none_to_its_owners_own(
    access: Access,
) -> None:
    acme = await access.organization("ana")
    theirs, hers, beas = (
        await access.register("ana", acme),
        await access.register("ana"),
        await access.register("bea"),
    )
    alone, within = await access.base("ana"), await access.base("ana", organization_id=acme)
    for base, right, wrong in (
        (await base_of(access, acme), theirs, (hers, beas)),
        (within.id, theirs, (hers, beas)),
        (alone.id, hers, (theirs, beas)),
    ):
        await access.grant("ana", base, agent_id=right)
        for other in wrong:
            refused = from_rpc_error(await refusal(access.grant("ana", base, agent_id=other)))
            assert refused.metadata == {"kind": "agent"}


async def test_an_app_base_goes_to_agents_of_the_admin_who_grants_it(access: Access) -> None:
    app = (await access.base(ADMIN, scope=kb.SCOPE_APP)).id
    refused = from_rpc_error(await refusal(access.grant(ADMIN, app, agent_id=await access.register("ana"))))
    assert refused.metadata == {"kind": "agent"}
    await access.grant(ADMIN, app, agent_id=await access.register(ADMIN))


async def test_an_organizations_agent_acts_for_members_alone(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    agent, base = await access.register("ana", acme), await base_of(access, acme)
    await access.grant("ana", base, agent_id=agent)
    assert await access.may(access.agent("bea", agent), base) == "view"
    assert await access.may(access.agent("zoe", agent), base) == ""
    await access.remove("ana", acme, "bea")
    assert await access.may(access.agent("bea", agent), base) == ""


async def test_a_deleted_agent_reaches_nothing_with_the_next_call_and_holds_nothing(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana")
    agent, other = await access.register("ana", acme), await access.register("ana", acme)
    base = await base_of(access, acme)
    for one in (agent, other):
        await access.grant("ana", base, agent_id=one)
    await access.dismiss("ana", agent)
    assert await access.may(access.agent("ana", agent), base) == ""
    assert await access.may(access.agent("ana", other), base) == "view"
    assert await listed(access, "ana", acme) == [other]
    await access.dismiss("ana", other)
    await access.delete("ana", base)
    assert await pool.fetchval("SELECT count(*) FROM grants") == 0


async def test_an_organization_takes_its_agents_along(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana")
    agent = await access.register("ana", acme)
    await access.grant("ana", await base_of(access, acme), agent_id=agent)
    request = org.DeleteOrganizationRequest(organization_id=acme)
    await access.organizations.DeleteOrganization(request, **access.person("ana"))
    assert await pool.fetchval("SELECT count(*) FROM agents") == 0
    refused = await refusal(access.dismiss("ana", agent))
    assert told(refused) == told(await refusal(access.dismiss("ana", str(uuid4()))))


async def test_a_long_name_is_cut_where_a_refusal_tells_it(access: Access) -> None:
    base = (await access.base("ana")).id
    agent = await access.register("ana", display_name="ß" * 200)
    await access.grant("ana", base, agent_id=agent)
    refused = from_rpc_error(await refusal(access.delete("ana", base)))
    assert refused.message == f"Agents hold this knowledge base: {'ß' * 40}… ({agent})."


async def test_a_grant_and_the_end_of_its_agent_at_once_are_one_after_the_other(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana")
    for organization_id in (acme, "") * 3:
        fields = {"scope": kb.SCOPE_ORG, "organization_id": acme} if organization_id else {}
        bases = [(await access.base("ana", **fields)).id for _ in range(2)]
        agent = await access.register("ana", organization_id)
        await access.grant("ana", bases[0], agent_id=agent)
        outcomes = await asyncio.gather(
            *(access.grant_edit("ana", base, agent_id=agent) for base in bases),
            access.dismiss("ana", agent),
            return_exceptions=True,
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                error = from_rpc_error(outcome)  # type: ignore[arg-type]
                assert (error.reason, error.metadata) == (reasons.ERROR_REASON_NOT_FOUND, {"kind": "agent"})
        assert await pool.fetchval("SELECT count(*) FROM grants WHERE agent_id = $1", UUID(agent)) == 0


async def test_an_agents_calls_register_nothing(access: Access) -> None:
    agent = await access.register("ana")
    options = access.agent("ana", agent)
    request = pb.CreateAgentRequest(display_name="Child")
    assert from_rpc_error(await refusal(access.agents.CreateAgent(request, **options))).metadata == {
        "kind": "agent"
    }
    assert not (await access.agents.ListAgents(pb.ListAgentsRequest(), **options)).agents


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\nb"])
async def test_a_name_that_breaks_a_rule_is_refused(access: Access, name: str) -> None:
    error = from_rpc_error(await refusal(access.register("ana", display_name=name)))
    assert [field.path for field in error.fields] == ["display_name"]


async def test_agents_that_held_bases_before_there_was_a_registry_are_registered(
    access: Access, pool: Pool
) -> None:
    acme, other = [await access.organization("ana") for _ in range(2)]
    bases = [
        await base_of(access, acme),
        await base_of(access, other),
        (await access.base("ana")).id,
        (await access.base("bea")).id,
        (await access.base(ADMIN, scope=kb.SCOPE_APP)).id,
    ]
    everywhere, hers, admins = (UUID(int=number) for number in (71, 72, 73))
    up, _, down = MIGRATION.read_text().partition("-- migrate:down")
    async with pool.acquire() as connection:
        await connection.execute(down)
        for agent, held in ((everywhere, bases), (hers, bases[2:4]), (admins, bases[4:])):
            for base in held:
                await _grant_as_before(connection, base, agent)
        await connection.execute(up)
        agents = {row["id"]: row for row in await connection.fetch("SELECT * FROM agents")}
        left = await connection.fetch("SELECT grantee_id, knowledge_base_id FROM grants")
    assert str(agents[everywhere]["organization_id"]) == acme
    assert (agents[hers]["owner_user_id"], agents[admins]["owner_user_id"]) == (
        person_id("ana"),
        person_id(ADMIN),
    )
    assert {(row["grantee_id"], str(row["knowledge_base_id"])) for row in left} == {
        (everywhere, bases[0]),
        (hers, bases[2]),
        (admins, bases[4]),
    }


async def _grant_as_before(
    connection: "asyncpg.pool.PoolConnectionProxy[asyncpg.Record]", base: str, agent: UUID
) -> None:
    await connection.execute(
        "INSERT INTO grants (id, knowledge_base_id, organization_id, grantee_kind, grantee_id, permission,"
        " giver_user_id) SELECT $1, id, organization_id, 'agent', $3, 'view', $4 FROM knowledge_bases WHERE id = $2",
        uuid7(),
        UUID(base),
        agent,
        person_id(ADMIN),
    )
