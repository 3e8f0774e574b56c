"""Who may start: bulk in turns within one window, people past it under a cap of their own."""

from collections import Counter
from uuid import UUID

from services.ingest import outcomes
from services.ingest.admission import policy
from services.ingest.documents import Document
from services.shared.admission import Dispatcher
from services.shared.bus import Lane
from services.shared.db import Pool, Signal
from services.shared.errors import reason_of
from services.shared.ids import uuid7
from tests.integration.ingest.steps import Steps

BASE = uuid7()
BIG, SMALL = UUID(int=1), UUID(int=2)


def _dispatcher(pool: Pool) -> Dispatcher:
    admitted = policy(bulk_in_flight=4, interactive_in_flight=2)
    return Dispatcher(pool, admitted, Signal(), deadline_seconds=60, reconcile_seconds=1)


async def _many(steps: Steps, count: int, organization: UUID, lane: Lane) -> list[Document]:
    return [
        await steps.create(BASE, filename=f"{n}.md", organization_id=organization, lane=lane)
        for n in range(count)
    ]


async def _in_flight(pool: Pool) -> Counter[tuple[str, UUID]]:
    found = await pool.fetch("SELECT lane, tenant_id FROM jobs WHERE state = 'sent' AND stage = 'parse'")
    return Counter((row["lane"], row["tenant_id"]) for row in found)


async def test_a_great_sync_of_one_organization_does_not_keep_another_waiting(steps: Steps) -> None:
    await _many(steps, 30, BIG, Lane.BULK)
    await _many(steps, 2, SMALL, Lane.BULK)
    await _dispatcher(steps.pool).admit()
    assert await _in_flight(steps.pool) == {("bulk", BIG): 2, ("bulk", SMALL): 2}


async def test_people_skip_the_window_but_one_organization_is_capped(steps: Steps) -> None:
    await _many(steps, 30, BIG, Lane.BULK)
    dispatcher = _dispatcher(steps.pool)
    await dispatcher.admit()
    await _many(steps, 5, BIG, Lane.INTERACTIVE)
    await _many(steps, 1, SMALL, Lane.INTERACTIVE)
    await dispatcher.admit()
    assert await _in_flight(steps.pool) == {
        ("bulk", BIG): 4,
        ("interactive", BIG): 2,
        ("interactive", SMALL): 1,
    }


async def test_a_document_keeps_its_place_in_the_window_until_it_is_terminal(steps: Steps) -> None:
    first, *_ = await _many(steps, 6, BIG, Lane.BULK)
    dispatcher = _dispatcher(steps.pool)
    await dispatcher.admit()
    claimed = await steps.claimed(first)
    await steps.finish(first, claimed)
    assert await dispatcher.admit() == 0
    await steps.index(first)
    assert await dispatcher.admit() == 1


async def test_a_failed_document_gives_its_place_to_the_next(steps: Steps) -> None:
    first, *_ = await _many(steps, 6, BIG, Lane.BULK)
    dispatcher = _dispatcher(steps.pool)
    await dispatcher.admit()
    await outcomes.fail_parse(steps.pool, await steps.claimed(first), reason_of("NO_TEXT"))
    assert await dispatcher.admit() == 1
