"""Ingest's own database, empty, for each test."""

from collections.abc import AsyncIterator

import pytest

from services.shared.db import Pool, open_pool
from tests.conftest import Databases
from tests.integration.ingest.steps import Steps


@pytest.fixture
async def pool(databases: Databases) -> AsyncIterator[Pool]:
    async with await open_pool(databases["ingest"], size=6, application="test") as pool:
        yield pool


@pytest.fixture
def steps(pool: Pool) -> Steps:
    return Steps(pool)
