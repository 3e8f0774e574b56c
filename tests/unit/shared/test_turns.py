"""Who gets a slot: in turns between tenants, in order within one, never more than was promised, and nobody for ever."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.broker import HandBack
from services.shared.bus import Lane
from services.shared.turns import PATIENCE, Turns, pulled

ANA, BEN, CAT = (UUID(int=n) for n in (1, 2, 3))
PEOPLE, BULK = Lane.INTERACTIVE, Lane.BULK


@dataclass(eq=False)
class Job:
    """A job that waits for its turn, runs until it is told to end, and can be cancelled at any time."""

    tenant: UUID
    lane: Lane
    number: int
    is_long: bool = False
    end: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None


class Workers:
    """Jobs before one `Turns`, with what runs and what has run, in the order of the turns."""

    def __init__(self, slots: int) -> None:
        self.turns = Turns(slots)
        self.waiting: list[Job] = []
        self.running: list[Job] = []
        self.begun: list[Job] = []

    async def add(self, tenant: UUID, lane: Lane = PEOPLE, *, is_long: bool = False) -> Job:
        job = Job(tenant, lane, len(self.begun) + len(self.waiting), is_long)
        self.waiting.append(job)
        job.task = asyncio.create_task(self._run(job))
        await settled()
        return job

    async def _run(self, job: Job) -> None:
        async with self.turns.of(job.tenant, job.lane, is_long=job.is_long):
            self.waiting.remove(job)
            self.running.append(job)
            self.begun.append(job)
            try:
                await job.end.wait()
            finally:
                self.running.remove(job)

    async def finish(self, job: Job) -> None:
        job.end.set()
        await settled()

    async def cancel(self, job: Job) -> None:
        assert job.task is not None
        job.task.cancel()
        await asyncio.gather(job.task, return_exceptions=True)
        if job in self.waiting:
            self.waiting.remove(job)
        await settled()

    async def drain(self) -> None:
        """End whatever runs, until nothing does."""
        while self.running:
            await self.finish(self.running[0])

    @property
    def order(self) -> list[UUID]:
        return [job.tenant for job in self.begun]


async def settled() -> None:
    """Let every task go on until it waits."""
    for _ in range(4):
        await asyncio.sleep(0)


async def test_a_tenant_with_many_jobs_leaves_a_slot_to_another() -> None:
    workers = Workers(2)
    for _ in range(5):
        await workers.add(ANA)
    assert workers.order == [ANA]
    late = await workers.add(BEN)
    assert workers.running[-1] is late


async def test_tenants_who_wait_take_turns_and_one_tenants_jobs_keep_their_order() -> None:
    workers = Workers(1)
    first = await workers.add(CAT)
    for tenant in (ANA, ANA, ANA, BEN, BEN, CAT):
        await workers.add(tenant)
    await workers.finish(first)
    await workers.drain()
    assert workers.order == [CAT, ANA, BEN, CAT, ANA, BEN, ANA]
    for tenant in (ANA, BEN):
        numbers = [job.number for job in workers.begun if job.tenant == tenant]
        assert numbers == sorted(numbers)


async def test_bulk_work_and_second_jobs_leave_the_last_slot_to_people_of_whom_nothing_runs() -> None:
    workers = Workers(3)
    for tenant, lane in ((ANA, PEOPLE), (BEN, BULK), (CAT, BULK), (ANA, PEOPLE)):
        await workers.add(tenant, lane)
    assert workers.order == [ANA, BEN]
    await workers.add(CAT)
    assert workers.order == [ANA, BEN, CAT]


async def test_one_persons_many_jobs_leave_a_slot_to_bulk_work_beside_that_for_people() -> None:
    workers = Workers(4)
    for _ in range(4):
        await workers.add(ANA)
    await workers.add(BEN, BULK)
    await workers.add(CAT)
    assert workers.order == [ANA, ANA, BEN, CAT]


async def test_whoever_was_passed_over_often_enough_gets_the_last_slot() -> None:
    workers = Workers(2)
    people = [await workers.add(UUID(int=100)), await workers.add(UUID(int=101))]
    bulk = await workers.add(BEN, BULK)
    for n in range(PATIENCE):
        people.append(await workers.add(UUID(int=200 + n)))
        await workers.finish(people.pop(0))
        assert bulk in workers.waiting
    people.append(await workers.add(UUID(int=300)))
    await workers.finish(people.pop(0))
    assert bulk in workers.running


@pytest.mark.parametrize("slots", [1, 2, 3])
async def test_an_endless_line_of_newcomers_starves_nobody(slots: int) -> None:
    workers = Workers(slots)
    for _ in range(slots):
        await workers.add(ANA)
    last = await workers.add(ANA)
    for n in range(slots):
        await workers.add(UUID(int=100 + n))
    for n in range(4 * slots):
        await workers.add(UUID(int=200 + n))
        await workers.finish(workers.running[0])
    assert last in workers.begun


async def test_however_often_a_tenant_is_passed_over_it_never_has_all_slots() -> None:
    workers = Workers(2)
    await workers.add(ANA)
    second = await workers.add(ANA)
    for n in range(2 * PATIENCE):
        await workers.finish(await workers.add(UUID(int=200 + n)))
    assert second in workers.waiting


@pytest.mark.parametrize("lane", Lane)
async def test_a_single_slot_serves_everybody(lane: Lane) -> None:
    workers = Workers(1)
    await workers.add(ANA, lane)
    await workers.add(BEN, lane)
    await workers.drain()
    assert workers.order == [ANA, BEN]


async def test_a_turn_that_is_cancelled_just_as_it_is_granted_goes_to_the_next() -> None:
    workers = Workers(1)
    async with workers.turns.of(ANA, PEOPLE):
        second, third = await workers.add(BEN), await workers.add(CAT)
    assert second.task is not None
    second.task.cancel()
    await settled()
    assert second.task.cancelled()
    assert workers.begun == [third]


async def test_closing_sends_away_who_waits_and_lets_who_runs_end() -> None:
    workers = Workers(1)
    running, waiting = await workers.add(ANA), await workers.add(BEN)
    workers.turns.close()
    for job in (waiting, await workers.add(CAT)):
        assert job.task is not None
        with pytest.raises(HandBack):
            await job.task
    assert workers.running == [running]
    await workers.finish(running)
    assert running.task is not None
    assert running.task.exception() is None


ACTS = st.tuples(
    st.sampled_from(["add", "finish", "cancel waiting", "cancel running"]),
    st.integers(0, 9),
    st.sampled_from(Lane),
)


@given(slots=st.integers(1, 5), acts=st.lists(ACTS, max_size=60))
async def test_whatever_comes_no_promise_is_broken_and_everybody_gets_a_turn(
    slots: int, acts: list[tuple[str, int, Lane]]
) -> None:
    workers = Workers(slots)
    for act, number, lane in acts:
        jobs = workers.waiting if act == "cancel waiting" else workers.running
        if act == "add":
            await workers.add((ANA, BEN, CAT)[number % 3], lane)
        elif jobs:
            job = jobs[number % len(jobs)]
            await (workers.finish(job) if act == "finish" else workers.cancel(job))
        _check(workers, slots)
    await workers.drain()
    assert not workers.waiting
    for tenant in (ANA, BEN, CAT):
        for lane in Lane:
            numbers = [job.number for job in workers.begun if (job.tenant, job.lane) == (tenant, lane)]
            assert numbers == sorted(numbers)
    assert all([await _is_free(workers, slots) for _ in range(2)])


def _check(workers: Workers, slots: int) -> None:
    assert len(workers.running) <= slots
    held = Counter(job.tenant for job in workers.running)
    most = {1: 1, 2: 1, 3: 2, 4: 2, 5: 3}[slots]
    assert all(count <= most for count in held.values())
    assert not workers.waiting or len(workers.running) >= most


async def _is_free(workers: Workers, slots: int) -> bool:
    """Whether every slot can be had by somebody of whom nothing runs, and is given back."""
    jobs = [await workers.add(UUID(int=1000 + n)) for n in range(slots)]
    all_run = workers.running == jobs
    await workers.drain()
    return all_run


@given(slots=st.integers(1, 4), counts=st.lists(st.integers(1, 12), min_size=2, max_size=5))
async def test_tenants_who_wait_get_as_many_turns_as_each_other(slots: int, counts: list[int]) -> None:
    workers = Workers(slots)
    tenants = [UUID(int=n) for n in range(len(counts))]
    for tenant, count in zip(tenants, counts, strict=True):
        for _ in range(count):
            await workers.add(tenant)
    while workers.running:
        await workers.finish(workers.running[0])
        begun, waiting = Counter(workers.order), {job.tenant for job in workers.waiting}
        most = max(begun.values())
        assert all(begun[tenant] >= most - slots for tenant in waiting)


def test_people_s_work_is_pulled_ahead_and_bulk_work_leaves_a_slot() -> None:
    assert [pulled(BULK, slots) for slots in (1, 2, 4)] == [1, 1, 3]
    assert pulled(PEOPLE, 2) > 2


@pytest.mark.parametrize(("slots", "most"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 6)])
async def test_long_work_leaves_slots_to_short_work_whoever_it_is_for(slots: int, most: int) -> None:
    workers = Workers(slots)
    for number in range(20):
        for lane in Lane:
            await workers.add(UUID(int=number), lane, is_long=True)
    assert len(workers.running) == most
    for number in range(20, 20 + slots - most):
        assert await workers.add(UUID(int=number)) in workers.running
    for job in list(workers.running):
        if not job.is_long:
            await workers.finish(job)
    assert len(workers.running) == most
    while workers.running:
        await workers.finish(workers.running[0])
        assert len(workers.running) <= most
    assert workers.waiting == []
