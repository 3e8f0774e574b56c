"""docs/command-line.md tells of all commands, kinds of files and exit statuses that there are."""

from pathlib import Path

from typer.main import get_command

from acervoctl.cli import app
from acervoctl.errors import Exit
from services.shared.kinds import KINDS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "command-line.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|")
]


def test_every_command_is_told_of() -> None:
    told = {word.strip("`").split()[0] for row in ROWS for word in row[0].split(", ") if word}
    assert set(get_command(app).commands) <= told  # type: ignore[attr-defined]


def test_every_kind_of_file_is_told_of_with_its_limit() -> None:
    limits = {row[1]: row[2] for row in ROWS if row[1].startswith("`.")}
    assert limits == {
        ", ".join(f"`.{name}`" for name in sorted(kind.extensions)): f"{kind.document_limit >> 20} MiB"
        for kind in KINDS.values()
    }


def test_every_exit_status_is_told_of() -> None:
    assert {row[0] for row in ROWS if row[0].isdecimal()} == {str(int(status)) for status in Exit}
