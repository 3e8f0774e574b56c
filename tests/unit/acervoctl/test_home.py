"""The directory of a local stack."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acervo_client.local import LocalStackError, default_home, holder
from acervoctl.stack import vault
from acervoctl.stack.errors import HomeBusy, HomeUnusable
from acervoctl.stack.home import Home, as_root, temporary_home, write_private
from services.access.vault.master_keys import parse


@pytest.fixture
def home() -> Iterator[Home]:
    with temporary_home() as path:
        yield Home.at(path)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_secret_is_closed_to_others(home: Home) -> None:
    home.create()
    assert {mode(path) for path in (home.keys, home.tokens, home.logs, home.nats, home.blobs)} == {0o700}


def test_a_home_in_use_names_the_pid_that_uses_it(home: Home) -> None:
    home.create()
    with home.locked():
        with pytest.raises(HomeBusy, match=f"pid {os.getpid()}"), home.locked():
            pass
        assert holder(home.root) == os.getpid()
    assert holder(home.root) is None


def test_a_home_in_use_is_not_wiped(home: Home) -> None:
    home.create()
    with home.locked(), pytest.raises(HomeBusy):
        home.wipe()
    home.wipe()
    assert not home.root.exists()
    home.wipe()


@pytest.mark.skipif(not as_root(), reason="only root starts PostgreSQL as another user")
def test_as_root_a_home_below_a_closed_directory_is_refused_and_nothing_is_opened(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(HomeUnusable, match="may not enter"):
        Home.at(closed / "home").create()
    assert mode(closed) == 0o700


def test_a_home_that_cannot_be_made_is_one_clear_error(home: Home) -> None:
    home.root.joinpath("file").touch()
    with pytest.raises(HomeUnusable, match="cannot be used"):
        Home.at(home.root / "file" / "home").create()


@pytest.mark.parametrize("use", [Home.create, Home.wipe])
def test_a_directory_of_other_things_is_no_home_and_stays_as_it_is(
    tmp_path: Path, use: Callable[[Home], None]
) -> None:
    kept = tmp_path / "kept.txt"
    kept.touch()
    with pytest.raises(HomeUnusable, match="holds other things"):
        use(Home.at(tmp_path))
    assert list(tmp_path.iterdir()) == [kept]


def test_a_home_is_one_again_whatever_else_came_into_it(home: Home) -> None:
    home.create()
    home.root.joinpath("notes.txt").touch()
    home.create()


def test_a_home_of_nobody_is_one_clear_error() -> None:
    with pytest.raises(LocalStackError, match="nobody"):
        Home.at(Path("~no-such-user/acervo"))


def test_the_environment_names_the_home_before_any_default(tmp_path: Path) -> None:
    assert default_home({"ACERVO_HOME": "/srv/acervo"}) == Path("/srv/acervo")
    expected = Path("/var/lib/acervo") if as_root() else tmp_path / "acervo"
    assert default_home({"XDG_STATE_HOME": str(tmp_path)}) == expected


def test_a_private_file_is_for_its_owner_alone_and_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    write_private(path, "a long first text")
    write_private(path, "short")
    assert path.read_text() == "short"
    assert mode(path) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["secret"]


def test_master_keys_of_the_vault_are_private_and_only_ever_added(home: Home) -> None:
    home.create()
    vault.ensure_key(home)
    first = home.vault_keys.read_text()
    vault.ensure_key(home)
    assert home.vault_keys.read_text() == first
    assert vault.add_key(home) == 2
    assert home.vault_keys.read_text().startswith(first)
    assert parse(home.vault_keys.read_text()).newest == 2
    assert mode(home.vault_keys) == 0o600
