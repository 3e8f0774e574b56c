"""The typed client keeps what lasts apart from what does not."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from acervo_client import AcervoClient
from services.shared.client import MAX_STREAMS
from tests.integration.shared.deployment import Deployment, running


@pytest.fixture
async def deployment(tmp_path: Path) -> AsyncIterator[Deployment]:
    async with running(tmp_path) as deployment:
        yield deployment


async def _follow(client: AcervoClient) -> None:
    async for _ in client.documents.watch(["held"]):
        pass


async def test_calls_go_on_however_much_is_watched(
    deployment: Deployment, eventually: Callable[..., Awaitable[None]]
) -> None:
    async def full() -> bool:
        return deployment.documents.held >= MAX_STREAMS

    addresses = {"ingest": deployment.servers["ingest"].address, "upload": "127.0.0.1:1"}
    token = deployment.trust.person("ana")
    async with AcervoClient(addresses, token) as watcher, AcervoClient(addresses, token) as other:
        watches = [asyncio.create_task(_follow(watcher)) for _ in range(MAX_STREAMS + 4)]
        await eventually(full)
        for client in (watcher, other):
            await client.documents.delete("x")
        for watch in watches:
            watch.cancel()
        await asyncio.gather(*watches, return_exceptions=True)
