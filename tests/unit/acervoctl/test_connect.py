"""How a command reaches Acervo, and what it says where it cannot."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from acervo_client import AcervoClient, AcervoError
from acervo_client.local import PEOPLE, Description, LocalStackError
from acervoctl.connect import Target
from acervoctl.errors import CommandError
from acervoctl.stack import issuer
from acervoctl.stack.home import Home, temporary_home

REMOTE = {"ACERVO_ADDRESS_ACCESS": "acervo.example:7001", "ACERVO_TOKEN": "given"}


@pytest.fixture
def home() -> Iterator[Home]:
    with temporary_home() as path:
        home = Home.at(path)
        home.create()
        issuer.publish(home)
        yield home


def describe(home: Home, pid: int) -> None:
    home.description.write_text(json.dumps(asdict(Description(pid, {"access": "127.0.0.1:1"}, ""))))


def test_the_environment_is_enough_without_any_local_stack(tmp_path: Path) -> None:
    assert isinstance(Target().client({**REMOTE, "ACERVO_HOME": str(tmp_path)}), AcervoClient)


def test_without_a_running_stack_the_error_says_how_to_start_one(home: Home) -> None:
    describe(home, 1)
    with pytest.raises(LocalStackError, match="acervo up"):
        Target(home.root).client({})


def test_a_stack_that_is_still_starting_is_said_to_be(home: Home) -> None:
    with home.locked():
        with pytest.raises(LocalStackError, match="still starting"):
            Target(home.root).client({})
        describe(home, 1)
        with pytest.raises(LocalStackError, match="still starting"):
            Target(home.root).client({})


def test_a_running_stack_needs_nothing_else(home: Home) -> None:
    with home.locked():
        describe(home, os.getpid())
        assert isinstance(Target(home.root).client({}), AcervoClient)
        assert isinstance(AcervoClient.local(home.root, "ana"), AcervoClient)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '{"pid": 1, "more": 2}', "\udcff"])
def test_a_damaged_description_says_which_file_it_is_and_what_to_do(home: Home, text: str) -> None:
    home.description.write_bytes(text.encode(errors="surrogateescape"))
    with home.locked(), pytest.raises(LocalStackError, match=r"stack\.json is damaged\. Stop"):
        Target(home.root).client({})


BREAKERS: dict[str, Callable[[Home], object]] = {
    "no keys": lambda home: (home.keys / f"{PEOPLE}.pem").unlink(),
    "holds no key": lambda home: (home.keys / f"{PEOPLE}.pem").write_text("?"),
}


@pytest.mark.parametrize("said", BREAKERS)
def test_keys_that_cannot_be_used_are_one_clear_error(home: Home, said: str) -> None:
    BREAKERS[said](home)
    with pytest.raises(LocalStackError, match=said):
        Target(home.root).token(seconds=60, environ={})


@pytest.mark.parametrize("odd", ["file", "x" * 300, "file/below"])
def test_a_home_that_cannot_be_one_is_one_clear_error(tmp_path: Path, odd: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LocalStackError, match="Name another with --home"):
        Target().client({"ACERVO_HOME": str(tmp_path / odd)})


@pytest.mark.parametrize("token", ["a\nb", "tökén", "a\x00b", "\n"])
async def test_a_token_that_cannot_be_sent_is_refused_by_name(token: str) -> None:
    async with AcervoClient({"access": "127.0.0.1:1"}, token) as client:
        with pytest.raises(AcervoError, match="TOKEN_INVALID"):
            await client.who_am_i()


@pytest.mark.parametrize("address", ["foo", "foo:", ":7001", "foo:bar", "http://foo"])
def test_an_address_that_can_be_none_is_told_with_its_variable(address: str) -> None:
    environ = {"ACERVO_ADDRESS_ACCESS": address, "ACERVO_TOKEN": "token"}
    with pytest.raises(CommandError, match=f"ACERVO_ADDRESS_ACCESS is {address},"):
        Target().client(environ)


@pytest.mark.parametrize("name", ["ACERVO_TOKEN", "ACERVO_USER", "ACERVO_ADDRESS_ACCESS"])
@pytest.mark.parametrize("nothing", ["", " "])
def test_a_variable_that_is_set_to_nothing_lets_nobody_act_as_the_admin(
    home: Home, name: str, nothing: str
) -> None:
    with home.locked(), pytest.raises(CommandError, match=f"{name} is empty"):
        describe(home, os.getpid())
        Target(home.root).client({name: nothing})


@pytest.mark.parametrize("address", ["foo:1", "[::1]:7001", "dns:///foo.example:7001"])
async def test_an_address_that_grpc_takes_is_taken(address: str) -> None:
    async with Target().client({"ACERVO_ADDRESS_ACCESS": address, "ACERVO_TOKEN": "token"}):
        pass
