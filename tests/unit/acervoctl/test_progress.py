"""Progress on consoles of both kinds."""

import io
from pathlib import Path

from rich.console import Console

from acervoctl.ingesting import FileStatus, Stage
from acervoctl.progress import view

STATUSES = (
    FileStatus(Path("a[1].txt"), Stage.UPLOADING),
    FileStatus(Path("a[1].txt"), Stage.PARSING),
    FileStatus(Path("a[1].txt"), Stage.DONE, chunks=3),
    FileStatus(Path("\x1bc.txt"), Stage.DONE, chunks=1, already_present=True),
    FileStatus(Path("b.exe"), Stage.REFUSED, reason="FILE_KIND_UNSUPPORTED"),
)


def shown(*, terminal: bool, quiet: bool = False) -> str:
    written = io.StringIO()
    console = Console(file=written, force_terminal=terminal, width=200)
    with view(console, len(STATUSES), quiet=quiet) as told:
        for status in STATUSES:
            told.changed(status)
    return written.getvalue()


def test_elsewhere_than_on_a_terminal_each_finished_file_is_one_plain_line() -> None:
    assert shown(terminal=False).splitlines() == [
        "done    a[1].txt (3 chunks)",
        r"done    \x1bc.txt (1 chunk, unchanged)",
        "refused b.exe (FILE_KIND_UNSUPPORTED)",
    ]


def test_a_terminal_gets_a_bar_that_is_gone_at_the_end() -> None:
    written = shown(terminal=True)
    assert "3/5" in written
    assert "\x1b[2K" in written


def test_quiet_shows_nothing() -> None:
    assert shown(terminal=True, quiet=True) == ""
