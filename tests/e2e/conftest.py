"""A whole stack for the tests that look at Acervo from the outside."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from acervo.access.v1.knowledge_bases_pb2 import EmbeddingSettings
from acervo_client import AcervoClient
from acervoctl.stack.home import temporary_home
from acervoctl.stack.services import FAST_DEADLINES
from acervoctl.stack.stack import Options, Stack

HASHING = EmbeddingSettings(model="hashing-256", width=256)


@pytest.fixture
def stack_home() -> Iterator[Path]:
    with temporary_home("acervo-e2e-") as path:
        yield path


@pytest.fixture
async def stack(stack_home: Path) -> AsyncIterator[Stack]:
    async with Stack(stack_home, Options(environment=FAST_DEADLINES)) as stack:
        await stack.wait_ready()
        yield stack


@pytest.fixture
async def client(stack: Stack) -> AsyncIterator[AcervoClient]:
    async with AcervoClient(stack.addresses, stack.token, patience_seconds=120) as client:
        yield client
