"""Deleting: what goes, what stays, and when a name is free again."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from uuid import UUID, uuid4

from grpc.aio import AioRpcError

from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.events.v1.facts_pb2 import BaseDeleted, BaseEmptied, OrganizationDeleted
from services.access.bases import names, teardowns
from services.access.bases.teardown import OWNERS
from services.shared import bus
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from services.shared.ids import uuid7
from tests.integration.access.callers import Access, refusal
from tests.integration.access.matrix_world import hide


async def sent(pool: Pool, subject: str) -> list[bytes]:
    rows = await pool.fetch("SELECT payload FROM outbox WHERE subject = $1 ORDER BY id", subject)
    return [row["payload"] for row in rows]


async def deleted(pool: Pool) -> list[BaseDeleted]:
    return [BaseDeleted.FromString(payload) for payload in await sent(pool, bus.BASE_DELETED)]


async def answer(pool: Pool, teardown_id: str, services: Sequence[str] = tuple(sorted(OWNERS))) -> None:
    for service in services:
        await teardowns.answered(pool, UUID(teardown_id), service)


async def is_free(access: Access, name: str, claimant: str = "zoe") -> bool:
    """Whether the claimant gets the name, and so has it now."""
    try:
        await access.base(claimant, collection_name=name)
    except AioRpcError as error:
        if from_rpc_error(error).reason != reasons.ERROR_REASON_NAME_TAKEN:
            raise
        return False
    return True


async def test_a_deleted_base_reserves_its_name_until_all_four_have_answered(
    access: Access, pool: Pool
) -> None:
    made = await access.base("ana", collection_name="handbook")
    await access.delete("ana", made.id)
    (fact,) = await deleted(pool)
    assert (fact.knowledge_base_id, fact.collection_name, fact.last_holder) == (made.id, "handbook", True)
    assert not fact.owner_gone
    for service in sorted(OWNERS):
        assert not await is_free(access, "handbook")
        assert not await is_free(access, "handbook", "ana")
        await answer(pool, fact.teardown_id, [service, service])
    assert await is_free(access, "handbook")


async def test_a_freed_name_keeps_nothing_of_its_embedding_settings(access: Access, pool: Pool) -> None:
    hashing = kb.EmbeddingSettings(model="hashing-256", width=256)
    made = await access.base("ana", collection_name="handbook", embedding=hashing)
    await access.delete("ana", made.id)
    (fact,) = await deleted(pool)
    await answer(pool, fact.teardown_id)
    assert (await access.base("bea", collection_name="handbook")).embedding.width == 512
    await answer(pool, fact.teardown_id)
    assert not await is_free(access, "handbook")


async def test_a_base_of_several_goes_alone_and_its_name_stays_held(access: Access, pool: Pool) -> None:
    one = await access.base("ana", collection_name="handbook")
    two = await access.base("ana", collection_name="handbook")
    await access.delete("ana", one.id)
    await access.base("ana", collection_name="handbook")
    (first,) = await deleted(pool)
    assert not first.last_holder
    await answer(pool, first.teardown_id)
    assert not await is_free(access, "handbook")
    assert await access.resolve(access.person("ana"), ids=(two.id,)) == {two.id}


async def test_a_name_waits_for_the_teardowns_of_all_its_bases(access: Access, pool: Pool) -> None:
    one = await access.base("ana", collection_name="handbook")
    two = await access.base("ana", collection_name="handbook")
    await access.delete("ana", one.id)
    await access.delete("ana", two.id)
    first, second = await deleted(pool)
    assert [first.last_holder, second.last_holder] == [False, True]
    await answer(pool, second.teardown_id)
    assert not await is_free(access, "handbook")
    await answer(pool, first.teardown_id)
    assert await is_free(access, "handbook")


async def test_bases_of_a_name_that_are_deleted_at_once_have_one_last_holder(
    access: Access, pool: Pool
) -> None:
    chance = random.Random(7)
    for number in range(4):
        name = f"handbook_{number}"
        made = [await access.base("ana", collection_name=name) for _ in range(3)]
        chance.shuffle(made)
        await asyncio.gather(*(access.delete("ana", base.id) for base in made))
        facts = [fact for fact in await deleted(pool) if fact.collection_name == name]
        assert sorted(fact.last_holder for fact in facts) == [False, False, True]


async def test_a_claim_and_a_deletion_at_once_never_leave_a_base_on_a_table_that_goes(
    access: Access, pool: Pool
) -> None:
    for number in range(6):
        name = f"handbook_{number}"
        made = await access.base("ana", collection_name=name)
        await asyncio.gather(
            access.delete("ana", made.id), access.base("ana", collection_name=name), return_exceptions=True
        )
        (fact,) = [fact for fact in await deleted(pool) if fact.collection_name == name]
        held = await pool.fetchval("SELECT count(*) FROM knowledge_bases WHERE collection_name = $1", name)
        assert fact.last_holder == (held == 0)


async def test_a_base_deleted_twice_at_once_goes_once(access: Access, pool: Pool) -> None:
    made = await access.base("ana")
    outcomes = await asyncio.gather(
        *(access.delete("ana", made.id) for _ in range(3)), return_exceptions=True
    )
    assert sum(outcome is None for outcome in outcomes) == 1
    assert len(await deleted(pool)) == 1


async def test_a_deletion_repeated_with_its_request_id_is_answered_again(access: Access, pool: Pool) -> None:
    made = await access.base("ana")
    request_id = str(uuid4())
    await access.delete("ana", made.id, request_id)
    await access.delete("ana", made.id, request_id)
    assert len(await deleted(pool)) == 1


async def test_a_default_base_is_emptied_and_stays(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana")
    (default,) = (
        await access.bases.ListKnowledgeBases(kb.ListKnowledgeBasesRequest(), **access.person("ana"))
    ).knowledge_bases
    before = uuid7()
    await access.delete("ana", default.id)
    after = uuid7()
    (payload,) = await sent(pool, bus.BASE_EMPTIED)
    fact = BaseEmptied.FromString(payload)
    assert fact.knowledge_base_id == default.id
    assert before < UUID(fact.emptied_before) < after
    assert await deleted(pool) == []
    await answer(pool, fact.teardown_id)
    assert await access.resolve(access.person("ana"), ids=(default.id,)) == {default.id}
    assert not await is_free(access, default.collection_name)
    assert acme == default.organization_id


async def test_a_viewer_deletes_nothing(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana", bea=org.ROLE_VIEWER)
    made = await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme)
    refused = await refusal(access.delete("bea", made.id))
    assert from_rpc_error(refused).reason == reasons.ERROR_REASON_NOT_FOUND
    assert await deleted(pool) == []


async def test_an_organization_goes_with_all_its_bases_and_each_is_announced(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana", bea=org.ROLE_MEMBER)
    fields = {"organization_id": acme, "collection_name": "handbook"}
    shared = [await access.base("ana", scope=kb.SCOPE_ORG, **fields) for _ in range(2)]
    personal = await access.base("bea", scope=kb.SCOPE_PERSONAL, organization_id=acme)
    outside = await access.base("bea")
    request = org.DeleteOrganizationRequest(organization_id=acme)
    await access.organizations.DeleteOrganization(request, **access.person("ana"))
    facts = {fact.knowledge_base_id: fact for fact in await deleted(pool)}
    assert len(facts) == 4
    assert sorted(facts[base.id].last_holder for base in shared) == [False, True]
    assert facts[personal.id].last_holder
    assert all(fact.owner_gone for fact in facts.values())
    (payload,) = await sent(pool, bus.ORGANIZATION_DELETED)
    assert OrganizationDeleted.FromString(payload).organization_id == acme
    assert await pool.fetchval("SELECT count(*) FROM members") == 0
    assert await access.resolve(access.person("bea"), ids=(outside.id,)) == {outside.id}
    for fact in facts.values():
        await answer(pool, fact.teardown_id)
    assert await is_free(access, "handbook")


async def test_bases_made_while_an_organization_goes_are_refused_or_go_with_it(
    access: Access, pool: Pool
) -> None:
    for _ in range(4):
        acme = await access.organization("ana")
        request = org.DeleteOrganizationRequest(organization_id=acme)
        await asyncio.gather(
            access.organizations.DeleteOrganization(request, **access.person("ana")),
            *(access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme) for _ in range(3)),
            return_exceptions=True,
        )
        assert await pool.fetchval("SELECT count(*) FROM organizations") == 0
        assert await pool.fetchval("SELECT count(*) FROM knowledge_bases") == 0


async def test_an_organization_that_shares_a_name_with_a_person_leaves_the_table(
    access: Access, pool: Pool
) -> None:
    await access.base("ana", collection_name="handbook")
    acme = await access.organization("ana")
    theirs = await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme, collection_name="handbook")
    request = org.DeleteOrganizationRequest(organization_id=acme)
    await access.organizations.DeleteOrganization(request, **access.person("ana"))
    (fact,) = [fact for fact in await deleted(pool) if fact.knowledge_base_id == theirs.id]
    assert not fact.last_holder


async def test_only_teardowns_that_hang_are_announced_again(access: Access, pool: Pool) -> None:
    hanging = await access.base("ana")
    recent = await access.base("ana")
    await access.delete("ana", hanging.id)
    await access.delete("ana", recent.id)
    await pool.execute(
        "UPDATE teardowns SET announce_time = now() - interval '2 hours' WHERE knowledge_base_id = $1",
        UUID(hanging.id),
    )
    assert await teardowns.announce_overdue(pool, timedelta(hours=1)) == 1
    assert await teardowns.announce_overdue(pool, timedelta(hours=1)) == 0
    announced = [fact.knowledge_base_id for fact in await deleted(pool)]
    assert announced == [hanging.id, recent.id, hanging.id]
    assert len({fact.teardown_id for fact in await deleted(pool)}) == 2


async def test_a_deletion_waits_for_whoever_is_at_work_on_the_name_and_then_goes_on(
    access: Access, pool: Pool, eventually: Callable[..., Awaitable[None]]
) -> None:
    made = await access.base("ana", collection_name="handbook")

    async def waits() -> bool:
        return bool(
            await pool.fetchval(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
        )

    async with pool.acquire() as connection, connection.transaction():
        await names.lock(connection, "handbook")
        claim = from_rpc_error(await refusal(access.base("ana", collection_name="handbook")))
        assert claim.reason == reasons.ERROR_REASON_TRY_AGAIN
        deletion = asyncio.create_task(access.delete("ana", made.id))
        await eventually(waits)
        assert not deletion.done()
    await deletion
    assert [fact.knowledge_base_id for fact in await deleted(pool)] == [made.id]


async def test_an_organization_whose_names_hold_what_nobody_owns_leaves_those_tables(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana")
    theirs = await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme, collection_name="handbook")
    hidden = await hide(pool, "handbook")
    request = org.DeleteOrganizationRequest(organization_id=acme)
    await access.organizations.DeleteOrganization(request, **access.person("ana"))
    facts = {fact.knowledge_base_id: fact for fact in await deleted(pool)}
    assert not facts[theirs.id].last_holder
    for fact in facts.values():
        await answer(pool, fact.teardown_id)
    assert not await is_free(access, "handbook")
    await access.delete(access.admin, hidden)
    fact = (await deleted(pool))[-1]
    assert (fact.knowledge_base_id, fact.last_holder) == (hidden, True)
    await answer(pool, fact.teardown_id)
    assert await is_free(access, "handbook")
