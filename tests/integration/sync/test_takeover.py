"""A run outlives the process that carries it out."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.shared.ids import uuid7
from tests.conftest import Databases, NatsServer
from tests.integration.sync.stage import Around, counts, serving, surroundings
from tests.signing import Trust


@pytest.fixture
async def around(
    databases: Databases, nats_server: NatsServer, blob_url: str, tmp_path: Path
) -> AsyncIterator[Around]:
    async with surroundings(databases, nats_server, blob_url, Trust(tmp_path)) as around:
        yield around


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = (tmp_path / "root").resolve()
    folder.mkdir()
    return folder


@pytest.mark.parametrize("killed_at", [1, 7])
async def test_a_killed_run_goes_on_where_it_was_and_duplicates_nothing(
    around: Around, root: Path, killed_at: int
) -> None:
    base = uuid7()
    async with serving(around, root, works=False) as stage:
        stage.let("ana", base=base)
        for number in range(12):
            stage.write(f"{number:02}.md", f"text {number}")
        around.documents.finishing = False
        source = await stage.source(base)
        first = await worker(around, root)
        run = await stage.start(source)
        await stage.handed_over(at_least=killed_at)
        first.send_signal(signal.SIGKILL)
        await first.wait()
        around.documents.finishing = True
        for stored in list(around.documents.documents.values()):
            await around.documents.finish(stored)
        second = await worker(around, root)
        ended = await stage.ended(run)
        second.terminate()
        await second.wait()
    assert counts(ended) == {"listed": 12, "ingested": 12}
    assert len(around.documents.documents) == 12


async def test_what_vanishes_while_nobody_works_is_accounted_for(around: Around, root: Path) -> None:
    base = uuid7()
    async with serving(around, root, works=False) as stage:
        stage.let("ana", base=base)
        vanishing = stage.write("a.md")
        stage.write("b.md")
        run = await stage.start(await stage.source(base))
        await stage.note_taking(run, vanishing)
        stage.remove("a.md")
        process = await worker(around, root)
        ended = await stage.ended(run)
        process.terminate()
        await process.wait()
    assert counts(ended) == {"listed": 2, "ingested": 1, "failed": 1}
    assert [file.source_path for file in ended.failed_files] == [vanishing]


async def worker(around: Around, root: Path) -> asyncio.subprocess.Process:
    """A process of sync that works and does not serve."""
    settings = {**around.settings, "role": "worker", "sync_roots": str(root)}
    environment = {f"ACERVO_{name.upper()}": str(value) for name, value in settings.items()}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.sync",
        env={**os.environ, **environment},
        stderr=asyncio.subprocess.DEVNULL,
    )
