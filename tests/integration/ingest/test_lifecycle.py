"""A document's way through its stages, and what repeats, latecomers and takeovers cannot do to it."""

import asyncio
from dataclasses import replace

import pytest

from acervo.events.v1.facts_pb2 import DocumentDeleted, DocumentFinished
from acervo.events.v1.work_pb2 import EmbedDocument
from services.ingest import outcomes, tracking
from services.ingest.documents import Document, Original, Stage, State
from services.ingest.outcomes import Blobs
from services.shared import jobs
from services.shared.bus import DOCUMENT_DELETED, DOCUMENT_FINISHED
from services.shared.db import Pool
from services.shared.errors import AcervoError, ErrorReason, NotFound, reason_name, reason_of
from services.shared.ids import uuid7
from services.shared.jobs import Count, LeaseLost
from tests.integration.ingest.steps import Steps, new

BASE = uuid7()
CORRUPT = reason_of("FILE_CORRUPT")


async def test_a_document_goes_from_queued_to_done_and_says_so_once(steps: Steps) -> None:
    document = await steps.create(BASE)
    assert (document.state, document.stage) == (State.PROCESSING, Stage.QUEUED)
    claimed = await steps.claim(document)
    taken = await steps.get(document)
    assert taken is not None
    assert taken.stage is Stage.PARSING
    await steps.finish(document, claimed)
    under_way = await steps.get(document)
    assert under_way is not None
    assert (under_way.stage, under_way.chunk_count, under_way.page_count) == (Stage.EMBEDDING, 2, 1)
    assert [notice.code for notice in under_way.notices] == ["left_out"]
    (asked,) = await steps.events("acervo.embed.interactive", EmbedDocument)
    assert (asked.document_id, asked.attempt, asked.parse_epoch) == (str(document.id), 1, claimed.epoch)
    await steps.index(document)
    await steps.index(document)
    done = await steps.get(document)
    assert done is not None
    assert done.state is State.DONE
    assert done.completed_at is not None
    (finished,) = await steps.events(DOCUMENT_FINISHED, DocumentFinished)
    assert (finished.document_id, finished.done) == (str(document.id), True)
    assert await steps.blob_states() == {"pages/1/1": "live", "chunks/1/1": "deleting"}


async def test_the_same_file_again_answers_the_same_document(pool: Pool) -> None:
    wanted = new(BASE)
    tracked = await asyncio.gather(*(tracking.create(pool, replace(wanted, id=uuid7())) for _ in range(8)))
    assert len({one.document.id for one in tracked}) == 1
    assert not any(one.already_present for one in tracked)
    assert await pool.fetchval("SELECT count(*) FROM jobs") == 1


async def test_asking_late_for_a_file_does_not_bring_its_deleted_document_back(steps: Steps) -> None:
    document = await steps.create(BASE)
    await steps.delete(document)
    with pytest.raises(NotFound):
        await tracking.create(steps.pool, new(BASE, file_id=document.file_id))


async def test_the_same_content_uploaded_at_once_by_many_makes_one_document(pool: Pool) -> None:
    tracked = await asyncio.gather(*(tracking.create(pool, new(BASE)) for _ in range(8)))
    assert len({one.document.id for one in tracked}) == 1
    assert sum(one.already_present for one in tracked) == 7


async def test_a_worker_that_was_overtaken_cannot_record_anything(steps: Steps) -> None:
    document = await steps.create(BASE)
    slow = await steps.claim(document, "slow", lease_seconds=0)
    quick = await steps.claim(document, "quick")
    assert quick.epoch == slow.epoch + 1
    for attempt in (
        steps.finish(document, slow),
        outcomes.fail_parse(steps.pool, slow, CORRUPT),
        outcomes.postpone_parse(steps.pool, slow, 1, Count.TRY),
    ):
        with pytest.raises(LeaseLost):
            await attempt
    assert await steps.events("acervo.embed.interactive", EmbedDocument) == []
    await steps.finish(document, quick)
    states = await steps.blob_states()
    assert states == {
        "pages/1/1": "pending",
        "chunks/1/1": "pending",
        "pages/1/2": "live",
        "chunks/1/2": "live",
    }


async def test_a_document_deleted_while_it_is_read_stays_deleted(steps: Steps) -> None:
    document = await steps.create(BASE)
    claimed = await steps.claim(document)
    result = await steps.written(claimed)
    await steps.delete(document)
    with pytest.raises(LeaseLost):
        await outcomes.finish_parse(steps.pool, claimed, BASE, result, Blobs(1, 1), deadline_seconds=60)
    assert await steps.get(document) is None
    assert await steps.pool.fetchval("SELECT count(*) FROM jobs") == 0
    assert set((await steps.blob_states()).values()) == {"pending"}


@pytest.mark.parametrize("until", ["queued", "parsing", "embedding", "done", "error"])
async def test_a_document_can_be_deleted_in_every_state(steps: Steps, until: str) -> None:
    document = await _bring(steps, until)
    await steps.delete(document)
    await steps.delete(document)
    assert await steps.get(document) is None
    (deleted,) = await steps.events(DOCUMENT_DELETED, DocumentDeleted)
    assert (deleted.document_id, deleted.file_id) == (str(document.id), str(document.file_id))
    assert await steps.pool.fetchval("SELECT count(*) FROM jobs") == 0
    assert "live" not in (await steps.blob_states()).values()
    await steps.index(document)
    assert await steps.get(document) is None


async def test_a_retry_is_the_next_attempt_and_answers_to_the_last_one_are_ignored(steps: Steps) -> None:
    document = await _bring(steps, "embedding")
    await outcomes.fail_embed(steps.pool, document.id, 1, reason_of("EMBEDDING_FAILED"))
    failed = await steps.get(document)
    assert failed is not None
    assert failed.reason == reason_of("EMBEDDING_FAILED")
    retried = await steps.retry(document)
    assert (retried.attempt, retried.stage, retried.reason) == (2, Stage.QUEUED, None)
    await outcomes.fail_embed(steps.pool, document.id, 1, CORRUPT)
    await steps.index(document, attempt=1)
    assert await steps.get(document) == retried
    claimed = await steps.parse(retried)
    assert claimed.attempt == 2
    await steps.index(retried)
    done = await steps.get(document)
    assert done is not None
    assert (done.state, done.attempt, done.version) == (State.DONE, 2, document.version)
    states = await steps.blob_states()
    assert states.pop(f"pages/2/{claimed.epoch}") == "live"
    assert set(states.values()) == {"deleting"}


async def test_only_one_of_many_retries_at_once_counts(steps: Steps) -> None:
    document = await _bring(steps, "error")
    results = await asyncio.gather(*(steps.retry(document) for _ in range(5)), return_exceptions=True)
    refused = [result for result in results if isinstance(result, AcervoError)]
    assert len(refused) == 4
    assert {reason_name(refusal.reason) for refusal in refused} == {"DOCUMENT_NOT_FAILED"}


async def test_a_synced_document_does_not_promise_its_original_once_it_ended(steps: Steps) -> None:
    document = await _bring(steps, "error", original=Original.STAGED)
    with pytest.raises(AcervoError) as refusal:
        await steps.retry(document)
    assert reason_name(refusal.value.reason) == "ORIGINAL_GONE"


async def test_a_passing_fault_waits_in_the_database_for_its_next_try(steps: Steps) -> None:
    document = await steps.create(BASE)
    claimed = await steps.claim(document)
    await outcomes.postpone_parse(steps.pool, claimed, 0, Count.TRY)
    waiting = await steps.get(document)
    assert waiting is not None
    assert waiting.stage is Stage.QUEUED
    again = await steps.claim(document)
    assert (again.tries, again.epoch) == (1, claimed.epoch + 1)


async def test_an_answer_that_was_lost_is_asked_for_again(steps: Steps) -> None:
    document = await _bring(steps, "embedding")
    await steps.pool.execute("UPDATE jobs SET due_at = now() WHERE stage = 'embed'")
    await jobs.send_overdue(steps.pool, 60)
    assert len(await steps.events("acervo.embed.interactive", EmbedDocument)) == 2
    await steps.index(document)
    await steps.pool.execute("UPDATE jobs SET due_at = now()")
    assert await jobs.send_overdue(steps.pool, 60) == 0


async def _bring(steps: Steps, until: str, reason: ErrorReason = CORRUPT, **changes: object) -> Document:
    document = await steps.create(BASE, **changes)
    if until == "error":
        await steps.fail(document, reason)
    elif until == "parsing":
        await steps.claim(document)
    elif until in ("embedding", "done"):
        await steps.parse(document)
    if until == "done":
        await steps.index(document)
    return document
