"""The configuration of the embedded broker."""

import json
import stat
from collections.abc import Iterator

import pytest

from acervoctl.stack.credentials import Credentials
from acervoctl.stack.home import Home, temporary_home
from acervoctl.stack.nats import Nats
from services.shared import bus


@pytest.fixture
def home() -> Iterator[Home]:
    with temporary_home() as path:
        home = Home.at(path)
        home.create()
        yield home


def test_each_service_has_a_password_and_exactly_its_declared_lists(home: Home) -> None:
    credentials = Credentials.load_or_create(home.keys / "credentials.json")
    Nats(home, credentials, 4222).prepare()
    path = home.nats / "nats.conf"
    written = json.loads(path.read_text())
    users = {user["user"]: user for user in written["authorization"]["users"]}
    assert set(users) == set(credentials.bus)
    assert len({user["password"] for user in users.values()}) == len(users)
    for service, user in users.items():
        allowed = bus.permissions(service)
        assert user["permissions"] == {
            "publish": list(allowed.publish),
            "subscribe": list(allowed.subscribe),
        }
    assert written["host"] == "127.0.0.1"
    assert written["jetstream"]["sync_interval"] == "always"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_passwords_are_kept_and_never_shown(home: Home) -> None:
    path = home.keys / "credentials.json"
    first = Credentials.load_or_create(path)
    assert Credentials.load_or_create(path) == first
    assert first.superuser not in repr(first)
