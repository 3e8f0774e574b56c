"""The command line, run as people and scripts run it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ACERVO = (sys.executable, "-m", "acervoctl")
SECONDS = 100


def acervo(home: Path, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end."""
    return subprocess.run(
        (*ACERVO, *map(str, arguments)),
        env={**os.environ, "ACERVO_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def answer(home: Path, *arguments: str | Path, status: int = 0) -> Any:
    """Run a command with --json and return what it wrote."""
    done = acervo(home, *arguments, "--json")
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def answered(home: Path, key: bytes, *arguments: str) -> int:
    """The exit status of a command that asks a question on a terminal and gets this answer."""
    ours, theirs = os.openpty()
    os.write(ours, key + b"\n")
    done = subprocess.run(
        (*ACERVO, *arguments),
        env={**os.environ, "ACERVO_HOME": str(home)},
        stdin=theirs,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    assert b"[y/N]" in done.stderr
    return done.returncode


def unread(home: Path, *arguments: str) -> tuple[int, bytes]:
    """The exit status of a command whose reader has gone, and what it wrote to standard error."""
    theirs, ours = os.pipe()
    os.close(theirs)
    done = subprocess.run(
        (*ACERVO, *arguments),
        env={**os.environ, "ACERVO_HOME": str(home)},
        stdout=ours,
        stderr=subprocess.PIPE,
        timeout=SECONDS,
        check=False,
    )
    os.close(ours)
    return done.returncode, done.stderr
