"""Grants: who gives them, what they open, how they end, and why somebody reaches a base."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from acervo.access.v1 import access_pb2
from acervo.access.v1 import grants_pb2 as pb
from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.access.v1.teams_pb2 import DeleteTeamRequest
from acervo.common.v1 import error_reason_pb2 as reasons
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from tests.integration.access.callers import ADMIN, STRANGE_AGENT, Access, person_id, refusal, told


def idof(name: str) -> str:
    return str(person_id(name))


async def granted(access: Access, reader: str, base_id: str) -> list[pb.Grant]:
    request = pb.ListGrantsRequest(knowledge_base_id=base_id)
    return list((await access.grants.ListGrants(request, **access.person(reader))).grants)


async def explain(
    access: Access, reader: str, base_id: str, name: str, agent_id: str = ""
) -> pb.ExplainAccessResponse:
    request = pb.ExplainAccessRequest(knowledge_base_id=base_id, user_id=idof(name), agent_id=agent_id)
    return await access.grants.ExplainAccess(request, **access.person(reader))


async def test_a_grant_opens_a_base_to_a_person_until_it_is_revoked(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    base = await access.private_base("ana", acme)
    assert await access.may(access.person("bea"), base) == ""
    grant = await access.grant("ana", base, user_id=idof("bea"))
    assert (grant.user_id, grant.giver_user_id, grant.knowledge_base_id) == (idof("bea"), idof("ana"), base)
    assert await access.may(access.person("bea"), base) == "view"
    await access.revoke("ana", grant.id)
    assert await access.may(access.person("bea"), base) == ""


async def test_a_viewer_with_an_edit_grant_writes_and_deletes_that_base(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    base = await access.private_base("ana", acme)
    await access.grant_edit("ana", base, user_id=idof("bea"))
    assert await access.may(access.person("bea"), base) == "view edit"
    assert from_rpc_error(await refusal(access.grant("bea", base, user_id=idof("bea")))).metadata == {
        "kind": "knowledge_base"
    }
    await access.delete("bea", base)


async def test_a_grant_to_a_team_is_its_members_while_they_are_in_it(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER, cem=org.ROLE_VIEWER)
    team = await access.team("ana", acme, "bea")
    base = await access.private_base("ana", acme)
    await access.grant_edit("ana", base, team_id=team)
    assert await access.may(access.person("bea"), base) == "view edit"
    assert await access.may(access.person("cem"), base) == ""
    await access.leave("ana", team, "bea")
    assert await access.may(access.person("bea"), base) == ""


async def test_another_grant_to_the_same_never_narrows(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    base = await access.private_base("ana", acme)
    first = await access.grant("ana", base, user_id=idof("bea"))
    wider = await access.grant_edit("ana", base, user_id=idof("bea"))
    again = await access.grant("ana", base, user_id=idof("bea"))
    assert [grant.id for grant in (wider, again)] == [first.id] * 2
    assert again.permission == access_pb2.PERMISSION_EDIT
    assert len(await granted(access, "ana", base)) == 1


async def test_nobody_grants_more_than_they_have(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_MEMBER)
    agent = await access.register("ana", acme)
    base = await access.private_base("bea", acme)
    await access.add("ana", acme, "bea", org.ROLE_VIEWER)
    assert await access.may(access.person("bea"), base) == "view"
    refused = from_rpc_error(await refusal(access.grant_edit("bea", base, agent_id=agent)))
    assert refused.metadata == {"kind": "knowledge_base"}
    await access.grant("bea", base, agent_id=agent)


@pytest.mark.parametrize("stranger", ["user", "team", "agent"])
async def test_a_grantee_is_of_the_bases_own_organization(access: Access, stranger: str) -> None:
    acme = await access.organization("ana")
    elsewhere = await access.organization("zoe")
    foreign = {
        "user": idof("zoe"),
        "team": await access.team("zoe", elsewhere),
        "agent": await access.register("zoe", elsewhere),
    }[stranger]
    base = await access.private_base("ana", acme)
    refused = [
        await refusal(access.grant("ana", base, **{f"{stranger}_id": one})) for one in (foreign, str(uuid4()))
    ]
    assert told(refused[0]) == told(refused[1])
    assert from_rpc_error(refused[0]).metadata == {"kind": "member" if stranger == "user" else stranger}


async def test_who_leaves_loses_what_was_granted_there_and_nothing_elsewhere(access: Access) -> None:
    acme, other = [await access.organization("ana", bea=org.ROLE_MEMBER) for _ in range(2)]
    agent = await access.register("ana", acme)
    left, kept = await access.private_base("ana", acme), await access.private_base("ana", other)
    for base in (left, kept):
        await access.grant("ana", base, user_id=idof("bea"))
    await access.grant("ana", left, user_id=idof("ana"))
    own = await access.private_base("bea", acme)
    await access.grant("bea", own, agent_id=agent)
    await access.remove("ana", acme, "bea")
    assert await access.may(access.person("bea"), left) == ""
    assert await access.may(access.person("bea"), kept) == "view"
    assert [grant.user_id for grant in await granted(access, "ana", left)] == [idof("ana")]
    assert [grant.agent_id for grant in await granted(access, "ana", own)] == [agent]
    await access.add("ana", acme, "bea", org.ROLE_VIEWER)
    assert await access.may(access.person("bea"), left) == ""


async def test_a_team_goes_with_what_was_granted_to_it_and_no_more(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    gone, kept = await access.team("ana", acme, "bea"), await access.team("ana", acme)
    base = await access.private_base("ana", acme)
    for team in (gone, kept):
        await access.grant("ana", base, team_id=team)
    await access.teams.DeleteTeam(DeleteTeamRequest(team_id=gone), **access.person("ana"))
    assert await access.may(access.person("bea"), base) == ""
    assert [grant.team_id for grant in await granted(access, "ana", base)] == [kept]


async def test_an_organization_goes_with_the_grants_on_its_bases(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana")
    agent = await access.register("ana", acme)
    base = await access.private_base("ana", acme)
    team = await access.team("ana", acme, "ana")
    for grantee in ({"agent_id": agent}, {"team_id": team}, {"user_id": idof("ana")}):
        await access.grant("ana", base, **grantee)
    request = org.DeleteOrganizationRequest(organization_id=acme)
    await access.organizations.DeleteOrganization(request, **access.person("ana"))
    assert await pool.fetchval("SELECT count(*) FROM grants") == 0


async def test_a_grant_and_the_end_of_base_member_or_team_at_once_are_one_after_the_other(
    access: Access, pool: Pool
) -> None:
    for _ in range(3):
        acme = await access.organization("ana", bea=org.ROLE_VIEWER)
        agent = await access.register("ana", acme)
        team = await access.team("ana", acme)
        base, other = await access.private_base("ana", acme), await access.private_base("ana", acme)
        outcomes = await asyncio.gather(
            access.grant("ana", base, agent_id=agent),
            access.delete("ana", base),
            access.grant("ana", other, user_id=idof("bea")),
            access.remove("ana", acme, "bea"),
            access.grant("ana", other, team_id=team),
            access.teams.DeleteTeam(DeleteTeamRequest(team_id=team), **access.person("ana")),
            return_exceptions=True,
        )
        told_of = {from_rpc_error(one).reason for one in outcomes if isinstance(one, Exception)}  # type: ignore[arg-type]
        assert told_of <= {reasons.ERROR_REASON_NOT_FOUND, reasons.ERROR_REASON_BASE_IN_USE}
        assert await pool.fetchval("SELECT count(*) FROM grants WHERE grantee_kind <> 'agent'") == 0


async def test_grants_are_listed_oldest_first_page_by_page(access: Access) -> None:
    base = (await access.base("ana")).id
    agents = [await access.register("ana") for _ in range(3)]
    made = [(await access.grant("ana", base, agent_id=agent)).id for agent in reversed(agents)]
    request = pb.ListGrantsRequest(knowledge_base_id=base, page_size=2)
    first = await access.grants.ListGrants(request, **access.person("ana"))
    request.page_token = first.next_page_token
    second = await access.grants.ListGrants(request, **access.person("ana"))
    assert [grant.id for grant in (*first.grants, *second.grants)] == made
    assert second.next_page_token == ""


async def test_the_same_request_id_makes_one_grant(access: Access) -> None:
    agent = await access.register("ana")
    base = (await access.base("ana")).id
    request = pb.AddGrantRequest(
        request_id=str(uuid4()),
        knowledge_base_id=base,
        agent_id=agent,
        permission=access_pb2.PERMISSION_VIEW,
    )
    made = [(await access.grants.AddGrant(request, **access.person("ana"))).grant for _ in range(2)]
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({}, ["user_id", "knowledge_base_id", "user_id", "permission"]),
        ({"knowledge_base_id": "x", "team_id": "y", "permission": 1}, ["knowledge_base_id", "team_id"]),
        ({"knowledge_base_id": STRANGE_AGENT, "agent_id": "", "permission": 1}, ["agent_id"]),
        ({"knowledge_base_id": STRANGE_AGENT, "agent_id": STRANGE_AGENT, "permission": 7}, ["permission"]),
    ],
)
async def test_fields_that_break_a_rule_are_named(
    access: Access, fields: dict[str, Any], paths: list[str]
) -> None:
    refused = await refusal(access.grants.AddGrant(pb.AddGrantRequest(**fields), **access.person("ana")))
    assert [violation.path for violation in from_rpc_error(refused).fields] == paths


@pytest.mark.parametrize("caller", ["stranger", "viewer", "editor", "agent"])
async def test_who_does_not_manage_a_base_is_told_what_is_said_of_an_absent_one(
    access: Access, caller: str
) -> None:
    acme = await access.organization("ana", viewer=org.ROLE_VIEWER, editor=org.ROLE_VIEWER)
    agent = await access.register("ana", acme)
    base, absent = await access.private_base("ana", acme), str(uuid4())
    await access.grant("ana", base, user_id=idof("viewer"))
    await access.grant_edit("ana", base, user_id=idof("editor"))
    await access.grant_edit("ana", base, agent_id=agent)
    options = access.agent("ana", agent) if caller == "agent" else access.person(caller)
    for one in (base, absent):
        wish = pb.AddGrantRequest(
            knowledge_base_id=one, user_id=idof("viewer"), permission=access_pb2.PERMISSION_VIEW
        )
        why = pb.ExplainAccessRequest(knowledge_base_id=one, user_id=idof("ana"))
        for call in (
            access.grants.AddGrant(wish, **options),
            access.grants.ListGrants(pb.ListGrantsRequest(knowledge_base_id=one), **options),
            access.grants.ExplainAccess(why, **options),
        ):
            listing = pb.ListGrantsRequest(knowledge_base_id=absent)
            assert told(await refusal(call)) == told(
                await refusal(access.grants.ListGrants(listing, **options))
            )


@pytest.mark.parametrize("caller", ["stranger", "viewer", "editor", "agent"])
async def test_who_does_not_manage_a_base_revokes_a_grant_that_is_not_there(
    access: Access, caller: str
) -> None:
    acme = await access.organization("ana", viewer=org.ROLE_VIEWER, editor=org.ROLE_VIEWER)
    base = await access.private_base("ana", acme)
    grant = await access.grant_edit("ana", base, user_id=idof("editor"))
    options = access.agent("ana") if caller == "agent" else access.person(caller)
    refused = [
        await refusal(access.grants.RevokeGrant(pb.RevokeGrantRequest(grant_id=one), **options))
        for one in (grant.id, str(uuid4()))
    ]
    assert told(refused[0]) == told(refused[1])
    assert await access.may(access.person("editor"), base) == "view edit"


async def test_whoever_manages_a_base_is_told_why_somebody_reaches_it(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    team = await access.team("ana", acme, "bea")
    base = await access.private_base("ana", acme)
    assert await explain(access, "ana", base, "bea") == pb.ExplainAccessResponse(role=org.ROLE_VIEWER)
    await access.grant("ana", base, user_id=idof("bea"))
    await access.grant_edit("ana", base, team_id=team)
    assert await explain(access, "ana", base, "bea") == pb.ExplainAccessResponse(
        role=org.ROLE_VIEWER,
        view=[pb.GROUND_USER_GRANT, pb.GROUND_TEAM_GRANT],
        edit=[pb.GROUND_TEAM_GRANT],
    )
    own = await explain(access, "ana", base, "ana")
    assert own == pb.ExplainAccessResponse(
        role=org.ROLE_OWNER,
        view=[pb.GROUND_OWN, pb.GROUND_ROLE],
        edit=[pb.GROUND_OWN, pb.GROUND_ROLE],
    )


async def test_it_is_told_of_agents_and_of_strangers_too(access: Access) -> None:
    acme = await access.organization("ana")
    agent = await access.register("ana", acme)
    base = await access.private_base("ana", acme)
    await access.grant("ana", base, agent_id=agent)
    assert list((await explain(access, "ana", base, "ana", agent)).view) == [pb.GROUND_AGENT_GRANT]
    assert await explain(access, "ana", base, "zoe", agent) == pb.ExplainAccessResponse()
    assert await explain(access, "ana", base, "zoe") == pb.ExplainAccessResponse()
    app = (await access.base(ADMIN, scope=kb.SCOPE_APP)).id
    assert list((await explain(access, ADMIN, app, "zoe")).view) == [pb.GROUND_APP]
    assert list((await explain(access, ADMIN, app, ADMIN)).edit) == [pb.GROUND_DEPLOYMENT_ADMIN]


async def test_a_base_that_one_was_granted_for_editing_yields_its_name(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_MEMBER)
    fields = {"scope": kb.SCOPE_ORG, "organization_id": acme, "collection_name": "handbook"}
    held = await access.base("ana", **fields)
    refused = from_rpc_error(await refusal(access.base("bea", collection_name="handbook")))
    assert refused.reason == reasons.ERROR_REASON_NAME_TAKEN
    await access.grant_edit("ana", held.id, user_id=idof("bea"))
    assert (await access.base("bea", collection_name="handbook")).collection_name == "handbook"
