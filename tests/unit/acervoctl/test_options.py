"""What holds for what is given to any command, and for where its output goes."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from acervoctl import __main__ as command_line
from acervoctl.cli import app
from acervoctl.errors import Exit
from acervoctl.options import Command, Group
from tests.e2e import commands

NO_TEXT = "caf\udce9"


def all_commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        yield (*path, name), command
        if hasattr(command, "commands"):
            yield from all_commands(command, (*path, name))


def test_every_command_looks_at_what_it_is_given() -> None:
    found = dict(all_commands(typer.main.get_command(app)))
    assert len(found) > 50
    loose = [path for path, one in found.items() if not isinstance(one, Command | Group)]
    assert all(hasattr(found[path], "commands") for path in loose)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["search", "-c", "plans", NO_TEXT], "query"),
        (["search", "-c", NO_TEXT, "a"], "collection"),
        (["org", "create", NO_TEXT], "name"),
        (["kb", "list", "--user", NO_TEXT], "user"),
        (["kb", "show", f"a{NO_TEXT}"], "base"),
        (["audit", "list", "--object", NO_TEXT], "object-id"),
    ],
)
def test_what_is_no_text_is_refused_in_a_line_that_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], name: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["acervo", *arguments])
    assert command_line._run() == Exit.UNUSABLE
    assert capsys.readouterr().err.replace("\n", " ").startswith(f"error: {name} is not valid text")


def test_a_path_may_be_of_any_bytes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["acervo", "ingest", "-c", "plans", f"/nowhere/{NO_TEXT}"])
    assert command_line._run() == Exit.UNUSABLE
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["audit", "export", "--help"]])
def test_a_reader_that_went_away_ends_a_command_without_a_word(tmp_path: Path, arguments: list[str]) -> None:
    assert commands.unread(tmp_path, *arguments) == (Exit.UNREAD, b"")
