"""What keeps a run going, what ends it, and what it survives."""

import os
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from grpc.aio import AioRpcError

from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.events.v1.facts_pb2 import DocumentFinished
from acervo.sync.v1 import sources_pb2 as pb
from services.shared import bus
from services.shared.client import from_rpc_error
from services.shared.errors import AcervoError, NotFound
from services.sync import local_directory, passes
from services.sync.connector import SourceUnreadable
from tests.integration.sync.stage import Stage, counts

pytestmark = pytest.mark.asyncio(loop_scope="module")

FULL = pb.SYNC_MODE_FULL


async def refusal(stage: Stage, source: pb.Source) -> reasons.ErrorReason:
    with pytest.raises(AioRpcError) as refused:
        await stage.start(source)
    return from_rpc_error(refused.value).reason


async def test_a_run_lasts_until_every_document_has_ended(stage: Stage, base: UUID) -> None:
    stage.write("a.md", "one")
    stage.write("b.md", "FAIL")
    stage.documents.finishing = False
    run = await stage.start(await stage.source(base))
    await stage.handed_over(at_least=2)
    first, second = stage.documents.documents.values()
    await stage.documents.finish(first)
    seen = await stage.until(run, lambda seen: seen.counts.ingested + seen.counts.failed == 1)
    assert seen.state == pb.RUN_STATE_RUNNING
    await stage.documents.finish(second)
    assert counts(await stage.ended(run)) == {"listed": 2, "ingested": 1, "failed": 1}


async def test_a_repeated_fact_counts_once(stage: Stage, base: UUID) -> None:
    stage.write("a.md", "one")
    stage.write("b.md", "two")
    stage.documents.finishing = False
    run = await stage.start(await stage.source(base))
    await stage.waiting(documents=2)
    first, second = stage.documents.documents.values()
    for _ in range(3):
        fact = DocumentFinished(document_id=str(first.id), attempt=1, done=True)
        await stage.documents.tell(bus.DOCUMENT_FINISHED, fact)
    await stage.documents.finish(second)
    assert counts(await stage.ended(run)) == {"listed": 2, "ingested": 2}


async def test_a_fact_that_never_comes_is_asked_for(
    stage: Stage, base: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "ASK_SECONDS", 0.2)
    stage.write("a.md", "one")
    stage.write("b.md", "FAIL")
    stage.documents.telling = False
    assert counts(await stage.run(await stage.source(base))) == {"listed": 2, "ingested": 1, "failed": 1}


async def test_a_document_that_is_deleted_under_way_ends_as_failed(stage: Stage, base: UUID) -> None:
    stage.write("a.md", "one")
    stage.documents.finishing = False
    source = await stage.source(base)
    run = await stage.start(source)
    await stage.handed_over(at_least=1)
    await stage.documents.remove(next(iter(stage.documents.documents)))
    ended = await stage.ended(run)
    assert counts(ended) == {"listed": 1, "failed": 1}
    assert ended.failed_files[0].reason == reasons.ERROR_REASON_NOT_FOUND
    stage.documents.finishing = True
    assert counts(await stage.run(source)) == {"listed": 1, "ingested": 1}


async def test_a_document_that_somebody_deleted_is_brought_again(stage: Stage, base: UUID) -> None:
    stage.write("a.md", "one")
    source = await stage.source(base)
    await stage.run(source)
    await stage.documents.remove(next(iter(stage.documents.documents)))
    await stage.claims_gone()
    assert counts(await stage.run(source)) == {"listed": 1, "ingested": 1}


async def test_one_run_of_a_source_at_a_time(stage: Stage, base: UUID) -> None:
    stage.write("a.md", "one")
    stage.documents.finishing = False
    source = await stage.source(base)
    run = await stage.start(source)
    assert await refusal(stage, source) == reasons.ERROR_REASON_RUN_IN_PROGRESS
    await stage.handed_over(at_least=1)
    await stage.documents.finish(next(iter(stage.documents.documents.values())))
    await stage.ended(run)
    await stage.run(source)


async def test_the_owner_is_authorised_again_at_each_run(stage: Stage, base: UUID) -> None:
    stage.write("a.md", "one")
    source = await stage.source(base)
    owner = UUID(source.owner_user_id)
    stage.let("ben", base=base)
    rights: list[tuple[set[Any], Any]] = [(stage.access.editors, (owner, base)), (stage.access.admins, owner)]
    for holders, right in rights:
        holders.discard(right)
        run = await stage.start(source, person="ben")
        ended = await stage.until(run, lambda seen: seen.state != pb.RUN_STATE_RUNNING, person="ben")
        assert (ended.state, ended.failure_reason) == (
            pb.RUN_STATE_ERROR,
            reasons.ERROR_REASON_OWNER_LOST_ACCESS,
        )
        holders.add(right)
    assert not stage.documents.headers


async def test_a_directory_that_is_gone_fails_the_run_and_removes_nothing(stage: Stage, base: UUID) -> None:
    stage.write("sub/a.md")
    source = await stage.source(base, stage.root / "sub")
    await stage.run(source)
    (stage.root / "sub").rename(stage.root / "elsewhere")
    run = await stage.run(source, FULL)
    assert (run.state, run.failure_reason) == (pb.RUN_STATE_ERROR, reasons.ERROR_REASON_SOURCE_UNREADABLE)
    assert set(stage.held()) == {"sub/a.md"}


async def test_a_folder_that_cannot_be_listed_removes_nothing_at_all(
    stage: Stage, base: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.md", "gone.md", "closed/b.md"):
        stage.write(name)
    source = await stage.source(base)
    await stage.run(source)
    stage.remove("gone.md")
    closed = stage.inode("closed")
    list_folder = local_directory._listed

    def refuse(folder: int) -> list[str]:
        if os.fstat(folder).st_ino == closed:
            raise SourceUnreadable
        return list_folder(folder)

    monkeypatch.setattr(local_directory, "_listed", refuse)
    run = await stage.run(source, FULL)
    assert counts(run) == {"listed": 2, "skipped": 1, "failed": 1}
    assert set(stage.held()) == {"a.md", "gone.md", "closed/b.md"}


async def test_a_file_that_meets_a_passing_fault_is_tried_again(
    stage: Stage, base: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "PAUSES", (0.01, 600))
    path = stage.write("a.md", "one")
    stage.documents.busy[path] = 1
    assert counts(await stage.run(await stage.source(base))) == {"listed": 1, "ingested": 1}


async def test_a_run_ends_when_upload_knows_its_base_no_more(stage: Stage, base: UUID) -> None:
    stage.documents.refused[stage.write("a.md")] = NotFound("knowledge base")
    run = await stage.run(await stage.source(base))
    assert (run.state, run.failure_reason) == (pb.RUN_STATE_ERROR, reasons.ERROR_REASON_BASE_DELETED)


async def test_a_run_waits_for_a_service_that_is_down_and_goes_on(
    stage: Stage, base: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "PAUSES", ())
    stage.write("a.md", "one")
    stage.documents.down = True
    run = await stage.start(await stage.source(base))
    await stage.tries(run, at_least=1)
    stage.documents.down = False
    assert counts(await stage.ended(run)) == {"listed": 1, "ingested": 1}


async def test_the_counts_of_a_run_stand_when_its_files_are_forgotten(stage: Stage, base: UUID) -> None:
    for number in range(120):
        refused = stage.write(f"{number:03}.md")
        stage.documents.refused[refused] = AcervoError(reasons.ERROR_REASON_FILE_KIND_MISMATCH)
    stage.write("a.md")
    run = await stage.run(await stage.source(base))
    assert counts(run) == {"listed": 121, "ingested": 1, "failed": 120}
    assert [Path(file.source_path).name for file in run.failed_files] == [f"{n:03}.md" for n in range(100)]
    assert await stage.pool.fetchval("SELECT count(*) FROM run_files") == 100
