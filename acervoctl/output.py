"""Where commands write: results to standard output, everything else to standard error."""

import json
import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape

from acervo_client import AcervoError
from acervoctl.errors import CommandError, Exit
from acervoctl.stack import StackError

_PIPE_WIDTH = 1000
"""Columns where there is no terminal: tables are never folded for whoever reads them from a pipe."""

out = Console(soft_wrap=True, highlight=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH)
"""For results."""

err = Console(stderr=True, soft_wrap=True, highlight=False)
"""For progress and errors."""

_UNUSABLE_REASONS = frozenset({"UNAVAILABLE", "TOKEN_INVALID", "DEADLINE_EXCEEDED", "OVERLOADED"})


def print_json(value: Mapping[str, Any]) -> None:
    """Write one JSON document. Keys are stable; new ones may be added."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def report(error: Exception) -> Exit:
    """Write what went wrong, as one line where it is one of the errors that are meant for people."""
    if isinstance(error, AcervoError):
        untold = [field for field in error.fields if field.message not in error.message]
        message = " ".join((error.message, *(f"{field.path}: {field.message}" for field in untold)))
        _write(f"{message} ({error.reason})", error.advice)
        return Exit.UNUSABLE if error.reason in _UNUSABLE_REASONS else Exit.FAILED
    if isinstance(error, CommandError):
        _write(error.message, error.advice)
        return error.status
    if isinstance(error, StackError):
        _write(str(error))
        return Exit.UNUSABLE
    _write(f"unexpected {type(error).__name__}: {error}", "Run it again with --debug to see where.")
    return Exit.UNUSABLE


def _write(message: str, advice: str = "") -> None:
    text = f"{message.rstrip('.')}. {advice}" if advice else message
    err.print(f"[red]error:[/red] {escape(text)}")
