"""Deleting an account: what was somebody's own goes, what is an organization's stays."""

import asyncio
from typing import Any
from uuid import UUID

from acervo.access.v1 import accounts_pb2
from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.events.v1.facts_pb2 import AccountDeleted, BaseDeleted, MemberRemoved
from services.access.bases import teardowns
from services.access.bases.teardown import OWNERS
from services.shared import bus
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from tests.integration.access.callers import ADMIN, Access, refusal


async def leave(access: Access, name: str, **fields: Any) -> tuple[int, int]:
    """Delete an account; return how many bases and organizations that were."""
    request = accounts_pb2.DeleteAccountRequest(**fields)
    answer = await access.accounts.DeleteAccount(request, **access.person(name))
    return answer.knowledge_base_count, answer.organization_count


async def sent(pool: Pool, subject: str) -> list[bytes]:
    rows = await pool.fetch("SELECT payload FROM outbox WHERE subject = $1 ORDER BY id", subject)
    return [row["payload"] for row in rows]


async def torn_down(pool: Pool) -> set[str]:
    return {
        BaseDeleted.FromString(payload).knowledge_base_id for payload in await sent(pool, bus.BASE_DELETED)
    }


async def owner_of(pool: Pool, base_id: str) -> UUID | None:
    owner: UUID | None = await pool.fetchval(
        "SELECT owner_user_id FROM knowledge_bases WHERE id = $1", UUID(base_id)
    )
    return owner


async def test_personal_bases_go_by_the_protocol_of_teardowns_and_others_keep_theirs(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana", bea=org.ROLE_BUILDER)
    mine = await access.base("bea", collection_name="diary")
    inside = await access.base("bea", organization_id=acme)
    theirs = await access.base("ana", organization_id=acme)
    assert await leave(access, "bea") == (2, 1)
    assert await torn_down(pool) == {mine.id, inside.id}
    taken = from_rpc_error(await refusal(access.base("ana", collection_name="diary"))).reason
    assert taken == reasons.ERROR_REASON_NAME_TAKEN
    assert await access.may(access.person("ana"), theirs.id) == "view edit"
    for row in await pool.fetch("SELECT id FROM teardowns"):
        for service in OWNERS:
            await teardowns.answered(pool, row["id"], service)
    await access.base("ana", collection_name="diary")


async def test_what_was_made_in_an_organization_stays_the_organizations_and_is_nobodys_own(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana", bea=org.ROLE_MEMBER)
    private = {"scope": kb.SCOPE_ORG, "organization_id": acme, "visibility": kb.VISIBILITY_PRIVATE}
    made = await access.base("bea", **private)
    assert await leave(access, "bea") == (0, 1)
    assert await torn_down(pool) == set()
    assert await access.may(access.person("ana"), made.id) == "view edit"
    assert await owner_of(pool, made.id) is None
    await access.add("ana", acme, "bea", org.ROLE_MEMBER)
    assert await access.may(access.person("bea"), made.id) == ""


async def test_memberships_teams_and_grants_end_and_each_organization_is_told(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    other = await access.organization("cleo", bea=org.ROLE_OWNER)
    await access.team("ana", acme, "bea")
    base = await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme)
    await access.grant_edit("ana", base.id, user_id=access.id("bea"))
    assert await leave(access, "bea") == (0, 2)
    assert await access.may(access.person("bea"), base.id) == ""
    for table in ("team_members", "grants"):
        assert await pool.fetchval(f"SELECT count(*) FROM {table}") == 0
    removed = [MemberRemoved.FromString(payload) for payload in await sent(pool, bus.MEMBER_REMOVED)]
    assert {(one.organization_id, one.user_id) for one in removed} == {
        (acme, access.id("bea")),
        (other, access.id("bea")),
    }
    (payload,) = await sent(pool, bus.ACCOUNT_DELETED)
    assert AccountDeleted.FromString(payload).user_id == access.id("bea")


async def test_the_last_owner_of_organizations_is_told_which_and_loses_nothing(
    access: Access, pool: Pool
) -> None:
    acme, wayne = [await access.organization("ana") for _ in range(2)]
    shared = await access.organization("ana", bea=org.ROLE_OWNER)
    base = await access.base("ana")
    refused = from_rpc_error(await refusal(leave(access, "ana")))
    assert refused.reason == reasons.ERROR_REASON_LAST_OWNER
    assert refused.metadata["organizations"] == f"{acme},{wayne}"
    assert shared not in refused.message
    assert await access.may(access.person("ana"), base.id) == "view edit"
    assert await pool.fetchval("SELECT count(*) FROM teardowns") == 0


async def test_two_owners_who_leave_at_once_leave_an_owner(access: Access, pool: Pool) -> None:
    for _ in range(4):
        acme = await access.organization("ana", bea=org.ROLE_OWNER)
        outcomes = await asyncio.gather(leave(access, "ana"), leave(access, "bea"), return_exceptions=True)
        assert sum(isinstance(outcome, tuple) for outcome in outcomes) == 1
        owners = "SELECT count(*) FROM members WHERE organization_id = $1 AND role = 'owner'"
        assert await pool.fetchval(owners, UUID(acme)) == 1
        left = "ana" if isinstance(outcomes[0], BaseException) else "bea"
        request = org.DeleteOrganizationRequest(organization_id=acme)
        await access.organizations.DeleteOrganization(request, **access.person(left))


async def test_a_persons_agents_go_with_the_account_and_what_they_held(access: Access, pool: Pool) -> None:
    base = await access.base("bea")
    agent = await access.register("bea")
    await access.grant("bea", base.id, agent_id=agent)
    assert await leave(access, "bea") == (1, 0)
    assert await access.may(access.agent("bea", agent), base.id) == ""
    assert await pool.fetchval("SELECT count(*) FROM agents") == 0
    assert await torn_down(pool) == {base.id}


async def test_a_persons_own_agents_end_with_the_account_and_an_organizations_stay(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana", bea=org.ROLE_ADMIN)
    await access.register("bea")
    theirs = await access.register("bea", acme)
    await leave(access, "bea")
    assert [str(row["id"]) for row in await pool.fetch("SELECT id FROM agents")] == [theirs]
    actions = await pool.fetch("SELECT action FROM audit_events WHERE object_kind = 'agent' ORDER BY id")
    assert [row["action"] for row in actions] == ["agent.created", "agent.created", "agent.deleted"]


async def test_a_name_that_others_hold_keeps_its_table(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana", bea=org.ROLE_BUILDER)
    fields = {"organization_id": acme, "collection_name": "handbook"}
    await access.base("bea", scope=kb.SCOPE_ORG, **fields)
    await access.base("bea", **fields)
    await leave(access, "bea")
    (payload,) = await sent(pool, bus.BASE_DELETED)
    fact = BaseDeleted.FromString(payload)
    assert (fact.last_holder, fact.owner_gone) == (False, True)


async def test_the_deployments_admin_deletes_anybodys_account_and_others_their_own_alone(
    access: Access, pool: Pool
) -> None:
    base = await access.base("bea")
    for caller in (access.person("ana"), access.agent("bea")):
        request = accounts_pb2.DeleteAccountRequest(user_id=access.id("bea"))
        refused = await refusal(access.accounts.DeleteAccount(request, **caller))
        assert from_rpc_error(refused).reason == reasons.ERROR_REASON_NOT_FOUND
    assert await leave(access, ADMIN, user_id=access.id("bea")) == (1, 0)
    assert await torn_down(pool) == {base.id}
    event = await pool.fetchrow("SELECT * FROM audit_events WHERE action = 'account.deleted'")
    assert event is not None
    assert (str(event["object_id"]), event["deployment"]) == (access.id("bea"), True)


async def test_whose_token_is_used_again_starts_afresh(access: Access) -> None:
    await access.base("bea", collection_name="diary")
    await leave(access, "bea")
    assert await leave(access, "bea") == (0, 0)
    answer = await access.bases.ListKnowledgeBases(kb.ListKnowledgeBasesRequest(), **access.person("bea"))
    assert not answer.knowledge_bases
    made = await access.base("bea")
    assert await access.may(access.person("bea"), made.id) == "view edit"


async def test_bases_made_in_an_organization_while_their_maker_leaves_are_refused_or_go_too(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana")
    for _ in range(4):
        await access.add("ana", acme, "bea", org.ROLE_BUILDER)
        await asyncio.gather(
            leave(access, "bea"),
            *(access.base("bea", organization_id=acme) for _ in range(3)),
            return_exceptions=True,
        )
        assert await pool.fetchval("SELECT count(*) FROM knowledge_bases WHERE scope = 'personal'") == 0
