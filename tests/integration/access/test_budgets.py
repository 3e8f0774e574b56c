"""Budgets: limits, what is reserved before a call and settled after, and what dead workers leave behind."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

import grpc
import pytest
from grpc.aio import AioRpcError

from acervo.access.v1 import budgets_pb2
from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.common.v1 import error_reason_pb2 as reasons
from services.access import budgets
from services.access.budget import Month, period_of
from services.access.budgets import Reservation
from services.access.refusals import BudgetExhausted
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from services.shared.ids import uuid7
from tests.integration.access.callers import Access, person_id, refusal, told

NOW = datetime(2026, 12, 31, 23, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
INDEXER = "vectorstore"


@pytest.fixture
async def acme(access: Access) -> str:
    return await access.organization("ana", admin=org.ROLE_ADMIN, bea=org.ROLE_BUILDER)


@pytest.fixture
async def base(access: Access, acme: str) -> str:
    return (await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme)).id


async def figures(access: Access, organization_id: str) -> tuple[int | None, int, int]:
    """Limit, spent, reserved."""
    now = await access.budget("ana", organization_id)
    limit = now.limit_micros if now.HasField("limit_micros") else None
    return limit, now.spent_micros, now.reserved_micros


async def at(pool: Pool, acme: str, moment: datetime) -> Month:
    return await budgets.find(pool, UUID(acme), person_id("ana"), period_of(moment))


async def reserve(
    pool: Pool, base: str, amount: int, now: datetime = NOW, *, again: UUID | None = None
) -> UUID:
    wanted = Reservation(again or uuid7(), INDEXER, UUID(base), amount)
    async with pool.acquire() as connection, connection.transaction():
        await budgets.reserve(connection, wanted, now, HOUR)
    return wanted.id


async def settle(pool: Pool, reservation: UUID, actual: int) -> None:
    async with pool.acquire() as connection, connection.transaction():
        await budgets.settle(connection, reservation, INDEXER, actual)


async def test_an_organization_without_a_limit_spends_what_it_likes_and_sees_it(
    access: Access, acme: str, base: str
) -> None:
    assert await figures(access, acme) == (None, 0, 0)
    reservation = await access.reserve(INDEXER, base, 10**12)
    assert await figures(access, acme) == (None, 0, 10**12)
    await access.settle(INDEXER, reservation, 7)
    assert await figures(access, acme) == (None, 7, 0)


async def test_a_limit_is_set_changed_and_cleared_by_those_who_manage_budgets(
    access: Access, acme: str
) -> None:
    assert (await access.limit("admin", acme, 0)).limit_micros == 0
    assert (await access.limit("ana", acme, 5)).limit_micros == 5
    assert not (await access.limit("ana", acme, None)).HasField("limit_micros")
    assert await figures(access, acme) == (None, 0, 0)
    error = await refusal(access.limit("bea", acme, 5))
    assert told(error) == told(await refusal(access.limit("bea", str(uuid7()), 5)))


async def test_a_period_is_told_by_its_two_ends(access: Access, acme: str) -> None:
    now = await access.budget("ana", acme)
    start, end = (stamp.ToDatetime(UTC) for stamp in (now.period_start_time, now.period_end_time))
    assert (start.day, start.hour, end.day, end.hour) == (1, 0, 1, 0)
    assert start <= datetime.now(UTC) < end


async def test_over_the_limit_a_reservation_is_refused_with_the_figures(
    access: Access, acme: str, base: str
) -> None:
    await access.limit("ana", acme, 40_000_000)
    await access.settle(INDEXER, await access.reserve(INDEXER, base, 40_000_000), 40_150_000)
    error = await refusal(access.reserve(INDEXER, base, 1))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert error.details() == "Organization monthly budget exhausted: $40.15 spent of $40.00 limit."
    refused = from_rpc_error(error)
    assert refused.reason == reasons.ERROR_REASON_BUDGET_EXHAUSTED
    assert {name: refused.metadata[name] for name in ("limit_micros", "spent_micros", "reserved_micros")} == {
        "limit_micros": "40000000",
        "spent_micros": "40150000",
        "reserved_micros": "0",
    }
    await access.limit("ana", acme, 50_000_000)
    await access.reserve(INDEXER, base, 1)


async def test_reservations_made_side_by_side_come_to_the_limit_and_no_further(
    access: Access, acme: str, base: str
) -> None:
    await access.limit("ana", acme, 7)
    outcomes = await asyncio.gather(
        *(access.reserve(INDEXER, base, 1) for _ in range(40)), return_exceptions=True
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, AioRpcError)]
    assert {from_rpc_error(error).reason for error in refused} == {reasons.ERROR_REASON_BUDGET_EXHAUSTED}
    assert len(refused) == 33
    assert await figures(access, acme) == (7, 0, 7)


async def test_the_same_reservation_again_side_by_side_or_later_is_one(
    access: Access, acme: str, base: str
) -> None:
    await access.limit("ana", acme, 10)
    reservation = str(uuid7())
    again = [access.reserve(INDEXER, base, 6, reservation) for _ in range(8)]
    assert set(await asyncio.gather(*again)) == {reservation}
    assert await figures(access, acme) == (10, 0, 6)
    await access.settle(INDEXER, reservation, 5)
    await access.reserve(INDEXER, base, 6, reservation)
    assert await figures(access, acme) == (10, 5, 0)


async def test_a_reservations_id_stands_for_one_thing(access: Access, acme: str, base: str) -> None:
    reservation = await access.reserve(INDEXER, base, 6)
    other = (await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme)).id
    for attempt in (
        access.reserve(INDEXER, base, 7, reservation),
        access.reserve(INDEXER, other, 6, reservation),
        access.reserve("ingest", base, 6, reservation),
    ):
        error = from_rpc_error(await refusal(attempt))
        assert error.reason == reasons.ERROR_REASON_REQUEST_ID_REUSED
    assert await figures(access, acme) == (None, 0, 6)


async def test_to_settle_twice_or_side_by_side_counts_once(access: Access, acme: str, base: str) -> None:
    reservation = await access.reserve(INDEXER, base, 6)
    await asyncio.gather(*(access.settle(INDEXER, reservation, 4) for _ in range(6)))
    await access.settle(INDEXER, reservation, 1_000)
    assert await figures(access, acme) == (None, 4, 0)


async def test_a_service_settles_what_it_reserved_and_nothing_of_others(
    access: Access, acme: str, base: str
) -> None:
    reservation = await access.reserve(INDEXER, base, 6)
    error = await refusal(access.settle("ingest", reservation, 0))
    assert told(error) == told(await refusal(access.settle(INDEXER, str(uuid7()), 0)))
    assert error.code() is grpc.StatusCode.NOT_FOUND
    assert await figures(access, acme) == (None, 0, 6)


async def test_a_base_of_no_organization_is_always_granted_and_counts_nowhere(
    access: Access, acme: str
) -> None:
    await access.limit("ana", acme, 0)
    alone = (await access.base("ana")).id
    reservation = await access.reserve(INDEXER, alone, 10**12)
    await access.settle(INDEXER, reservation, 10**12)
    assert await figures(access, acme) == (0, 0, 0)


async def test_a_members_personal_base_is_on_the_organizations_budget(access: Access, acme: str) -> None:
    await access.limit("ana", acme, 0)
    hers = (await access.base("ana", organization_id=acme)).id
    error = from_rpc_error(await refusal(access.reserve(INDEXER, hers, 1)))
    assert error.reason == reasons.ERROR_REASON_BUDGET_EXHAUSTED


async def test_what_a_dead_worker_reserved_is_given_back(
    access: Access, pool: Pool, acme: str, base: str
) -> None:
    await access.limit("ana", acme, 10)
    await reserve(pool, base, 10)
    assert await budgets.expire(pool, NOW + HOUR / 2) == 0
    assert await at(pool, acme, NOW) == Month(10, 0, 10)
    assert await budgets.expire(pool, NOW + HOUR) == 1
    assert await budgets.expire(pool, NOW + HOUR) == 0
    assert await at(pool, acme, NOW) == Month(10, 0, 0)


async def test_what_was_spent_counts_although_the_reservation_had_expired(
    access: Access, pool: Pool, acme: str, base: str
) -> None:
    late = await reserve(pool, base, 10)
    await budgets.expire(pool, NOW + HOUR)
    await settle(pool, late, 8)
    await settle(pool, late, 8)
    assert await at(pool, acme, NOW) == Month(None, 8, 0)


async def test_an_expired_reservation_asked_for_again_is_judged_anew(
    access: Access, pool: Pool, acme: str, base: str
) -> None:
    await access.limit("ana", acme, 10)
    first = await reserve(pool, base, 6)
    await budgets.expire(pool, NOW + HOUR)
    second = await reserve(pool, base, 6)
    with pytest.raises(BudgetExhausted):
        await reserve(pool, base, 6, again=first)
    await settle(pool, second, 0)
    await reserve(pool, base, 6, again=first)
    assert await at(pool, acme, NOW) == Month(10, 0, 6)


async def test_a_call_counts_in_the_month_in_which_it_was_reserved(
    access: Access, pool: Pool, acme: str, base: str
) -> None:
    await access.limit("ana", acme, 10)
    over_the_year = await reserve(pool, base, 10)
    await reserve(pool, base, 10, NOW + HOUR)
    await settle(pool, over_the_year, 9)
    assert await at(pool, acme, NOW) == Month(10, 9, 0)
    assert await at(pool, acme, NOW + HOUR) == Month(10, 0, 10)


async def test_reservations_that_are_done_with_are_forgotten_and_open_ones_are_not(
    access: Access, pool: Pool, acme: str, base: str
) -> None:
    done, open_ = await reserve(pool, base, 1), await reserve(pool, base, 2)
    await settle(pool, done, 1)
    await budgets.forget(pool, NOW + 2 * HOUR)
    assert [row["id"] for row in await pool.fetch("SELECT id FROM reservations")] == [open_]
    assert await at(pool, acme, NOW) == Month(None, 1, 2)


async def test_with_an_organization_go_its_budget_its_spend_and_its_reservations(
    access: Access, pool: Pool, acme: str, base: str
) -> None:
    await access.limit("ana", acme, 10)
    reservation = await access.reserve(INDEXER, base, 3)
    request = org.DeleteOrganizationRequest(organization_id=acme)
    await access.organizations.DeleteOrganization(request, **access.person("ana"))
    for table in ("budgets", "spend", "reservations"):
        assert await pool.fetchval(f"SELECT count(*) FROM {table}") == 0
    for attempt in (access.reserve(INDEXER, base, 1), access.settle(INDEXER, reservation, 1)):
        assert (await refusal(attempt)).code() is grpc.StatusCode.NOT_FOUND


async def test_an_organization_ends_amid_reservations_that_are_made_settled_and_given_back(
    access: Access, pool: Pool
) -> None:
    for _ in range(4):
        acme = await access.organization("ana")
        base = (await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme)).id
        held = [await access.reserve(INDEXER, base) for _ in range(4)]
        request = org.DeleteOrganizationRequest(organization_id=acme)
        outcomes = await asyncio.gather(
            *(access.reserve(INDEXER, base) for _ in range(4)),
            *(access.settle(INDEXER, reservation, 1) for reservation in held),
            budgets.expire(pool, datetime.now(UTC) + 2 * HOUR),
            access.organizations.DeleteOrganization(request, **access.person("ana")),
            return_exceptions=True,
        )
        failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        assert all(isinstance(one, AioRpcError) for one in failed), failed
        assert {one.code() for one in failed if isinstance(one, AioRpcError)} <= {grpc.StatusCode.NOT_FOUND}
        for table in ("spend", "reservations"):
            assert await pool.fetchval(f"SELECT count(*) FROM {table}") == 0


@pytest.mark.parametrize("amount", [-1, 0, 10**12 + 1])
async def test_an_amount_is_above_zero_and_bounded(access: Access, base: str, amount: int) -> None:
    error = from_rpc_error(await refusal(access.reserve(INDEXER, base, amount)))
    assert [field.path for field in error.fields] == ["amount_micros"]


async def test_a_limit_is_not_below_zero(access: Access, acme: str) -> None:
    error = from_rpc_error(await refusal(access.limit("ana", acme, -1)))
    assert [field.path for field in error.fields] == ["limit_micros"]


async def test_a_limit_set_twice_by_one_request_is_set_once(access: Access, acme: str, pool: Pool) -> None:
    request = budgets_pb2.SetBudgetRequest(request_id=str(uuid7()), organization_id=acme, limit_micros=5)
    first = await access.budgets.SetBudget(request, **access.person("ana"))
    await access.limit("ana", acme, 6)
    assert await access.budgets.SetBudget(request, **access.person("ana")) == first
    assert (await figures(access, acme))[0] == 6
    noted = "SELECT after->>'limit_micros' FROM audit_events WHERE action = 'budget.changed' ORDER BY id"
    assert [row[0] for row in await pool.fetch(noted)] == ["5", "6"]
