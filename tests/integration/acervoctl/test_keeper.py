"""Supervision of single child processes."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import psutil
import pytest

from acervoctl.stack.errors import StartFailed
from acervoctl.stack.keeper import Keeper
from acervoctl.stack.program import Health, Program

SECONDS = 20
Start = Callable[..., Keeper]

SERVES = """
    import pathlib, signal, sys
    signal.signal(signal.SIGTERM, lambda *_: (print("drained", flush=True), sys.exit(0)))
    pathlib.Path({flag!r}).touch()
    while True:
        signal.pause()
"""


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts a child that runs `code`, and is ready once it made the file `flag`."""
    keepers: list[Keeper] = []
    flag = tmp_path / "flag"

    async def probe() -> Health:
        return Health.READY if flag.exists() else Health.UNREADY

    def begin(code: str = SERVES, stop_seconds: float = SECONDS) -> Keeper:
        program = Program(
            name="child",
            argv=(sys.executable, "-c", textwrap.dedent(code).format(flag=str(flag))),
            environment=dict(os.environ),
            log=tmp_path / "child.log",
            probe=probe,
            stop_seconds=stop_seconds,
        )
        keepers.append(Keeper(program))
        keepers[-1].start()
        return keepers[-1]

    yield begin
    for keeper in keepers:
        await keeper.stop(signal.SIGKILL)


async def test_a_child_that_is_killed_is_started_again(start: Start, tmp_path: Path) -> None:
    keeper = start()
    first = await keeper.wait_ready(SECONDS)
    (tmp_path / "flag").unlink()
    os.kill(first, signal.SIGKILL)
    second = await keeper.wait_ready(SECONDS, other_than=first)
    assert second != first
    assert keeper.pid == second
    assert keeper.restarts == 1


async def test_a_child_that_never_gets_ready_fails_with_the_end_of_its_log(start: Start) -> None:
    keeper = start("print('this is why', flush=True); raise SystemExit(3)")
    with pytest.raises(StartFailed, match="child does not start") as failure:
        await keeper.wait_ready(60)
    assert "this is why" in failure.value.log


async def test_a_child_that_takes_too_long_fails_by_the_deadline(start: Start) -> None:
    keeper = start("import signal; signal.pause()")
    with pytest.raises(StartFailed, match=r"not ready within 0\.2 seconds"):
        await keeper.wait_ready(0.2)


async def test_stopping_lets_a_child_end_its_work(start: Start, tmp_path: Path) -> None:
    keeper = start()
    pid = await keeper.wait_ready(SECONDS)
    await keeper.stop()
    assert not psutil.pid_exists(pid)
    assert keeper.pid is None
    assert (tmp_path / "child.log").read_text() == "drained\n"


async def test_a_child_that_does_not_stop_is_killed_with_what_it_started(
    start: Start, eventually: Callable[..., Awaitable[None]], tmp_path: Path
) -> None:
    keeper = start(
        """
        import pathlib, signal, subprocess, sys
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
        print(child.pid, flush=True)
        pathlib.Path({flag!r}).touch()
        while True:
            signal.pause()
        """,
        stop_seconds=0.1,
    )
    pid = await keeper.wait_ready(SECONDS)
    grandchild = int((tmp_path / "child.log").read_text())
    await keeper.stop()
    assert not psutil.pid_exists(pid)
    await eventually(lambda: _gone(grandchild))


async def _gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


SUPERVISOR = """
import asyncio, pathlib, sys
from acervoctl.stack.keeper import Keeper
from acervoctl.stack.program import Health, Program

async def probe():
    return Health.READY

async def main():
    code = "import signal; signal.pause()"
    log = pathlib.Path(sys.argv[1])
    keeper = Keeper(Program("child", (sys.executable, "-c", code), {}, log, probe))
    keeper.start()
    print(await keeper.wait_ready(20), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a child to its parent's life")
async def test_no_child_outlives_a_supervisor_that_is_killed(
    eventually: Callable[..., Awaitable[None]], tmp_path: Path
) -> None:
    def run() -> int:
        command = (sys.executable, "-c", SUPERVISOR, str(tmp_path / "log"))
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as supervisor:
            assert supervisor.stdout is not None
            child = int(supervisor.stdout.readline())
            supervisor.kill()
            return child

    child = await asyncio.to_thread(run)
    await eventually(lambda: _gone(child))
