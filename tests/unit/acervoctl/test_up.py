"""What `acervo up` tells to type next."""

import sys
from pathlib import Path

import pytest

from acervoctl.commands.up import own_command


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "acervo"
    path.touch(mode=0o755)
    return str(path)


def test_a_program_is_named_as_the_shell_of_its_caller_finds_it(program: str) -> None:
    folder = str(Path(program).parent)
    assert own_command(program, folder) == "acervo"
    assert own_command(program, "/nonexistent") == program
    # As `make up` calls it, with its own folder on a PATH that the person's shell does not have.
    assert own_command(".venv/bin/acervo", f"{folder}:.venv/bin") == ".venv/bin/acervo"
    assert own_command("/srv/acervoctl/__main__.py", folder) == f"{sys.executable} -m acervoctl"
