"""Real public files, good, broken and hostile, through the whole stack."""

import asyncio
import json
from pathlib import Path

import pytest

from acervo.ingest.v1 import documents_pb2 as pb
from acervo_client import AcervoClient, AcervoError
from acervoctl.stack.stack import Stack
from services.shared.kinds import KINDS
from services.shared.reasons import meaning, reason_name, reason_of
from tests.e2e.conftest import HASHING

UPLOADS_AT_ONCE = 4
TAKEN = {f".{extension}" for kind in KINDS.values() for extension in kind.extensions}


@pytest.mark.timeout(300)
async def test_every_file_is_refused_at_once_or_ends_with_a_reason_and_the_stack_stays_healthy(
    client: AcervoClient, stack: Stack, shared_corpus: Path
) -> None:
    base = await client.bases.create("Corpus", collection_name="corpus", embedding=HASHING)
    outcomes = await _ingest(client, base.id, sorted(shared_corpus.iterdir()))
    assert not [name for name, outcome in outcomes.items() if outcome == "processing"]
    for reason in {outcome for outcome in outcomes.values() if outcome not in ("done", "processing")}:
        assert meaning(reason_of(reason)).advice
    assert {name: stack.restarts(name) for name in stack.processes} == dict.fromkeys(stack.processes, 0)
    assert _unexpected(shared_corpus, outcomes) == {}


async def _ingest(client: AcervoClient, base_id: str, files: list[Path]) -> dict[str, str]:
    """Return what became of each file: `done`, `processing`, or the reason of its refusal or failure."""
    outcomes: dict[str, str] = {}
    tracked: list[str] = []
    slots = asyncio.Semaphore(UPLOADS_AT_ONCE)

    async def upload(path: Path) -> None:
        async with slots:
            try:
                answer = await client.documents.upload(path, knowledge_base_id=base_id)
                tracked.append(answer.document.id)
            except AcervoError as error:
                outcomes[path.name] = error.reason

    async with asyncio.TaskGroup() as group:
        for path in files:
            group.create_task(upload(path))
    async for change in client.documents.watch(tracked):
        outcomes[change.document.filename] = _outcome(change.document)
    return outcomes


def _outcome(document: pb.Document) -> str:
    if document.state == pb.DOCUMENT_STATE_ERROR:
        assert document.failure.message
        assert document.failure.advice
        return reason_name(document.failure.reason)
    return "done" if document.state == pb.DOCUMENT_STATE_DONE else "processing"


def _unexpected(corpus: Path, outcomes: dict[str, str]) -> dict[str, str]:
    """Files of taken kinds that ended otherwise than the manifest says."""
    lines = (corpus / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    expected = {entry["file"]: entry["expect"] for entry in map(json.loads, lines)}
    taken = {name: expect for name, expect in expected.items() if Path(name).suffix in TAKEN}
    return {
        name: outcomes[name] for name, expect in taken.items() if not _as_expected(expect, outcomes[name])
    }


def _as_expected(expect: dict[str, object], outcome: str) -> bool:
    if expect.get("no_crash"):
        return True
    return (outcome != "done") == bool(expect.get("rejected") or expect.get("text_empty"))
