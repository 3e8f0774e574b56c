"""Processor time, which tells more than the clock where other programs share the machine."""

import os
from collections.abc import Iterable

import psutil

from acervoctl.stack.stack import Stack


def used(stack: Stack) -> float:
    """Return the seconds that this process and all of a stack have computed so far, children that live included."""
    pids = [stack.pid(name) for name in stack.processes]
    return sum(map(_of_tree, [os.getpid(), *(pid for pid in pids if pid is not None)]))


def _of_tree(pid: int) -> float:
    process = psutil.Process(pid)
    own = pid == os.getpid()  # a stack's processes are its children, and are counted by themselves
    return sum(map(_of_one, [process] if own else [process, *process.children(recursive=True)]))


def _of_one(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def milliseconds_each(seconds: Iterable[float], count: float) -> list[float]:
    """Share out processor time over things that were done."""
    return [value * 1000 / count for value in seconds]
