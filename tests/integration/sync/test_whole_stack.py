"""A directory kept in step by all the real services, from its files to passages that are found."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from acervo.access.v1.audit_pb2 import AuditFilter
from acervo.access.v1.knowledge_bases_pb2 import EmbeddingSettings, KnowledgeBase
from acervo.sync.v1 import sources_pb2 as pb
from acervo_client import AcervoClient
from acervoctl.stack.home import temporary_home
from acervoctl.stack.services import FAST_DEADLINES, GRPC_SERVICES
from acervoctl.stack.stack import Options, Stack
from tests.integration.sync.stage import counts, eventually

HASHING = EmbeddingSettings(model="hashing-256", width=256)


@pytest.fixture
def home() -> Iterator[Path]:
    with temporary_home("acervo-sync-") as path:
        yield path


@pytest.fixture
async def client(home: Path) -> AsyncIterator[AcervoClient]:
    options = Options(services=GRPC_SERVICES, environment=FAST_DEADLINES, durable=False)
    async with Stack(home, options) as stack:
        await stack.wait_ready()
        async with AcervoClient(stack.addresses, stack.token, patience_seconds=60) as client:
            yield client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "folder"
    write(folder / "lighthouse.md", "The lighthouse of Salinas was built in 1784.")
    write(folder / "sub/lighthouse.md", "The lighthouse keeper feeds four cats.")
    write(folder / "sub/harbour.txt", "The harbour market opens at half past nine.")
    return folder


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


async def run(client: AcervoClient, source: pb.Source, mode: pb.SyncMode) -> dict[str, int]:
    started = await client.sources.start_run(source.id, mode)

    async def over() -> bool:
        return (await client.sources.run(started.id)).state != pb.RUN_STATE_RUNNING

    await eventually(over)
    ended = await client.sources.run(started.id)
    assert ended.state == pb.RUN_STATE_DONE
    return counts(ended)


async def found(client: AcervoClient, base: KnowledgeBase, query: str) -> list[str]:
    passages = await client.search(query, knowledge_base_ids=[base.id])
    return [passage.text for passage in passages]


async def held(client: AcervoClient, base: KnowledgeBase, folder: Path) -> dict[str, Any]:
    documents = [document async for document in client.documents.list(knowledge_base_id=base.id)]
    assert not any(document.has_original for document in documents)
    return {document.source_path.removeprefix(f"{folder}/"): document.id for document in documents}


async def test_a_directory_is_kept_in_step_from_its_files_to_what_is_found(
    client: AcervoClient, folder: Path
) -> None:
    base = await client.bases.create("Folder", embedding=HASHING)
    source = await client.sources.create_local(str(folder), knowledge_base_id=base.id, recursive=True)
    assert await run(client, source, pb.SYNC_MODE_NEW_ONLY) == {"listed": 3, "ingested": 3}
    assert await run(client, source, pb.SYNC_MODE_NEW_ONLY) == {"listed": 3, "skipped": 3}
    first = await held(client, base, folder)
    assert set(first) == {"lighthouse.md", "sub/lighthouse.md", "sub/harbour.txt"}

    write(folder / "sub/lighthouse.md", "The lighthouse keeper feeds nine geese.")
    write(folder / "new.md", "A new bicycle shed stands in the yard.")
    assert await run(client, source, pb.SYNC_MODE_UPDATE_ONLY) == {"listed": 4, "updated": 1, "skipped": 3}
    second = await held(client, base, folder)
    assert second["lighthouse.md"] == first["lighthouse.md"]
    assert second["sub/lighthouse.md"] != first["sub/lighthouse.md"]
    texts = " ".join(await found(client, base, "What does the lighthouse keeper feed?"))
    assert "geese" in texts
    assert "cats" not in texts

    (folder / "sub/harbour.txt").unlink()
    assert await run(client, source, pb.SYNC_MODE_FULL) == {
        "listed": 3,
        "ingested": 1,
        "skipped": 2,
        "removed": 1,
    }
    assert set(await held(client, base, folder)) == {"lighthouse.md", "sub/lighthouse.md", "new.md"}

    # The row goes with the run; vectorstore hears of it a moment later.
    async def forgotten() -> bool:
        return not [text for text in await found(client, base, "harbour market") if "harbour" in text]

    await eventually(forgotten)

    async def audited() -> bool:
        mine = client.audit.list(AuditFilter(object_id=source.id))
        return [event.action async for event in mine] == ["sync_source.created"]

    await eventually(audited)
