"""Where commands write: results to standard output, everything else to standard error."""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from typer.exceptions import TyperException

from acervo_client import AcervoError
from acervo_client.local import LocalStackError
from acervoctl.errors import CommandError, Exit
from services.shared.pathtext import path_text

_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What would move the cursor, turn the text around, or cannot be written."""

_SURROGATES = re.compile("[\ud800-\udfff]")

out = Console(soft_wrap=True, highlight=False)
"""For results."""

err = Console(stderr=True, soft_wrap=True, highlight=False)
"""For progress and errors."""


def shown(text: object) -> str:
    """A name or text of others as it may be printed: neither markup nor control characters take effect."""
    return escape(printable(text))


def printable(text: object) -> str:
    """The same for what is written without markup."""
    return _UNSHOWN.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def sentences(*parts: str) -> str:
    """The parts that are there as one text, each but the last ended by a mark."""
    *ended, last = [part for part in parts if part] or [""]
    return " ".join([*(part if part[-1] in ".!?:" else f"{part}." for part in ended), last])


def print_json(value: Mapping[str, Any], file: TextIO | None = None) -> None:
    """Write one JSON document, in UTF-8 whatever the terminal speaks. Keys are stable; new ones may be added.

    A `Path` is written as its `path_text`; bytes that are no UTF-8 in other texts are escaped in the same way.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2, default=lambda path: path_text(str(path)))
    stream = file or sys.stdout
    stream.flush()
    stream.buffer.write(_SURROGATES.sub(_escaped, text + "\n").encode())
    stream.buffer.flush()


def _escaped(surrogate: re.Match[str]) -> str:
    number = ord(surrogate[0])
    return f"%{number & 0xFF:02X}" if 0xDC80 <= number <= 0xDCFF else "\ufffd"


def print_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows in columns. Nothing is cut or folded, since names and ids are there to be copied."""
    cells = [heads, *([printable(cell) for cell in row] for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
        out.print(escape("  ".join(padded).rstrip()))


def report(error: Exception, *, as_json: bool = False) -> Exit:
    """Write what went wrong to standard error: one line, or `{"error": ...}` for scripts."""
    told = _told(error)
    if as_json:
        failure = {"reason": told.reason, "message": told.message, "advice": told.advice}
        print_json({"error": failure}, sys.stderr)
        return told.status
    code = f" ({told.reason})" if isinstance(error, AcervoError) else ""
    text = sentences(told.message, told.advice)
    lines = text.split("\n") if isinstance(error, LocalStackError) else [text]  # a log may be among them
    err.print("[red]error:[/red]", "\n".join(map(shown, lines)) + code)
    return told.status


def _told(error: Exception) -> CommandError:
    if isinstance(error, CommandError):
        return error
    if isinstance(error, AcervoError):
        untold = [field for field in error.fields if field.message not in error.message]
        message = " ".join((error.message, *(f"{field.path}: {field.message}" for field in untold)))
        return CommandError(message, advice=error.advice, reason=error.reason)
    if isinstance(error, TyperException):
        return CommandError(error.format_message(), advice="See --help.")
    if isinstance(error, LocalStackError):
        return CommandError(error.message, advice=error.advice, reason="STACK")
    message = f"unexpected {type(error).__name__}: {error}"
    return CommandError(message, advice="Run it again with --debug to see where.", reason="UNEXPECTED")
