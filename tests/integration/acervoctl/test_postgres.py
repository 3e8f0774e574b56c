"""The files of the embedded PostgreSQL."""

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from acervoctl.stack import postgres
from acervoctl.stack.credentials import Credentials
from acervoctl.stack.home import Home, as_root, temporary_home


@pytest.fixture
def home() -> Iterator[Path]:
    with temporary_home() as path:
        yield path


@pytest.mark.skipif(not as_root(), reason="only root starts PostgreSQL as another user")
def test_an_installation_that_postgres_own_user_cannot_enter_is_copied_and_not_opened_up(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.chmod(0o711)
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    installed = postgres.installation()
    shutil.copytree(installed, closed / installed.parent.name / installed.name)
    for libraries in installed.parents[1].glob(f"{installed.parent.name}.libs"):
        shutil.copytree(libraries, closed / libraries.name)
    monkeypatch.setattr(postgres, "installation", lambda: closed / installed.parent.name / installed.name)
    own = Home.at(home / "home")
    own.create()
    server = postgres.Postgres(own, Credentials.load_or_create(own.keys / "credentials.json"), durable=False)
    server.prepare()
    assert server.program().argv[0].startswith(str(own.root))
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700
