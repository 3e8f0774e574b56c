"""Sync among doubles of the services that it calls, on a database and a broker that a module of tests shares.

Each test has a directory, a base and empty tables of its own. The modules' tests run on the modules' loop.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import UUID

import pytest
import pytest_asyncio

from services.shared.ids import uuid7
from tests.conftest import NatsServer, PostgresServer, fresh_databases, fresh_nats
from tests.integration.sync.stage import Around, Stage, serving, surroundings
from tests.recycling import Recycling
from tests.signing import Trust


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_nats() -> AsyncIterator[NatsServer]:
    with fresh_nats() as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def around(
    postgres_server: PostgresServer,
    recycling: Recycling,
    shared_nats: NatsServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Around]:
    folder = tmp_path_factory.mktemp("sync").resolve()
    async with (
        fresh_databases(postgres_server, recycling) as databases,
        surroundings(databases, shared_nats, f"file://{folder}/blobs", Trust(folder)) as around,
    ):
        yield around


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_stage(around: Around, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with serving(around, tmp_path_factory.mktemp("roots").resolve()) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="module")
async def stage(shared_stage: Stage, request: pytest.FixtureRequest) -> Stage:
    await shared_stage.clear()
    root = shared_stage.root / str(uuid7())
    root.mkdir()
    return replace(shared_stage, root=root)


@pytest.fixture
def base(around: Around, stage: Stage) -> UUID:
    """A base that `ana`, the deployment's admin, may edit."""
    base = uuid7()
    stage.let("ana", base=base)
    return base
