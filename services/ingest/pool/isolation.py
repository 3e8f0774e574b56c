"""What a parser process is kept from: the network, the files of this machine, a life longer than its parent's.

Each means is tried; which of them hold here is for `acervo doctor` to say (`isolation_report`). A Kubernetes
security profile may forbid some, so none is required: what is not there is reported, not hidden.
"""

import ctypes
import os
import platform
import resource
import signal
import struct
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38

_SECCOMP_FILTER, _SECCOMP_ALLOW, _SECCOMP_EACCES = 2, 0x7FFF0000, 0x0005000D
_MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""By machine: the kernel's number for it, and that of its system call `socket`."""
_IO_URING_SETUP, _X32_CALLS = 425, 0x40000000
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_VERSION, _LANDLOCK_PATH_BENEATH, _READ_FILE_AND_FOLDER = 1, 1, 0b1100
_FILE_RIGHTS = {1: 13, 2: 14}
"""How many file rights each version of Landlock knows; later ones know 15."""
_LATER_FILE_RIGHTS, _TCP_RIGHTS, _TCP_SINCE = 15, 0b11, 4


@dataclass(frozen=True, slots=True)
class Isolation:
    """What holds of a process."""

    network: str
    """What keeps it from the network: `namespace`, `seccomp`, `landlock` (TCP alone) or `none`."""
    files: str
    """What keeps it from opening files, but Python's own to read: `landlock` or `none`."""


def isolate() -> Isolation:
    """Take the network and the files of this machine from this process; what it has open, it keeps.

    Cannot be undone. Call it while the process has one thread and has imported what it needs.
    """
    _forbid_privileges()
    network = "namespace" if _leave_network() else "seccomp" if _forbid_sockets() else "none"
    version = _landlock_version()
    files = "landlock" if version > 0 and _restrict_files(version) else "none"
    if network == "none" and files == "landlock" and version >= _TCP_SINCE:
        network = "landlock"
    return Isolation(network, files)


def isolation_report() -> Isolation:
    """What would hold of a parser on this machine. Blocks for as long as a process takes to start.

    Raises:
        subprocess.CalledProcessError: if the process fails.
    """
    command = [sys.executable, "-P", "-m", "services.ingest.pool.isolation"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, check=True, text=True, env=environment)
    network, files = done.stdout.split()
    return Isolation(network, files)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent, the process with the id `parent`, dies."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


def limit(memory: int, file_size: int) -> None:
    """Bound what this process may take on from here: `memory` bytes more than it has, files up to `file_size` bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    address_space = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _forbid_privileges() -> None:
    """Let no program that this process runs have more rights than it has; the kernel asks for this first."""
    _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def _leave_network() -> bool:
    """Move into an empty network namespace, as root or in a user namespace of one's own."""
    return any(_LIBC.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


class _Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _forbid_sockets() -> bool:
    """Have the kernel refuse `socket` and io_uring, which can open sockets too, and calls of foreign machines."""
    if platform.machine() not in _MACHINES:
        return False
    machine, socket = _MACHINES[platform.machine()]
    steps = (
        (_LOAD, 0, 0, 4),
        (_IF_EQUAL, 0, 5, machine),
        (_LOAD, 0, 0, 0),
        (_IF_AT_LEAST, 3, 0, _X32_CALLS),
        (_IF_EQUAL, 2, 0, socket),
        (_IF_EQUAL, 1, 0, _IO_URING_SETUP),
        (_RETURN, 0, 0, _SECCOMP_ALLOW),
        (_RETURN, 0, 0, _SECCOMP_EACCES),
    )
    program = _Program(len(steps), b"".join(struct.pack("HBBI", *step) for step in steps))
    return bool(_LIBC.prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(program), 0, 0) == 0)


def _landlock_version() -> int:
    """The version of Landlock that the kernel has; below 1 without it."""
    return int(_LIBC.syscall(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION))


def _restrict_files(version: int) -> bool:
    """Let this process read Python's libraries, which load some modules late, and open nothing else."""
    rights = (1 << _FILE_RIGHTS.get(version, _LATER_FILE_RIGHTS)) - 1
    handled = struct.pack("QQ", rights, _TCP_RIGHTS) if version >= _TCP_SINCE else struct.pack("Q", rights)
    ruleset = _LIBC.syscall(_LANDLOCK_CREATE, handled, len(handled), 0)
    if ruleset < 0:
        return False
    try:
        for name in {"stdlib", "platstdlib", "purelib", "platlib"}:
            try:
                folder = os.open(sysconfig.get_path(name), os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            rule = struct.pack("=Qi", _READ_FILE_AND_FOLDER, folder)
            _LIBC.syscall(_LANDLOCK_ADD, ruleset, _LANDLOCK_PATH_BENEATH, rule, 0)
            os.close(folder)
        return bool(_LIBC.syscall(_LANDLOCK_RESTRICT, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


if __name__ == "__main__":
    _held = isolate()
    print(_held.network, _held.files)  # noqa: T201 - `isolation_report` reads it
