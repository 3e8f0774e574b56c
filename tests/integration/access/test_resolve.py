"""`Resolve` and `WhoAmI`: the SQL predicate says what the rule says, and refusals say nothing."""

from uuid import UUID, uuid4

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acervo.access.v1 import access_pb2
from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.common.v1 import error_reason_pb2 as reasons
from services.access.bases import knowledge_bases
from services.access.reach import BaseKind, Caller, CallerKind, Targets, Want
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from services.shared.ids import uuid7
from services.shared.paging import PageRequest
from tests.integration.access.callers import ADMIN, Access, person_id, refusal, told
from tests.integration.access.worlds import CALLERS, World, check_twins

EDIT = access_pb2.PERMISSION_EDIT


async def test_the_statement_reaches_what_the_rule_reaches(pool: Pool) -> None:
    async with pool.acquire() as connection:
        world = await World.of_everything(connection)
        await check_twins(connection, world)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds=st.data())
async def test_the_statement_reaches_what_the_rule_reaches_in_any_world(
    pool: Pool, worlds: st.DataObject
) -> None:
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        try:
            await check_twins(connection, await World.drawn(connection, worlds))
        finally:
            await transaction.rollback()


async def listed(pool: Pool, caller: Caller) -> list[UUID]:
    """What a listing holds, on all of its pages."""
    found: list[UUID] = []
    wanted = PageRequest(size=50)
    while True:
        page = await knowledge_bases.page(pool, caller, knowledge_bases.Filter(), wanted)
        found += [base.id for base in page.rows]
        if not page.next_page_token:
            return found
        wanted = PageRequest(size=50, last=found[-1])


async def test_listing_and_reading_agree_with_resolving_but_for_hidden_bases(pool: Pool) -> None:
    async with pool.acquire() as connection:
        world = await World.of_everything(connection, sparse=True)
    every = Targets(frozenset(world.bases), frozenset())
    for caller in CALLERS:
        reached = await knowledge_bases.resolve(pool, caller, every, Want.VIEW)
        if caller.kind is not CallerKind.SERVICE:  # which list nothing
            regular = [base.id for base in reached if base.holding.kind is BaseKind.REGULAR]
            assert await listed(pool, caller) == sorted(regular)
        for base_id in world.bases:
            found = await knowledge_bases.find(pool, caller, base_id, Want.VIEW)
            assert (found is not None) == (base_id in {base.id for base in reached})


async def test_targets_are_answered_together_by_id_and_by_name_each_base_once(access: Access) -> None:
    one = await access.base("ana", collection_name="handbook")
    two = await access.base("ana", collection_name="handbook")
    three = await access.base("ana", collection_name="notes")
    answer = await access.resolve(access.person("ana"), ids=(one.id, three.id), names=("handbook",))
    assert answer == {one.id, two.id, three.id}


async def test_a_target_out_of_reach_refuses_them_all_as_an_absent_one_does(access: Access) -> None:
    mine = await access.base("ana", collection_name="mine")
    theirs = await access.base("bea", collection_name="theirs")
    ana = access.person("ana")
    absent = await refusal(access.resolve(ana, ids=(mine.id, str(uuid7()))))
    for call in (
        access.resolve(ana, ids=(mine.id, theirs.id)),
        access.resolve(ana, names=("mine", "theirs")),
        access.resolve(ana, names=("mine", "nobodys")),
        access.resolve(access.agent("ana"), ids=(mine.id,)),
    ):
        assert told(await refusal(call)) == told(absent)


async def test_absent_and_refused_cost_the_same_single_statement(access: Access, pool: Pool) -> None:
    theirs = await access.base("bea", collection_name="theirs")
    statements: list[str] = []

    def note(record: asyncpg.connection.LoggedQuery) -> None:
        statements.append(record.query)

    connections = [await pool.acquire() for _ in range(pool.get_max_size())]
    for connection in connections:
        connection.add_query_logger(note)
    for connection in connections:
        await pool.release(connection)
    seen = []
    for target in (theirs.id, str(uuid7())):
        statements.clear()
        await refusal(access.resolve(access.person("ana"), ids=(target,)))
        seen.append([text for text in statements if "knowledge_bases" in text])
    assert seen[0] == seen[1]
    assert len(seen[0]) == 1


async def test_a_name_stands_for_all_bases_on_a_read_and_for_one_on_a_write(access: Access) -> None:
    ana = access.person("ana")
    one = await access.base("ana", collection_name="handbook")
    assert await access.resolve(ana, names=("handbook",), permission=EDIT) == {one.id}
    two = await access.base("ana", collection_name="handbook")
    assert await access.resolve(ana, names=("handbook",)) == {one.id, two.id}
    refused = await refusal(access.resolve(ana, names=("handbook",), permission=EDIT))
    assert from_rpc_error(refused).reason == reasons.ERROR_REASON_COLLECTION_AMBIGUOUS
    assert await access.resolve(ana, ids=(one.id, two.id), permission=EDIT) == {one.id, two.id}


async def test_a_name_on_a_write_counts_only_the_bases_that_may_be_written(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_MEMBER)
    fields = {"collection_name": "handbook", "organization_id": acme}
    theirs = await access.base("ana", scope=kb.SCOPE_ORG, **fields)
    mine = await access.base("ana", scope=kb.SCOPE_PERSONAL, **fields)
    assert await access.resolve(access.person("bea"), names=("handbook",)) == {theirs.id}
    await access.add("ana", acme, "bea", org.ROLE_BUILDER)
    assert await access.resolve(access.person("bea"), names=("handbook",), permission=EDIT) == {theirs.id}
    assert await access.resolve(access.person("ana"), names=("handbook",)) == {theirs.id, mine.id}


async def test_a_service_reaches_every_base_in_its_own_name(access: Access) -> None:
    made = await access.base("ana")
    assert await access.resolve(access.service("ingest"), ids=(made.id,), permission=EDIT) == {made.id}


async def test_a_service_in_a_persons_name_reaches_what_the_person_does(access: Access) -> None:
    made = await access.base("ana")
    sync = access.service("sync")
    for name, allowed in (("ana", True), ("bea", False)):
        call = access.resolve(sync, ids=(made.id,), permission=EDIT, actor=str(person_id(name)))
        if allowed:
            assert await call == {made.id}
        else:
            assert from_rpc_error(await refusal(call)).reason == reasons.ERROR_REASON_NOT_FOUND


async def test_nobody_else_speaks_in_a_persons_name(access: Access) -> None:
    made = await access.base("ana")
    for options in (access.person("bea"), access.agent("ana")):
        refused = await refusal(access.resolve(options, ids=(made.id,), actor=str(person_id("ana"))))
        assert from_rpc_error(refused).reason == reasons.ERROR_REASON_SERVICES_ONLY


async def test_a_removed_member_reaches_nothing_with_the_next_call(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_ADMIN)
    made = await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme)
    own = await access.base("bea", scope=kb.SCOPE_PERSONAL, organization_id=acme)
    assert await access.resolve(access.person("bea"), ids=(made.id, own.id)) == {made.id, own.id}
    await access.remove("ana", acme, "bea")
    for base in (made, own):
        refused = await refusal(access.resolve(access.person("bea"), ids=(base.id,)))
        assert from_rpc_error(refused).reason == reasons.ERROR_REASON_NOT_FOUND


@pytest.mark.parametrize(
    ("request_", "paths"),
    [
        (access_pb2.ResolveRequest(permission=EDIT), ["targets"]),
        (access_pb2.ResolveRequest(targets=[access_pb2.Target()] * 101, permission=EDIT), ["targets"]),
        (
            access_pb2.ResolveRequest(targets=[access_pb2.Target(knowledge_base_id="x")]),
            ["permission", "targets[0].knowledge_base_id"],
        ),
        (
            access_pb2.ResolveRequest(targets=[access_pb2.Target()], permission=EDIT),
            ["targets[0].knowledge_base_id"],
        ),
    ],
)
async def test_a_malformed_request_is_refused_by_field(
    access: Access, request_: access_pb2.ResolveRequest, paths: list[str]
) -> None:
    refused = await refusal(access.rules.Resolve(request_, **access.person("ana")))
    assert [violation.path for violation in from_rpc_error(refused).fields][: len(paths)] == paths


async def test_who_am_i(access: Access) -> None:
    request = access_pb2.WhoAmIRequest()
    root = await access.rules.WhoAmI(request, **access.person(ADMIN))
    assert (root.user_id, root.deployment_admin) == (str(person_id(ADMIN)), True)
    ana = await access.rules.WhoAmI(request, **access.person("ana"))
    assert (ana.user_id, ana.deployment_admin) == (str(person_id("ana")), False)
    agent = await access.rules.WhoAmI(request, **access.agent(ADMIN))
    assert (agent.user_id, agent.deployment_admin) == (str(person_id(ADMIN)), False)
    sync = await access.rules.WhoAmI(request, **access.service("sync"))
    assert (sync.user_id, sync.service, sync.deployment_admin) == ("", "sync", False)
    acting = access_pb2.WhoAmIRequest(actor_user_id=str(person_id(ADMIN)))
    assert (await access.rules.WhoAmI(acting, **access.service("sync"))).deployment_admin


async def test_an_unknown_permission_or_id_says_nothing_of_what_exists(access: Access) -> None:
    made = await access.base("ana")
    for target in (made.id, str(uuid4())):
        request = access_pb2.ResolveRequest(targets=[access_pb2.Target(knowledge_base_id=target)])
        refused = await refusal(access.rules.Resolve(request, **access.person("bea")))
        assert from_rpc_error(refused).reason == reasons.ERROR_REASON_FIELD_INVALID


async def test_the_nil_id_is_of_no_base_as_any_other_may_be(access: Access) -> None:
    refused = [
        told(await refusal(access.resolve(access.person("ana"), ids=(absent,))))
        for absent in (str(UUID(int=0)), str(uuid4()))
    ]
    assert refused[0] == refused[1]
