"""What a newer document does to the rows it replaces, and what a base takes with it."""

import asyncio

import pytest

from acervo.events.v1.facts_pb2 import DocumentDeleted, DocumentFinished, TeardownAnswered
from services.ingest import outcomes, removal, tracking
from services.ingest.documents import Document, Original, State
from services.ingest.outcomes import Blobs
from services.shared import bases
from services.shared.bus import DOCUMENT_DELETED, DOCUMENT_FINISHED, teardown_answered
from services.shared.errors import BaseGone, reason_of
from services.shared.ids import uuid7
from tests.integration.ingest.steps import Steps, new

BASE = uuid7()
CORRUPT = reason_of("FILE_CORRUPT")


async def _done(steps: Steps, document: Document, *retired: Document) -> None:
    await steps.parse(document)
    await steps.index(document, retired=tuple(one.id for one in retired))


async def _left(steps: Steps, *documents: Document) -> list[State | None]:
    found = [await steps.get(document) for document in documents]
    return [None if document is None else document.state for document in found]


async def test_a_replacement_takes_the_rows_of_what_it_replaced_and_their_failures(steps: Steps) -> None:
    failed = await steps.create(BASE, source_path="/a", replaces=True)
    old = await steps.create(BASE, source_path="/a", replaces=True)
    other = await steps.create(BASE, source_path="/b", replaces=True)
    await steps.fail(failed, CORRUPT)
    await _done(steps, old)
    await _done(steps, other)
    new_one = await steps.create(BASE, source_path="/a", replaces=True)
    await _done(steps, new_one, old)
    assert await _left(steps, failed, old, other, new_one) == [None, None, State.DONE, State.DONE]
    deleted = {fact.document_id for fact in await steps.events(DOCUMENT_DELETED, DocumentDeleted)}
    assert deleted == {str(failed.id), str(old.id)}


async def test_a_replacement_by_name_takes_what_was_uploaded_under_that_name(steps: Steps) -> None:
    old = await steps.create(BASE, filename="report.pdf")
    beside = await steps.create(BASE, filename="report.pdf", source_path="/docs/report.pdf")
    await _done(steps, old)
    await _done(steps, beside)
    await _done(steps, await steps.create(BASE, filename="report.pdf", replaces=True))
    assert await _left(steps, old, beside) == [None, State.DONE]


async def test_a_replacement_never_takes_a_row_that_is_under_way(steps: Steps) -> None:
    older = await steps.create(BASE, replaces=True)
    await steps.parse(older)
    newer = await steps.create(BASE, replaces=True)
    await _done(steps, newer)
    assert await _left(steps, older, newer) == [State.PROCESSING, State.DONE]


@pytest.mark.parametrize("end", ["superseded", "stored", "failed"])
async def test_an_older_upload_that_ends_after_its_replacement_goes_itself(steps: Steps, end: str) -> None:
    older = await steps.create(BASE, replaces=end != "stored")
    await steps.parse(older)
    await _done(steps, await steps.create(BASE, replaces=True))
    if end == "failed":
        await outcomes.fail_embed(steps.pool, older.id, 1, CORRUPT)
    else:
        await steps.index(older, superseded=end == "superseded")
    assert await _left(steps, older) == [None]
    finished = {fact.document_id: fact for fact in await steps.events(DOCUMENT_FINISHED, DocumentFinished)}
    assert finished[str(older.id)].done == (end != "failed")
    (deleted,) = await steps.events(DOCUMENT_DELETED, DocumentDeleted)
    assert deleted.document_id == str(older.id)


async def test_two_versions_that_end_at_once_leave_the_newer(steps: Steps) -> None:
    for _ in range(10):
        older, newer = [await steps.create(BASE, replaces=True) for _ in range(2)]
        for document in (older, newer):
            await steps.parse(document)
        await asyncio.gather(steps.index(older), steps.index(newer))
        assert await _left(steps, older, newer) == [None, State.DONE]


async def test_a_document_that_was_replaced_before_its_own_answer_came_still_counts_as_ended(
    steps: Steps,
) -> None:
    older, newer = [await steps.create(BASE, replaces=True) for _ in range(2)]
    for document in (older, newer):
        await steps.parse(document)
    await steps.index(newer, retired=(older.id,))
    await steps.index(older)
    assert await _left(steps, older, newer) == [None, State.DONE]
    finished = [fact.document_id for fact in await steps.events(DOCUMENT_FINISHED, DocumentFinished)]
    assert sorted(finished) == sorted([str(older.id), str(newer.id)])


async def test_a_deleted_base_takes_all_its_documents_and_answers(steps: Steps) -> None:
    base, teardown = uuid7(), uuid7()
    documents = [await steps.create(base, filename=f"{n}.md") for n in range(3)]
    await _done(steps, documents[0])
    await steps.fail(documents[1], CORRUPT)
    stays = await steps.create(BASE)
    claimed = await steps.claim(documents[2])
    result = await steps.written(claimed)
    await removal.bury_base(steps.pool, base, teardown)
    await removal.bury_base(steps.pool, base, teardown)
    assert await _left(steps, *documents, stays) == [None, None, None, State.PROCESSING]
    assert len(await steps.events(DOCUMENT_DELETED, DocumentDeleted)) == 3
    answers = await steps.events(teardown_answered("ingest"), TeardownAnswered)
    assert {(answer.teardown_id, answer.service) for answer in answers} == {(str(teardown), "ingest")}
    with pytest.raises(BaseGone):
        await outcomes.finish_parse(steps.pool, claimed, base, result, Blobs(1, 1), deadline_seconds=60)
    with pytest.raises(BaseGone):
        await tracking.create(steps.pool, new(base))
    await steps.index(documents[0])


async def test_an_emptied_base_loses_what_it_held_and_takes_what_comes(steps: Steps) -> None:
    base = uuid7()
    old = await steps.create(base, original=Original.KEPT)
    await steps.fail(old, CORRUPT)
    before = uuid7()
    newer = await steps.create(base)
    await removal.empty_base(steps.pool, base, before, uuid7())
    assert await _left(steps, old, newer) == [None, State.PROCESSING]
    await _done(steps, newer)
    with pytest.raises(BaseGone):
        await steps.retry(old)


async def test_an_upload_is_not_answered_by_a_document_that_an_emptying_is_about_to_remove(
    steps: Steps,
) -> None:
    base = uuid7()
    old = await steps.create(base, sha256=bytes(32))
    async with steps.pool.acquire() as connection:
        await bases.empty(connection, base, uuid7())
    tracked = await tracking.create(steps.pool, new(base, sha256=bytes(32)))
    assert not tracked.already_present
    assert tracked.document.id != old.id


async def test_deleting_a_base_waits_for_the_writer_that_came_first(steps: Steps) -> None:
    base = uuid7()
    async with steps.pool.acquire() as connection, connection.transaction():
        await bases.hold(connection, base, uuid7())
        burying = asyncio.create_task(removal.bury_base(steps.pool, base, uuid7()))
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        while not await steps.pool.fetchval(waiting):
            assert not burying.done()
    await burying
    with pytest.raises(BaseGone):
        await tracking.create(steps.pool, new(base))
