"""Teams: who makes them, who is in them, what is visible to them; and the ownership of organizations."""

import asyncio
from uuid import uuid4

import pytest

from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.access.v1 import teams_pb2 as pb
from acervo.common.v1 import error_reason_pb2 as reasons
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from tests.integration.access.callers import Access, person_id, refusal, told


async def teams_of(access: Access, reader: str, organization_id: str) -> list[str]:
    request = pb.ListTeamsRequest(organization_id=organization_id)
    return [
        team.display_name for team in (await access.teams.ListTeams(request, **access.person(reader))).teams
    ]


async def members_of(access: Access, reader: str, team_id: str) -> list[str]:
    request = pb.ListTeamMembersRequest(team_id=team_id)
    return list((await access.teams.ListTeamMembers(request, **access.person(reader))).user_ids)


async def team_base(access: Access, maker: str, organization_id: str, team_id: str) -> kb.KnowledgeBase:
    return await access.base(
        maker,
        scope=kb.SCOPE_ORG,
        organization_id=organization_id,
        visibility=kb.VISIBILITY_TEAM,
        team_id=team_id,
    )


async def test_a_team_is_made_renamed_and_listed_to_members(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    team = await access.team("ana", acme, "bea")
    assert await members_of(access, "bea", team) == [str(person_id("bea"))]
    renamed = pb.RenameTeamRequest(team_id=team, display_name=" Support ")
    assert (await access.teams.RenameTeam(renamed, **access.person("ana"))).team.display_name == "Support"
    assert await teams_of(access, "bea", acme) == ["Support"]


async def test_who_is_in_a_team_is_in_it_once(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    team = await access.team("ana", acme, "bea", "bea")
    assert await members_of(access, "ana", team) == [str(person_id("bea"))]


async def test_teams_and_their_members_are_listed_page_by_page(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER, cem=org.ROLE_VIEWER)
    team = await access.team("ana", acme, "cem", "bea", "ana")
    seen: list[str] = []
    request = pb.ListTeamMembersRequest(team_id=team, page_size=2)
    while True:
        page = await access.teams.ListTeamMembers(request, **access.person("bea"))
        seen += page.user_ids
        request.page_token = page.next_page_token
        if not page.next_page_token:
            break
    assert seen == [str(person_id(name)) for name in ("cem", "bea", "ana")]


async def test_only_members_of_the_organization_come_into_a_team(access: Access) -> None:
    acme = await access.organization("ana")
    team = await access.team("ana", acme)
    refused = from_rpc_error(await refusal(access.join("ana", team, "zoe")))
    assert refused.metadata == {"kind": "member"}


async def test_a_team_base_is_seen_by_its_team_alone_and_no_longer_than_one_is_in_it(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER, cem=org.ROLE_MEMBER)
    team = await access.team("ana", acme, "bea")
    made = await team_base(access, "ana", acme, team)
    assert (made.visibility, made.team_id) == (kb.VISIBILITY_TEAM, team)
    assert await access.may(access.person("bea"), made.id) == "view"
    assert await access.may(access.person("cem"), made.id) == ""
    await access.join("ana", team, "cem")
    await access.leave("ana", team, "bea")
    assert await access.may(access.person("cem"), made.id) == "view"
    assert await access.may(access.person("bea"), made.id) == ""


async def test_a_member_leaves_a_team_by_oneself_and_throws_nobody_out(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER, cem=org.ROLE_MEMBER)
    team = await access.team("ana", acme, "bea", "cem")
    assert from_rpc_error(await refusal(access.leave("bea", team, "cem"))).metadata == {"kind": "team"}
    await access.leave("bea", team, "bea")
    assert await members_of(access, "ana", team) == [str(person_id("cem"))]


async def test_a_deleted_team_leaves_its_bases_private(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_MEMBER, cem=org.ROLE_VIEWER)
    team = await access.team("ana", acme, "bea", "cem")
    made = await team_base(access, "bea", acme, team)
    await access.teams.DeleteTeam(pb.DeleteTeamRequest(team_id=team), **access.person("ana"))
    get = kb.GetKnowledgeBaseRequest(knowledge_base_id=made.id)
    stored = (await access.bases.GetKnowledgeBase(get, **access.person("bea"))).knowledge_base
    assert (stored.visibility, stored.team_id) == (kb.VISIBILITY_PRIVATE, "")
    assert await access.may(access.person("cem"), made.id) == ""
    assert await teams_of(access, "ana", acme) == []


async def test_bases_made_for_a_team_while_it_goes_are_refused_or_private(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana")
    for _ in range(4):
        team = await access.team("ana", acme)
        await asyncio.gather(
            access.teams.DeleteTeam(pb.DeleteTeamRequest(team_id=team), **access.person("ana")),
            *(team_base(access, "ana", acme, team) for _ in range(2)),
            return_exceptions=True,
        )
        assert await pool.fetchval("SELECT count(*) FROM knowledge_bases WHERE visibility = 'team'") == 0


async def test_a_base_is_visible_to_teams_of_its_own_organization_alone(access: Access) -> None:
    acme, other = await access.organization("ana"), await access.organization("ana")
    foreign = await access.team("ana", other)
    refused = await refusal(team_base(access, "ana", acme, foreign))
    assert told(refused) == told(await refusal(team_base(access, "ana", acme, str(uuid4()))))
    assert from_rpc_error(refused).metadata == {"kind": "team"}


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({"visibility": kb.VISIBILITY_TEAM}, ["team_id"]),
        ({"visibility": kb.VISIBILITY_ORG, "team_id": str(uuid4())}, ["team_id"]),
        ({"team_id": str(uuid4())}, ["team_id"]),
    ],
)
async def test_a_team_and_its_visibility_go_together(
    access: Access, fields: dict[str, str], paths: list[str]
) -> None:
    acme = await access.organization("ana")
    refused = await refusal(access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme, **fields))
    assert [violation.path for violation in from_rpc_error(refused).fields] == paths


async def test_who_leaves_an_organization_leaves_its_teams_and_no_others(access: Access) -> None:
    acme, other = [await access.organization("ana", bea=org.ROLE_MEMBER) for _ in range(2)]
    left, kept = await access.team("ana", acme, "bea", "ana"), await access.team("ana", other, "bea")
    made = await team_base(access, "ana", acme, left)
    await access.remove("ana", acme, "bea")
    assert await members_of(access, "ana", left) == [str(person_id("ana"))]
    assert await members_of(access, "bea", kept) == [str(person_id("bea"))]
    await access.add("ana", acme, "bea", org.ROLE_MEMBER)
    assert await access.may(access.person("bea"), made.id) == ""


async def test_an_organization_goes_with_its_teams(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana")
    await team_base(access, "ana", acme, await access.team("ana", acme, "ana"))
    request = org.DeleteOrganizationRequest(organization_id=acme)
    await access.organizations.DeleteOrganization(request, **access.person("ana"))
    for table in ("teams", "team_members", "knowledge_bases"):
        assert await pool.fetchval(f"SELECT count(*) FROM {table}") == 0


async def test_the_same_request_id_makes_one_team(access: Access) -> None:
    acme = await access.organization("ana")
    request = pb.CreateTeamRequest(request_id=str(uuid4()), organization_id=acme, display_name="Sales")
    made = [(await access.teams.CreateTeam(request, **access.person("ana"))).team.id for _ in range(2)]
    assert made[0] == made[1]
    assert await teams_of(access, "ana", acme) == ["Sales"]


@pytest.mark.parametrize("caller", ["stranger", "viewer", "builder"])
async def test_those_who_may_not_change_teams_are_told_what_is_said_of_absent_ones(
    access: Access, caller: str
) -> None:
    acme = await access.organization("ana", viewer=org.ROLE_VIEWER, builder=org.ROLE_BUILDER)
    team, absent = await access.team("ana", acme, "viewer"), str(uuid4())
    options = access.person(caller)
    for one in (team, absent):
        rename = pb.RenameTeamRequest(team_id=one, display_name="Support")
        delete = pb.DeleteTeamRequest(team_id=one)
        calls = (
            access.teams.RenameTeam(rename, **options),
            access.teams.DeleteTeam(delete, **options),
            access.join(caller, one, "ana"),
            access.leave(caller, one, "ana"),
        )
        for call in calls:
            assert told(await refusal(call)) == told(await refusal(access.join(caller, absent, "ana")))
    refused = [await refusal(access.team(caller, one)) for one in (acme, absent)]
    assert told(refused[0]) == told(refused[1])


async def test_teams_and_their_members_are_listed_to_members_alone(access: Access) -> None:
    acme = await access.organization("ana")
    team, absent = await access.team("ana", acme), str(uuid4())
    assert told(await refusal(teams_of(access, "zoe", acme))) == told(
        await refusal(teams_of(access, "zoe", absent))
    )
    assert told(await refusal(members_of(access, "zoe", team))) == told(
        await refusal(members_of(access, "zoe", absent))
    )


async def hand_on(access: Access, giver: str, organization_id: str, name: str) -> org.Member:
    request = org.TransferOwnershipRequest(organization_id=organization_id, user_id=str(person_id(name)))
    return (await access.organizations.TransferOwnership(request, **access.person(giver))).member


async def roles_in(access: Access, reader: str, organization_id: str) -> dict[str, org.Role]:
    request = org.ListMembersRequest(organization_id=organization_id)
    answer = await access.organizations.ListMembers(request, **access.person(reader))
    return {member.user_id: member.role for member in answer.members}


async def test_an_owner_hands_the_ownership_on_and_is_an_admin(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    assert (await hand_on(access, "ana", acme, "bea")).role == org.ROLE_OWNER
    roles = await roles_in(access, "bea", acme)
    assert roles == {str(person_id("ana")): org.ROLE_ADMIN, str(person_id("bea")): org.ROLE_OWNER}


async def test_two_owners_who_hand_on_to_each_other_at_once_leave_an_owner(access: Access) -> None:
    for _ in range(4):
        acme = await access.organization("ana", bea=org.ROLE_OWNER)
        await asyncio.gather(
            hand_on(access, "ana", acme, "bea"), hand_on(access, "bea", acme, "ana"), return_exceptions=True
        )
        assert org.ROLE_OWNER in (await roles_in(access, "ana", acme)).values()


async def test_the_ownership_is_handed_on_to_another_member(access: Access) -> None:
    acme = await access.organization("ana")
    assert from_rpc_error(await refusal(hand_on(access, "ana", acme, "zoe"))).metadata == {"kind": "member"}
    refused = from_rpc_error(await refusal(hand_on(access, "ana", acme, "ana")))
    assert refused.reason == reasons.ERROR_REASON_FIELD_INVALID


@pytest.mark.parametrize("caller", ["stranger", "viewer", "admin"])
async def test_who_is_no_owner_hands_on_an_organization_that_is_not_there(
    access: Access, caller: str
) -> None:
    acme = await access.organization("ana", viewer=org.ROLE_VIEWER, admin=org.ROLE_ADMIN)
    refused = [await refusal(hand_on(access, caller, one, caller)) for one in (acme, str(uuid4()))]
    assert told(refused[0]) == told(refused[1])
