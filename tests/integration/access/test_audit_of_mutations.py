"""Every method that changes something writes down who did it, once; and nothing else does."""

import json
from collections import Counter
from typing import Any, Final
from uuid import uuid4

import asyncpg
import pytest
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.message import Message

from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.access.v1 import teams_pb2
from acervo.common.v1 import ingestion_config_pb2
from services.access.rpc import CALLERS
from services.shared.db import Pool
from tests.integration.access.callers import Access, refusal
from tests.integration.access.matrix_world import World
from tests.integration.access.test_matrix import MATRIX
from tests.matrix import Kind
from tests.signing import Trust

NOT_AUDITED: Final[frozenset[str]] = frozenset()
"""Methods that change nothing which somebody has to answer for."""

MORE_THAN_ONE: Final[dict[str, list[str]]] = {
    "/acervo.access.v1.AccountService/DeleteAccount": ["member.removed", "account.deleted"],
    "/acervo.access.v1.OrganizationService/CreateOrganization": [
        "organization.created",
        "knowledge_base.created",
    ],
    "/acervo.access.v1.OrganizationService/DeleteOrganization": [
        "organization.deleted",
        *["knowledge_base.deleted"] * 3,
        "secret.deleted",
        "team.deleted",
        "endpoint.deleted",
        *["agent.deleted"] * 2,
    ],
    "/acervo.access.v1.AgentService/DeleteAgent": ["agent.deleted", "grant.revoked"],
}
"""Methods that change several things, each of which is found by its own id."""


def request_type(method: str) -> type[Message]:
    service, _, name = method.removeprefix("/").partition("/")
    described = descriptor_pool.Default().FindServiceByName(service).methods_by_name[name]
    return message_factory.GetMessageClass(described.input_type)


MUTATING = [
    method
    for method in sorted(CALLERS)
    if "request_id" in request_type(method).DESCRIPTOR.fields_by_name and method not in NOT_AUDITED
]


async def events(pool: Pool) -> list[asyncpg.Record]:
    return await pool.fetch("SELECT * FROM audit_events ORDER BY id")


async def call(access: Access, world: World, method: str, kind: Kind, request: Any) -> None:
    ask: Any = access.channel.unary_unary(
        method, request_serializer=lambda message: message.SerializeToString()
    )
    await ask(request, metadata=world.metadata(kind))


@pytest.mark.parametrize("method", MUTATING)
async def test_a_change_is_written_down_once_with_who_made_it(
    access: Access, trust: Trust, pool: Pool, method: str
) -> None:
    for row in MATRIX[method]:
        for kind in sorted(row.answered)[:1]:
            world = await World.of_access(access, trust, pool)
            request: Any = row.request(world)
            request.request_id = str(uuid4())
            before = await events(pool)
            await call(access, world, method, kind, request)
            written = (await events(pool))[len(before) :]
            assert Counter(event["action"] for event in written) == Counter(
                MORE_THAN_ONE.get(method, [event["action"] for event in written[:1]])
            )
            assert written
            if kind is Kind.SERVICE:
                assert {event["actor_service"] for event in written} == {"sync"}
            else:
                assert {str(event["actor_user_id"]) for event in written} == {world.id(kind)}
            await call(access, world, method, kind, request)
            assert await events(pool) == [*before, *written]


async def test_what_goes_with_another_thing_is_found_by_its_own_id(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana", "Acme", bea=org.ROLE_VIEWER)
    team = await access.team("ana", acme, "bea")
    shown = {"visibility": kb.VISIBILITY_TEAM, "team_id": team}
    seen = await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme, **shown)
    secret = await access.secret("ana", acme, **shown)
    base = await access.private_base("ana", acme)
    to_team = await access.grant("ana", base, team_id=team)
    to_bea = await access.grant("ana", base, user_id=access.id("bea"))
    await access.teams.DeleteTeam(teams_pb2.DeleteTeamRequest(team_id=team), **access.person("ana"))
    leave = org.RemoveMemberRequest(organization_id=acme, user_id=access.id("bea"))
    await access.organizations.RemoveMember(leave, **access.person("bea"))
    for thing, actor, action, visibility in (
        (seen.id, "ana", "knowledge_base.updated", "private"),
        (secret.id, "ana", "secret.updated", "private"),
        (to_team.id, "ana", "grant.revoked", None),
        (to_bea.id, "bea", "grant.revoked", None),
    ):
        (row,) = await pool.fetch(
            "SELECT * FROM audit_events WHERE object_id = $1 ORDER BY id DESC LIMIT 1", thing
        )
        assert (row["action"], str(row["actor_user_id"])) == (action, access.id(actor))
        assert row["after"].get("visibility") == visibility
        assert str(row["organization_id"]) == acme


async def test_what_changes_nothing_is_not_written_down(access: Access, trust: Trust, pool: Pool) -> None:
    world = await World.of_access(access, trust, pool)
    owner, member = world.name(Kind.OWNER), world.name(Kind.MEMBER)
    before = await events(pool)
    await access.add(owner, world.organization, member, org.ROLE_MEMBER)
    await access.join(owner, world.team, member)
    await access.grant(owner, world.held, agent_id=world.agent)
    await access.grant(owner, world.held, user_id=world.id(Kind.EDITOR))
    await access.teams.RenameTeam(
        teams_pb2.RenameTeamRequest(team_id=world.team, display_name="Sales"), **access.person(owner)
    )
    assert await events(pool) == before


async def test_a_refused_change_is_not_written_down(access: Access, trust: Trust, pool: Pool) -> None:
    world = await World.of_access(access, trust, pool)
    before = await events(pool)
    for name in (world.name(Kind.STRANGER), world.name(Kind.OWNER)):
        await refusal(access.delete(name, world.held))
    assert await events(pool) == before


async def told(access: Access, pool: Pool, action: str) -> tuple[dict[str, str], dict[str, str]]:
    (row,) = await pool.fetch("SELECT before, after FROM audit_events WHERE action = $1", action)
    return row["before"], row["after"]


async def test_before_and_after_are_told_by_names_and_ids(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana", "Acme", bea=org.ROLE_VIEWER)
    await access.add("ana", acme, "bea", org.ROLE_ADMIN)
    team = await access.team("ana", acme, "bea")
    await access.teams.RenameTeam(
        teams_pb2.RenameTeamRequest(team_id=team, display_name="Verkauf"), **access.person("ana")
    )
    await access.organizations.RenameOrganization(
        org.RenameOrganizationRequest(organization_id=acme, display_name="Ajax"), **access.person("ana")
    )
    assert await told(access, pool, "organization.renamed") == (
        {"display_name": "Acme"},
        {"display_name": "Ajax"},
    )
    assert await told(access, pool, "member.changed") == ({"role": "viewer"}, {"role": "admin"})
    assert await told(access, pool, "team.renamed") == (
        {"display_name": "Sales"},
        {"display_name": "Verkauf"},
    )
    assert await told(access, pool, "team_member.added") == ({}, {"team_id": team, "display_name": "Sales"})
    await access.leave("ana", team, "bea")
    await access.remove("ana", acme, "bea")
    assert await told(access, pool, "team_member.removed") == (
        {"team_id": team, "display_name": "Verkauf"},
        {},
    )
    assert await told(access, pool, "member.removed") == ({"role": "admin"}, {})


async def test_a_grant_is_told_with_what_was_granted_before(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana", "Acme", bea=org.ROLE_VIEWER)
    base = await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme)
    await access.grant("ana", base.id, user_id=access.id("bea"))
    grant = await access.grant_edit("ana", base.id, user_id=access.id("bea"))
    await access.revoke("ana", grant.id)
    rows = await pool.fetch("SELECT * FROM audit_events WHERE object_kind = 'grant' ORDER BY id")
    assert {row["object_id"] for row in rows} == {rows[0]["object_id"]}
    named = {"knowledge_base_id": base.id, "grantee_kind": "user", "grantee_id": access.id("bea")}
    view, edit = {**named, "permission": "view"}, {**named, "permission": "edit"}
    assert [(row["before"], row["after"]) for row in rows] == [({}, view), (view, edit), (edit, {})]


async def test_each_base_stands_in_its_own_log(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana", "Acme")
    await access.base("ana", display_name="Diary", scope=kb.SCOPE_PERSONAL)
    await access.base("ana", display_name="Diary", scope=kb.SCOPE_PERSONAL, organization_id=acme)
    await access.base(access.admin, display_name="Law", scope=kb.SCOPE_APP)
    rows = await pool.fetch("SELECT * FROM audit_events WHERE action = 'knowledge_base.created' ORDER BY id")
    logs = [(row["organization_id"], row["deployment"], row["after"].get("display_name")) for row in rows[1:]]
    assert [(organization and str(organization), *rest) for organization, *rest in logs] == [
        (None, False, "Diary"),
        (acme, False, None),
        (None, True, "Law"),
    ]


async def test_no_configuration_document_comes_into_the_log(access: Access, pool: Pool) -> None:
    config = ingestion_config_pb2.IngestionConfig(chunk_size=777)
    base = await access.base("ana", scope=kb.SCOPE_PERSONAL, ingestion_config=config)
    await access.delete("ana", base.id)
    written = json.dumps([[row["before"], row["after"]] for row in await events(pool)])
    assert len(await events(pool)) == 2
    assert "777" not in written
    assert "chunk" not in written
