"""Starting one child process that does not outlive its supervisor."""

import asyncio
import ctypes
import os
import pwd
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from acervoctl.stack.logs import open_log

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

Probe = Callable[[], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Program:
    """What is run, and how it is told to stop.

    `argv[0]` is an absolute path. `environment` is all the child gets. `ready` answers whether it does its
    job. `user` is the system user it runs as; None is the supervisor's own. `stop_signal` asks it to end,
    within `stop_seconds`; `orphan_signal` reaches it when the supervisor dies (on Linux).
    """

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    ready: Probe
    user: str | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 30
    orphan_signal: signal.Signals = signal.SIGKILL


async def spawn(program: Program) -> Process:
    """Start the program in a process group of its own, its output appended to its log. Raises `OSError`."""
    parent = os.getpid()

    def die_with_supervisor() -> None:
        # Runs in the child, after the change of user, which would undo it.
        if _LIBC is not None:
            _LIBC.prctl(_PR_SET_PDEATHSIG, int(program.orphan_signal))
            if os.getppid() != parent:
                os.kill(os.getpid(), signal.SIGKILL)

    user = pwd.getpwnam(program.user) if program.user is not None else None
    log = open_log(program.log)
    try:
        return await asyncio.create_subprocess_exec(
            *program.argv,
            env=dict(program.environment),
            cwd="/",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            user=user and user.pw_uid,
            group=user and user.pw_gid,
            extra_groups=user and [],
            start_new_session=True,
            preexec_fn=die_with_supervisor,
        )
    finally:
        os.close(log)


def signal_group(process: Process, number: signal.Signals) -> None:
    """Send a signal to the child and to whatever it started in its group."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return
