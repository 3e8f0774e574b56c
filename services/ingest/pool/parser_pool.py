"""The parser pool: a few processes that read and cut files, each replaced once it has died or done enough.

A crash, a hang or a file that wants too much memory fails the one job that it happened in.
"""

import asyncio
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from acervo.common.v1 import error_reason_pb2 as pb
from services.ingest.pool.isolation import Isolation
from services.ingest.pool.job import Job, Outcome, Refused
from services.ingest.pool.process import Child, ChildLost
from services.shared.errors import Unavailable
from services.shared.reasons import meaning

_STARTS = 3
"""How many processes in a row may die outside a job before the pool is said to be broken."""


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """What one file, and one process, may take."""

    seconds: float = 300
    """Longest time for one file."""
    memory: int = 1 << 30
    """Bytes of memory that files may take beside what the process needs itself."""
    jobs: int = 200
    """How many files a process reads before it is replaced, so that what libraries leak stays bounded."""


class PoolBroken(Unavailable):
    """No parser process can be started, or all die before they take a job. No file is to blame."""


class ParserPool:
    """Reads and cuts at most `slots` files at once. Use it as an asynchronous context manager, and `parse`."""

    def __init__(self, *, slots: int, limits: PoolLimits | None = None) -> None:
        self._limits = limits or PoolLimits()
        self._slots = [_Slot(self._limits) for _ in range(slots)]
        self._free: asyncio.LifoQueue[_Slot] = asyncio.LifoQueue()

    async def __aenter__(self) -> Self:
        for slot in self._slots:
            slot.open()
            self._free.put_nowait(slot)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.gather(*(slot.close() for slot in self._slots))

    async def isolation(self) -> Isolation:
        """What the parsers are kept from. Waits until one has started. Raises PoolBroken."""
        return await self._slots[0].isolation()

    async def parse(self, job: Job) -> Outcome:
        """Read and cut a file as soon as a slot is free. Being cancelled kills the process that reads it.

        Raises:
            PoolBroken: if no process can be had.
            OSError: if the original cannot be read.
        """
        slot = await self._free.get()
        try:
            return await slot.parse(job)
        finally:
            self._free.put_nowait(slot)


class _Slot:
    """Room for one process. The next one starts as soon as the last one is given up, not when a job asks for it."""

    def __init__(self, limits: PoolLimits) -> None:
        self._limits = limits
        self._child: asyncio.Task[Child] | None = None
        self._endings: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        self._child = asyncio.create_task(Child.start(self._limits.memory))

    async def close(self) -> None:
        if self._child is not None:
            self._child.cancel()
            self._give_up(self._child)
            self._child = None
        await asyncio.gather(*self._endings)

    async def isolation(self) -> Isolation:
        return (await self._ready()).isolation

    async def parse(self, job: Job) -> Outcome:
        """As `ParserPool.parse`. A process that is lost because the slot was closed says nothing about its file."""
        for _ in range(_STARTS):
            child = await self._ready()
            kept = False
            try:
                outcome = await child.run(job, min(job.seconds or self._limits.seconds, self._limits.seconds))
                kept = child.jobs < self._limits.jobs and not _exhausted(outcome)
                return outcome
            except TimeoutError:
                return _refused(pb.ERROR_REASON_PARSE_TIMEOUT)
            except ChildLost as lost:
                if lost.during_job and self._child is not None:
                    return _refused(pb.ERROR_REASON_PARSER_CRASHED)
            finally:
                if not kept:
                    self._replace()
        raise PoolBroken

    async def _ready(self) -> Child:
        """The process of this slot, ready for a job."""
        for _ in range(_STARTS):
            if self._child is None:
                break
            try:
                return await asyncio.shield(self._child)
            except (ChildLost, OSError):
                self._replace()
        raise PoolBroken

    def _replace(self) -> None:
        if self._child is not None:
            self._give_up(self._child)
            self.open()

    def _give_up(self, starting: asyncio.Task[Child]) -> None:
        ending = asyncio.create_task(_end(starting))
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)


async def _end(starting: asyncio.Task[Child]) -> None:
    """End the process, however far its start has come."""
    (result,) = await asyncio.gather(starting, return_exceptions=True)
    if isinstance(result, Child):
        await result.end()


def _exhausted(outcome: Outcome) -> bool:
    return isinstance(outcome, Refused) and outcome.reason == pb.ERROR_REASON_PARSE_MEMORY


def _refused(reason: pb.ErrorReason) -> Refused:
    return Refused(reason, meaning(reason).message)
