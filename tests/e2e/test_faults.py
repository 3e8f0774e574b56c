"""Processes are killed at random moments while documents come in. Nothing is lost, nothing is done twice."""

import asyncio
import random
import shutil
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from uuid import UUID, uuid5

import httpx
import pytest

from acervo_client import AcervoClient, UploadOptions
from acervo_client.errors import AcervoError
from acervoctl.stack.stack import Stack
from services.ingest.splitter import split
from tests.e2e.conftest import HASHING
from tests.e2e.corpus import write_corpus
from tests.e2e.ledger import Ledger

SEED = 20261130
COLLECTION = "faults"
UPLOADS_AT_ONCE = 4
SETTLED_SECONDS = 240
PATIENCE_SECONDS = 240
VICTIMS = ("ingest", "vectorstore", "gateway", "nats", "postgres", "upload", "access")

Eventually = Callable[..., Awaitable[None]]


class Faults:
    """Kills each victim once a round, in an order and at moments that the seed decides."""

    def __init__(self, stack: Stack, seed: int, rounds: int, eventually: Eventually) -> None:
        self._stack = stack
        self._random = random.Random(seed)
        self._rounds = rounds
        self._eventually = eventually
        self.killed: list[str] = []

    async def run(self, progress: Callable[[], int], total: int) -> None:
        """Kill one after the other, each once a random share of the documents has been sent."""
        deaths = (*VICTIMS, "wipe")
        victims = [name for _ in range(self._rounds) for name in self._random.sample(deaths, len(deaths))]
        shares = sorted(self._random.uniform(0.05, 0.95) for _ in victims)
        for victim, share in zip(victims, shares, strict=True):
            await self._eventually(_reached(progress, share * total), seconds=PATIENCE_SECONDS)
            if victim == "wipe":
                await self._wipe()
            else:
                await self._stack.restarted(victim, after=self._stack.kill(victim))
            self.killed.append(victim)

    async def _wipe(self) -> None:
        """Take the broker down, remove all that it stored, and bring it back."""
        async with self._stack.down("nats"):
            await asyncio.to_thread(shutil.rmtree, self._stack.home.nats / "store", ignore_errors=True)


def _reached(progress: Callable[[], int], goal: float) -> Callable[[], Awaitable[bool]]:
    async def reached() -> bool:
        return progress() >= goal

    return reached


class Uploads:
    """Sends files, every other one through the gateway, again until each was taken."""

    def __init__(self, client: AcervoClient, stack: Stack, base_id: str) -> None:
        self._client = client
        self._stack = stack
        self._base_id = base_id
        self.document_ids: list[str] = []

    async def run(self, files: Sequence[Path]) -> None:
        queue = list(enumerate(files))

        async def worker() -> None:
            async with httpx.AsyncClient(timeout=30) as http:
                while queue:
                    number, path = queue.pop(0)
                    send = self._over_http(http, path) if number % 2 else self._over_grpc(path)
                    self.document_ids.append(await send)

        async with asyncio.TaskGroup() as group:
            for _ in range(UPLOADS_AT_ONCE):
                group.create_task(worker())

    async def _over_grpc(self, path: Path) -> str:
        answer = await self._client.documents.upload(
            path, knowledge_base_id=self._base_id, options=UploadOptions(replace=True)
        )
        return answer.document.id

    async def _over_http(self, http: httpx.AsyncClient, path: Path) -> str:
        """Send one file as a browser's backend would, with the same request id each time."""
        request_id = uuid5(UUID(self._base_id), path.name)
        parameters = {
            "knowledge_base_id": self._base_id,
            "filename": path.name,
            "request_id": str(request_id),
            "replace": "true",
        }
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        while True:
            try:
                answer = await http.post(
                    f"{self._stack.gateway_url}/api/v1/documents",
                    params=parameters,
                    content=path.read_bytes(),
                    headers={"authorization": f"Bearer {self._stack.token()}"},
                )
                if answer.status_code < 300:
                    return str(answer.json()["document"]["id"])
                assert answer.status_code in (409, 500, 502, 503, 504), answer.text
            except httpx.TransportError:
                pass
            assert asyncio.get_running_loop().time() < deadline, f"{path.name} was never taken"
            await asyncio.sleep(0.2)


async def _ingest_under_faults(
    client: AcervoClient, stack: Stack, folder: Path, eventually: Eventually, *, count: int, rounds: int
) -> None:
    files = write_corpus(folder, count, SEED)
    base = await client.bases.create("Faults", collection_name=COLLECTION, embedding=HASHING)
    uploads = Uploads(client, stack, base.id)
    faults = Faults(stack, SEED, rounds, eventually)
    async with asyncio.TaskGroup() as group:
        group.create_task(uploads.run(files))
        group.create_task(faults.run(lambda: len(uploads.document_ids), count))
    assert set(faults.killed) == {*VICTIMS, "wipe"}
    ledger = Ledger(stack.admin_database_url, stack.home.blobs)
    await eventually(_settled(client, base.id, count), seconds=SETTLED_SECONDS)
    await _assert_clean(ledger, eventually)
    await _assert_complete(client, ledger, base.id, files)


def _settled(client: AcervoClient, base_id: str, count: int) -> Callable[[], Awaitable[bool]]:
    async def settled() -> bool:
        try:
            counts = await client.documents.counts(knowledge_base_id=base_id)
        except AcervoError as error:
            if error.may_succeed_later:
                return False
            raise
        assert counts.error == 0, "a document failed"
        return bool(counts.done == count and counts.processing == 0)

    return settled


async def _assert_clean(ledger: Ledger, eventually: Eventually) -> None:
    left: dict[str, int] = {}

    async def nothing_left() -> bool:
        left.clear()
        left.update(await ledger.left_over())
        return not left

    try:
        await eventually(nothing_left, seconds=SETTLED_SECONDS)
    except AssertionError:
        pytest.fail(f"left over: {left}")


async def _assert_complete(client: AcervoClient, ledger: Ledger, base_id: str, files: Sequence[Path]) -> None:
    documents = [document async for document in client.documents.list(knowledge_base_id=base_id)]
    assert sorted(document.filename for document in documents) == sorted(path.name for path in files)
    chunks = await ledger.chunks(COLLECTION)
    assert {document.filename: document.chunk_count for document in documents} == {
        name: len(texts) for name, texts in chunks.items()
    }
    for path in files:
        if path.suffix != ".docx":
            text = path.read_text(encoding="utf-8")
            expected = [text[span.start : span.end] for span in split(text, 2500, 200)]
            assert chunks[path.name] == expected


@pytest.mark.timeout(600)
async def test_forty_documents_survive_every_death(
    client: AcervoClient, stack: Stack, tmp_path: Path, eventually: Eventually
) -> None:
    await _ingest_under_faults(client, stack, tmp_path / "files", eventually, count=40, rounds=1)


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_two_hundred_documents_survive_every_death_four_times(
    client: AcervoClient, stack: Stack, tmp_path: Path, eventually: Eventually
) -> None:
    await _ingest_under_faults(client, stack, tmp_path / "files", eventually, count=200, rounds=4)
