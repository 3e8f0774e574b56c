"""Logs of child processes: plain files that children append to, kept from growing without bound."""

import os
import shutil
from pathlib import Path

MAX_BYTES = 16 << 20
"""A log that is larger is moved to `<name>.log.1`, in place of the one before."""


def open_log(path: Path) -> int:
    """Open a log for a child; the descriptor appends, so that `rotate` can cut the file under it."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def rotate(path: Path, max_bytes: int = MAX_BYTES) -> None:
    """Keep the last `max_bytes` or more of a log beside it and start it anew, if it has grown that large."""
    try:
        if path.stat().st_size <= max_bytes:
            return
    except FileNotFoundError:
        return
    previous = path.with_name(f"{path.name}.1")
    shutil.copyfile(path, previous)
    previous.chmod(0o600)
    os.truncate(path, 0)


def tail(path: Path, lines: int = 15, max_bytes: int = 16384) -> str:
    """The last lines of a log."""
    try:
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - max_bytes))
            return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])
    except FileNotFoundError:
        return ""
