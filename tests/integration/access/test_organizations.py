"""Organizations and their members."""

import asyncio
from uuid import uuid4

import grpc
import pytest

from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.common.v1 import error_reason_pb2 as reasons
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from tests.integration.access.callers import Access, person_id, refusal, told


async def bases_of(access: Access, name: str) -> list[kb.KnowledgeBase]:
    answer = await access.bases.ListKnowledgeBases(kb.ListKnowledgeBasesRequest(), **access.person(name))
    return list(answer.knowledge_bases)


async def roles_in(access: Access, reader: str, organization_id: str) -> dict[str, org.Role]:
    request = org.ListMembersRequest(organization_id=organization_id)
    answer = await access.organizations.ListMembers(request, **access.person(reader))
    return {member.user_id: member.role for member in answer.members}


async def test_who_makes_an_organization_owns_it_and_its_default_base(access: Access) -> None:
    organization_id = await access.organization("ana", "Acme & Söhne")
    assert await roles_in(access, "ana", organization_id) == {str(person_id("ana")): org.ROLE_OWNER}
    (base,) = await bases_of(access, "ana")
    assert base.default_base
    assert base.organization_id == organization_id
    assert base.scope == kb.SCOPE_ORG
    assert base.visibility == kb.VISIBILITY_ORG
    assert base.collection_name.startswith("acme_")
    assert (base.embedding.model, base.embedding.width) == ("use-multilingual-v3", 512)
    assert (base.ingestion_config.chunk_size, base.ingestion_config.chunk_overlap) == (2500, 200)


async def test_an_agent_makes_no_organization(access: Access) -> None:
    request = org.CreateOrganizationRequest(display_name="Acme")
    refused = await refusal(access.organizations.CreateOrganization(request, **access.agent("ana")))
    assert refused.code() is grpc.StatusCode.NOT_FOUND


async def test_the_same_request_id_makes_one_organization(access: Access) -> None:
    request = org.CreateOrganizationRequest(request_id=str(uuid4()), display_name="Acme")
    answers = await asyncio.gather(
        *(access.organizations.CreateOrganization(request, **access.person("ana")) for _ in range(4))
    )
    assert len({answer.organization.id for answer in answers}) == 1
    assert len(await bases_of(access, "ana")) == 1


async def test_a_request_id_is_its_callers_own(access: Access) -> None:
    request = org.CreateOrganizationRequest(request_id=str(uuid4()), display_name="Acme")
    ana = await access.organizations.CreateOrganization(request, **access.person("ana"))
    bea = await access.organizations.CreateOrganization(request, **access.person("bea"))
    assert ana.organization.id != bea.organization.id


async def test_a_request_id_used_for_something_else_is_refused(access: Access) -> None:
    request_id = str(uuid4())
    first = org.CreateOrganizationRequest(request_id=request_id, display_name="Acme")
    second = org.CreateOrganizationRequest(request_id=request_id, display_name="Other")
    await access.organizations.CreateOrganization(first, **access.person("ana"))
    refused = await refusal(access.organizations.CreateOrganization(second, **access.person("ana")))
    assert from_rpc_error(refused).reason == reasons.ERROR_REASON_REQUEST_ID_REUSED


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\0b"])
async def test_a_display_name_has_bounds(access: Access, name: str) -> None:
    request = org.CreateOrganizationRequest(display_name=name)
    refused = await refusal(access.organizations.CreateOrganization(request, **access.person("ana")))
    assert [violation.path for violation in from_rpc_error(refused).fields] == ["display_name"]


async def test_organizations_are_listed_to_their_members_page_by_page(access: Access) -> None:
    made = [await access.organization("ana", f"Acme {number}") for number in range(3)]
    await access.organization("bea")
    seen: list[str] = []
    token = ""
    while True:
        request = org.ListOrganizationsRequest(page_size=2, page_token=token)
        page = await access.organizations.ListOrganizations(request, **access.person("ana"))
        seen += [organization.id for organization in page.organizations]
        token = page.next_page_token
        if not token:
            break
    assert seen == made


@pytest.mark.parametrize(("size", "token"), [(-1, ""), (1001, ""), (1, "nonsense"), (1, "////")])
async def test_a_page_request_out_of_bounds_is_refused(access: Access, size: int, token: str) -> None:
    request = org.ListOrganizationsRequest(page_size=size, page_token=token)
    refused = await refusal(access.organizations.ListOrganizations(request, **access.person("ana")))
    assert from_rpc_error(refused).reason == reasons.ERROR_REASON_FIELD_INVALID


async def test_a_role_is_handed_out_and_changed_and_taken(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_MEMBER)
    await access.add("ana", acme, "bea", org.ROLE_ADMIN)
    assert (await roles_in(access, "bea", acme))[str(person_id("bea"))] == org.ROLE_ADMIN
    await access.remove("ana", acme, "bea")
    assert str(person_id("bea")) not in await roles_in(access, "ana", acme)


async def test_nobody_hands_out_or_takes_what_they_do_not_exceed(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_ADMIN, cem=org.ROLE_ADMIN)
    for call in (
        access.add("bea", acme, "dan", org.ROLE_ADMIN),
        access.add("bea", acme, "cem", org.ROLE_VIEWER),
        access.remove("bea", acme, "ana"),
    ):
        assert from_rpc_error(await refusal(call)).reason == reasons.ERROR_REASON_ROLE_NOT_EXCEEDED


async def test_the_last_owner_neither_leaves_nor_steps_down(access: Access) -> None:
    acme = await access.organization("ana")
    for call in (access.remove("ana", acme, "ana"), access.add("ana", acme, "ana", org.ROLE_ADMIN)):
        assert from_rpc_error(await refusal(call)).reason == reasons.ERROR_REASON_LAST_OWNER


async def test_two_owners_who_demote_each_other_at_once_leave_one_owner(access: Access) -> None:
    for _ in range(5):
        acme = await access.organization("ana", bea=org.ROLE_OWNER)
        await asyncio.gather(
            access.add("ana", acme, "bea", org.ROLE_VIEWER),
            access.add("bea", acme, "ana", org.ROLE_VIEWER),
            return_exceptions=True,
        )
        assert list((await roles_in(access, "ana", acme)).values()).count(org.ROLE_OWNER) == 1


async def test_a_member_leaves_and_reaches_nothing_at_once(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    assert len(await bases_of(access, "bea")) == 1
    await access.remove("bea", acme, "bea")
    assert await bases_of(access, "bea") == []
    assert await pool.fetchval("SELECT count(*) FROM outbox WHERE subject = 'acervo.member.removed'") == 1


async def test_who_is_no_member_is_told_so_to_those_who_manage_members(access: Access) -> None:
    acme = await access.organization("ana")
    refused = await refusal(access.remove("ana", acme, "bea"))
    assert from_rpc_error(refused).metadata == {"kind": "member"}


@pytest.mark.parametrize("caller", ["stranger", "viewer", "builder"])
async def test_those_who_may_not_manage_are_told_what_is_said_of_an_absent_organization(
    access: Access, caller: str
) -> None:
    acme = await access.organization("ana", viewer=org.ROLE_VIEWER, builder=org.ROLE_BUILDER)
    absent = str(uuid4())
    for organization_id in (acme, absent):
        request = org.DeleteOrganizationRequest(organization_id=organization_id)
        calls = (
            access.add(caller, organization_id, "cem", org.ROLE_VIEWER),
            access.remove(caller, organization_id, "ana"),
            access.organizations.DeleteOrganization(request, **access.person(caller)),
        )
        for call in calls:
            assert told(await refusal(call)) == told(await refusal(access.remove(caller, absent, "ana")))


async def test_members_are_listed_to_members_alone(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    assert len(await roles_in(access, "bea", acme)) == 2
    assert told(await refusal(roles_in(access, "cem", acme))) == told(
        await refusal(roles_in(access, "cem", str(uuid4())))
    )
