"""Starting one child process that does not outlive its supervisor."""

import asyncio
import os
import pwd
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from acervoctl.stack.logs import open_log

_TETHER = str(Path(__file__).with_name("tether.py"))


class Health(Enum):
    """What a program is found to be doing."""

    READY = "ready"
    """Its job."""
    UNREADY = "not ready"
    """It answers, and does not do its job yet or for now."""
    SILENT = "does not answer"


Probe = Callable[[], Awaitable[Health]]


@dataclass(frozen=True, slots=True)
class Program:
    """What is run, and how it is told to stop.

    `argv[0]` is an absolute path. `environment` is all the child gets. `probe` looks at it from
    outside. `user` is the system user it runs as; None is the supervisor's own. `stop_signal` asks it to end,
    within `stop_seconds`; `orphan_signal` reaches it when the supervisor dies (on Linux).
    """

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    probe: Probe
    user: str | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 30
    orphan_signal: signal.Signals = signal.SIGKILL


async def spawn(program: Program) -> Process:
    """Start the program in a process group of its own, its output appended to its log. Raises `OSError`."""
    user = pwd.getpwnam(program.user) if program.user is not None else None
    owner = (user.pw_uid, user.pw_gid) if user is not None else (-1, -1)
    tether = (sys.executable, "-I", "-S", _TETHER, str(os.getpid()), str(int(program.orphan_signal)))
    log = open_log(program.log)
    try:
        return await asyncio.create_subprocess_exec(
            *tether,
            *map(str, owner),
            *program.argv,
            env=dict(program.environment),
            cwd="/",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)


def signal_group(process: Process, number: signal.Signals) -> None:
    """Send a signal to the child and to whatever it started in its group."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return
