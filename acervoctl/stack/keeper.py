"""Keeping one child process alive: started, watched, started again when it dies or hangs, stopped when told to."""

import asyncio
import contextlib
import logging
import os
import signal
from asyncio.subprocess import Process

from acervoctl.stack.errors import StartFailed
from acervoctl.stack.logs import rotate, tail
from acervoctl.stack.program import Health, Program, signal_group, spawn

log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_HEALTHY_SECONDS = 10.0
"""A child that was ready for so long starts again at once when it dies: its earlier deaths are forgotten."""

_PROBE_SECONDS = 0.05
LOOK_SECONDS = 10.0
"""How often a child that is ready is looked at."""

_SILENT_LOOKS = 6
"""A child that was silent so often in a row hangs: it is killed and started again."""

_HOPELESS_DEATHS = 5
"""So many deaths in a row, without having been ready once, end the wait for it."""


class Keeper:
    """Supervises one program. All methods belong to one event loop."""

    def __init__(self, program: Program, *, look_seconds: float = LOOK_SECONDS) -> None:
        self.program = program
        self._look_seconds = look_seconds
        self.restarts = 0
        """How often the child was started again because it died or hung."""

        self._process: Process | None = None
        self._ready = False
        self._deaths = 0
        self._changed = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return self.program.name

    @property
    def pid(self) -> int | None:
        """The pid of the child, or None while there is none."""
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Begin to supervise; does not wait."""
        self._deaths = 0
        self._task = asyncio.create_task(self._keep(), name=f"keep {self.name}")

    async def wait_ready(self, deadline_seconds: float, *, other_than: int | None = None) -> int:
        """Wait for a child that is ready and whose pid is not `other_than`; return its pid.

        Raises `StartFailed` after the deadline, or as soon as the child keeps dying before it was ever ready.
        """
        try:
            async with asyncio.timeout(deadline_seconds), self._changed:
                await self._changed.wait_for(lambda: self._settled(other_than))
        except TimeoutError:
            raise self._failure(f"was not ready within {deadline_seconds:g} seconds") from None
        if self._process is None or not self._ready:
            raise self._failure("does not start")
        return self._process.pid

    async def stop(self, number: signal.Signals | None = None) -> None:
        """End the child (by its own stop signal, unless `number` is given) and stop supervising."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        process, self._process = self._process, None
        await self._set_ready(ready=False)
        if process is not None:
            await _end(process, number or self.program.stop_signal, self.program.stop_seconds)

    def _settled(self, other_than: int | None) -> bool:
        if self._deaths >= _HOPELESS_DEATHS:
            return True
        return self._ready and self.pid != other_than

    def _failure(self, why: str) -> StartFailed:
        return StartFailed(self.name, why, tail(self.program.log))

    async def _keep(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            healthy = await self._run_once()
            pause = _FIRST_PAUSE if healthy else min(pause * 2, _LONGEST_PAUSE)
            log.warning("%s ended; starting it again in %.1f s", self.name, pause)
            await asyncio.sleep(pause)
            self.restarts += 1

    async def _run_once(self) -> bool:
        """Run the child until it dies or hangs. Return whether it had been ready for long."""
        loop = asyncio.get_running_loop()
        ready_at: float | None = None
        rotate(self.program.log)
        try:
            process = self._process = await spawn(self.program)
        except OSError as error:
            log.error("%s cannot be started: %s", self.name, error)
            await self._count_death()
            return False
        exited = asyncio.create_task(process.wait())
        try:
            if await self._becomes_ready(exited):
                ready_at = loop.time()
                self._deaths = 0
                await self._set_ready(ready=True)
                await self._watch(exited)
        finally:
            exited.cancel()
        signal_group(process, signal.SIGKILL)
        await process.wait()
        self._process = None
        await self._set_ready(ready=False)
        await self._count_death()
        return ready_at is not None and loop.time() - ready_at >= _HEALTHY_SECONDS

    async def _becomes_ready(self, exited: "asyncio.Task[int]") -> bool:
        while not exited.done():
            if await self.program.probe() is Health.READY:
                return not exited.done()
            await asyncio.wait([exited], timeout=_PROBE_SECONDS)
        return False

    async def _watch(self, exited: "asyncio.Task[int]") -> None:
        """Return once the child is dead or hangs."""
        silent = 0
        while silent < _SILENT_LOOKS:
            await asyncio.wait([exited], timeout=self._look_seconds)
            if exited.done():
                return
            rotate(self.program.log)
            silent = silent + 1 if await self.program.probe() is Health.SILENT else 0
        log.warning("%s does not answer any more and is killed", self.name)

    async def _count_death(self) -> None:
        async with self._changed:
            self._deaths += 1
            self._changed.notify_all()

    async def _set_ready(self, *, ready: bool) -> None:
        async with self._changed:
            self._ready = ready
            self._changed.notify_all()


async def _end(process: Process, number: signal.Signals, seconds: float) -> None:
    """Signal the child alone (it ends its own children), then its whole group if it takes too long."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, number)
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        log.warning("process %d did not stop within %g seconds and is killed", process.pid, seconds)
    signal_group(process, signal.SIGKILL)
    await process.wait()
