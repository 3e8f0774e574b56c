"""Sync on a fresh database and broker, among doubles of the services that it calls."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest

from services.shared.ids import uuid7
from tests.conftest import Databases, NatsServer
from tests.integration.sync.stage import Around, Stage, serving, surroundings
from tests.signing import Trust


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(tmp_path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = (tmp_path / "root").resolve()
    folder.mkdir()
    return folder


@pytest.fixture
async def around(
    databases: Databases, nats_server: NatsServer, blob_url: str, trust: Trust
) -> AsyncIterator[Around]:
    async with surroundings(databases, nats_server, blob_url, trust) as around:
        yield around


@pytest.fixture
async def stage(around: Around, root: Path) -> AsyncIterator[Stage]:
    async with serving(around, root) as stage:
        yield stage


@pytest.fixture
def base(around: Around, stage: Stage) -> UUID:
    """A base that `ana`, the deployment's admin, may edit."""
    base = uuid7()
    stage.let("ana", base=base)
    return base
