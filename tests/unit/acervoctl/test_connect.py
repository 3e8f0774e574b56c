"""How a command reaches Acervo."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from acervo_client import AcervoClient
from acervoctl.connect import Target
from acervoctl.errors import CommandError
from acervoctl.stack import Description, Home, NotRunning, StackError, issuer, temporary_home

REMOTE = {"ACERVO_ADDRESS_ACCESS": "acervo.example:7001", "ACERVO_TOKEN": "given"}


@pytest.fixture
def home() -> Iterator[Home]:
    with temporary_home() as path:
        home = Home.at(path)
        home.create()
        issuer.publish(home)
        yield home


def test_the_environment_is_enough_without_any_local_stack(tmp_path: Path) -> None:
    assert isinstance(Target().client({**REMOTE, "ACERVO_HOME": str(tmp_path)}), AcervoClient)


def test_without_a_running_stack_the_error_says_how_to_start_one(home: Home) -> None:
    Description(pid=1, addresses={}, gateway_url="").write(home)
    with pytest.raises(NotRunning, match="acervo up"):
        Target(home.root).client({})


def test_a_stack_that_is_still_starting_is_said_to_be(home: Home) -> None:
    with home.locked(), pytest.raises(StackError, match="still starting"):
        Target(home.root).client({})


def test_a_running_stack_needs_nothing_else(home: Home) -> None:
    with home.locked():
        Description(os.getpid(), {"access": "127.0.0.1:1"}, "").write(home)
        assert isinstance(Target(home.root).client({}), AcervoClient)


def test_a_home_without_keys_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no keys"):
        Target(tmp_path).token(seconds=60, environ={})
