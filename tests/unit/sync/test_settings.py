"""Which directories of the server a deployment lets sources read."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from services.sync.settings import SyncSettings

REQUIRED = {
    "DATABASE_URL": "postgresql://sync@db/acervo",
    "NATS_URL": "nats://sync@nats",
    "BLOB_URL": "file:///blobs",
    "ISSUERS": "/issuers.json",
    "SERVICE_TOKENS": "/tokens",
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in REQUIRED.items():
        monkeypatch.setenv(f"ACERVO_{name}", value)
    monkeypatch.delenv("ACERVO_SYNC_ROOTS", raising=False)
    return monkeypatch


def read() -> SyncSettings:
    nothing: dict[str, Any] = {}
    return SyncSettings.model_validate(nothing)


def test_no_directory_is_allowed_by_default(environment: pytest.MonkeyPatch) -> None:
    assert read().sync_roots == ()


def test_directories_are_separated_like_those_of_a_path(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("ACERVO_SYNC_ROOTS", "/srv/docs:/mnt/shared files:")
    assert read().sync_roots == (Path("/srv/docs"), Path("/mnt/shared files"))


def test_a_relative_directory_is_refused(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("ACERVO_SYNC_ROOTS", "/srv/docs:docs")
    with pytest.raises(ValidationError, match="not absolute: docs"):
        read()
