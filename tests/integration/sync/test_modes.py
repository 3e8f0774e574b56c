"""What a run takes, leaves, counts and removes, in each mode, over real gRPC, broker and database."""

from uuid import UUID

import pytest

from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.sync.v1 import sources_pb2 as pb
from services.shared.errors import AcervoError
from services.sync.runs import KINDS_NOT_TAKEN
from tests.integration.sync.stage import Stage, counts

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEW_ONLY, UPDATE_ONLY, FULL = pb.SYNC_MODE_NEW_ONLY, pb.SYNC_MODE_UPDATE_ONLY, pb.SYNC_MODE_FULL


async def test_new_files_are_taken_once_and_unchanged_ones_left(stage: Stage, base: UUID) -> None:
    stage.write("a.md", "one")
    stage.write("sub/b.txt", "two")
    source = await stage.source(base)
    first = await stage.run(source)
    assert first.state == pb.RUN_STATE_DONE
    assert counts(first) == {"listed": 2, "ingested": 2}
    assert counts(await stage.run(source)) == {"listed": 2, "skipped": 2}
    assert stage.held() == {"a.md": "one", "sub/b.txt": "two"}
    assert len(stage.documents.headers) == 2


async def test_a_file_is_handed_over_as_one_of_a_directory_in_its_owners_name(
    stage: Stage, base: UUID
) -> None:
    path = stage.write("a.md", "one")
    source = await stage.source(base)
    await stage.run(source)
    (header,) = stage.documents.headers
    assert (header.source_path, header.filename, header.actor_user_id) == (path, "a.md", source.owner_user_id)
    assert header.replace
    assert header.discard_original


async def test_a_changed_file_replaces_its_document(stage: Stage, base: UUID) -> None:
    stage.write("a.md", "old")
    source = await stage.source(base)
    await stage.run(source)
    stage.write("a.md", "new")
    assert counts(await stage.run(source)) == {"listed": 1, "updated": 1}
    assert stage.held() == {"a.md": "new"}


async def test_update_only_ignores_new_files_and_takes_changed_ones(stage: Stage, base: UUID) -> None:
    stage.write("changed.md", "old")
    stage.write("same.md", "same")
    source = await stage.source(base)
    await stage.run(source)
    stage.write("changed.md", "new")
    stage.write("fresh.md", "fresh")
    assert counts(await stage.run(source, UPDATE_ONLY)) == {"listed": 3, "updated": 1, "skipped": 2}
    assert stage.held() == {"changed.md": "new", "same.md": "same"}


async def test_full_removes_what_is_gone_and_hands_over_all_the_rest(stage: Stage, base: UUID) -> None:
    stage.write("stays.md", "stays")
    stage.write("goes.md", "goes")
    source = await stage.source(base)
    await stage.run(source)
    stage.remove("goes.md")
    assert counts(await stage.run(source, FULL)) == {"listed": 1, "skipped": 1, "removed": 1}
    assert stage.held() == {"stays.md": "stays"}
    assert len(stage.documents.headers) == 3


async def test_only_full_removes(stage: Stage, base: UUID) -> None:
    stage.write("stays.md")
    stage.write("goes.md")
    source = await stage.source(base)
    await stage.run(source)
    stage.remove("goes.md")
    await stage.run(source, NEW_ONLY)
    await stage.run(source, UPDATE_ONLY)
    assert set(stage.held()) == {"stays.md", "goes.md"}


async def test_a_renamed_file_is_taken_under_its_new_name_before_the_old_one_goes(
    stage: Stage, base: UUID
) -> None:
    stage.write("old.md", "text")
    source = await stage.source(base)
    await stage.run(source)
    (stage.root / "old.md").rename(stage.root / "new.md")
    assert counts(await stage.run(source, FULL)) == {"listed": 1, "ingested": 1, "removed": 1}
    assert stage.held() == {"new.md": "text"}


async def test_one_name_in_two_folders_is_two_documents_whatever_their_content(
    stage: Stage, base: UUID
) -> None:
    stage.write("a/readme.md", "same")
    stage.write("b/readme.md", "same")
    stage.write("c/readme.md", "other")
    source = await stage.source(base)
    assert counts(await stage.run(source)) == {"listed": 3, "ingested": 3}
    stage.write("b/readme.md", "changed")
    assert counts(await stage.run(source)) == {"listed": 3, "updated": 1, "skipped": 2}
    assert stage.held() == {"a/readme.md": "same", "b/readme.md": "changed", "c/readme.md": "other"}


async def test_a_file_whose_document_failed_is_taken_again_and_counted_with_its_reason(
    stage: Stage, base: UUID
) -> None:
    path = stage.write("bad.md", "FAIL")
    source = await stage.source(base)
    for mode in (NEW_ONLY, NEW_ONLY, UPDATE_ONLY):
        run = await stage.run(source, mode)
        assert counts(run) == {"listed": 1, "failed": 1}
        (failed,) = run.failed_files
        assert (failed.source_path, failed.reason) == (path, reasons.ERROR_REASON_FILE_CORRUPT)
    stage.write("bad.md", "good")
    assert counts(await stage.run(source)) == {"listed": 1, "ingested": 1}


async def test_a_change_that_fails_leaves_the_document_that_was_there(stage: Stage, base: UUID) -> None:
    stage.write("a.md", "good")
    source = await stage.source(base)
    await stage.run(source)
    stage.write("a.md", "FAIL")
    assert counts(await stage.run(source)) == {"listed": 1, "failed": 1}
    assert stage.held() == {"a.md": "good"}
    stage.remove("a.md")
    stage.write("b.md", "other")
    assert counts(await stage.run(source, FULL)) == {"listed": 1, "ingested": 1, "removed": 1}
    assert {stored.filename for stored in stage.documents.documents.values()} == {"b.md"}


async def test_what_is_refused_fails_with_its_reason_and_stops_nothing(stage: Stage, base: UUID) -> None:
    stage.write("a.md", "text")
    refused = stage.write("c.md", "text")
    stage.documents.refused[refused] = AcervoError(reasons.ERROR_REASON_FILE_KIND_MISMATCH)
    run = await stage.run(await stage.source(base))
    assert run.state == pb.RUN_STATE_DONE
    assert counts(run) == {"listed": 2, "ingested": 1, "failed": 1}
    assert [(file.source_path, file.reason) for file in run.failed_files] == [
        (refused, reasons.ERROR_REASON_FILE_KIND_MISMATCH)
    ]


async def test_files_of_kinds_that_are_not_taken_are_skipped_in_every_mode_and_their_kinds_are_named(
    stage: Stage, base: UUID
) -> None:
    stage.write("a.md", "text")
    for name in ("b.exe", "c.EXE", "Makefile", f"d.{'x' * 60}"):
        stage.write(name, "text")
    source = await stage.source(base)
    for mode in (NEW_ONLY, FULL):
        run = await stage.run(source, mode)
        assert (run.state, run.counts.skipped + run.counts.ingested) == (pb.RUN_STATE_DONE, 5)
        assert (run.counts.failed, list(run.failed_files)) == (0, [])
        assert run.kinds_not_taken == {"exe": 2, "": 1, "x" * 20: 1}


async def test_of_the_kinds_that_are_not_taken_the_most_frequent_are_named(stage: Stage, base: UUID) -> None:
    for number in range(KINDS_NOT_TAKEN + 5):
        stage.write(f"{number}.none{number:02}", "text")
    stage.write("more.none24", "text")
    run = await stage.run(await stage.source(base))
    assert run.counts.skipped == KINDS_NOT_TAKEN + 6
    assert len(run.kinds_not_taken) == KINDS_NOT_TAKEN
    assert run.kinds_not_taken["none24"] == 2


async def test_a_directory_without_any_file_removes_nothing_and_says_so(stage: Stage, base: UUID) -> None:
    stage.write("a.md")
    source = await stage.source(base)
    await stage.run(source)
    stage.remove("a.md")
    run = await stage.run(source, FULL)
    assert (run.state, run.failure_reason) == (pb.RUN_STATE_ERROR, reasons.ERROR_REASON_SOURCE_UNREADABLE)
    assert "mounted" in run.failure_message
    assert set(stage.held()) == {"a.md"}


async def test_a_document_that_two_sources_bring_goes_with_the_last_of_them(stage: Stage, base: UUID) -> None:
    stage.write("shared/a.md")
    stage.write("shared/b.md")
    stage.write("c.md")
    whole = await stage.source(base)
    part = await stage.source(base, stage.root / "shared")
    await stage.run(whole)
    assert counts(await stage.run(part)) == {"listed": 2, "skipped": 2}
    stage.remove("shared/a.md")
    assert counts(await stage.run(whole, FULL)) == {"listed": 2, "skipped": 2}
    assert set(stage.held()) == {"shared/a.md", "shared/b.md", "c.md"}
    assert counts(await stage.run(part, FULL)) == {"listed": 1, "skipped": 1, "removed": 1}
    assert set(stage.held()) == {"shared/b.md", "c.md"}


async def test_a_persons_document_is_never_claimed_nor_removed(stage: Stage, base: UUID) -> None:
    path = stage.write("a.md", "text")
    stage.write("b.md", "other")
    source = await stage.source(base)
    await stage.run(source)
    (claimed,) = [stored for stored in stage.documents.documents.values() if stored.path == path]
    claimed.path = ""
    await stage.pool.execute("DELETE FROM claims WHERE document_id = $1", claimed.id)
    stage.remove("a.md")
    assert counts(await stage.run(source, FULL)) == {"listed": 1, "skipped": 1}
    assert claimed.id in stage.documents.documents


async def test_more_files_than_fit_the_window_are_all_taken(stage: Stage, base: UUID) -> None:
    for number in range(150):
        stage.write(f"{number:03}.md", str(number))
    run = await stage.run(await stage.source(base))
    assert counts(run) == {"listed": 150, "ingested": 150}
    assert len(stage.held()) == 150
