"""Ties a program to the life of its supervisor, then becomes it.

    python -I -S tether.py SUPERVISOR_PID SIGNAL UID GID PROGRAM ARGUMENT...

Sees to it (on Linux) that SIGNAL reaches the program when the supervisor dies, and gives up root for UID and
GID where they are not -1. A program of its own, because a process that has threads cannot safely do this
between fork and exec.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Never returns."""
    supervisor, number, uid, gid = map(int, sys.argv[1:5])
    command = sys.argv[5:]
    if uid != -1:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)  # after the change of user, which undoes it
    if os.getppid() != supervisor:
        sys.exit("the supervisor is gone")
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main()
