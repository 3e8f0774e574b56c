"""The lifecycle of a document, and that nothing can run it backwards."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingest import documents
from services.ingest.documents import Document, Notice, Original, Parsed, Stage, State
from services.shared.errors import AcervoError, reason_name, reason_of
from tests.unit.ingest.builders import document

CORRUPT = reason_of("FILE_CORRUPT")
RESULT = Parsed(4, 2, "ingest/pages/x/1/1", "ingest/chunks/x/1/1", (Notice("left_out", "One image."),))

Event = Callable[[Document, int], Document | None]
EVENTS: dict[str, Event] = {
    "begun": documents.begun,
    "requeued": documents.requeued,
    "parsed": lambda row, attempt: documents.parsed(row, attempt, RESULT),
    "indexed": lambda row, attempt: documents.indexed(row, attempt, 4),
    "failed": lambda row, attempt: documents.failed(row, attempt, CORRUPT),
}
QUEUED, PARSING, EMBEDDING = ((State.PROCESSING, stage) for stage in Stage)
DONE, ERROR = (State.DONE, None), (State.ERROR, None)


@pytest.mark.parametrize(
    ("before", "event", "after"),
    [
        (QUEUED, "begun", PARSING),
        (PARSING, "begun", PARSING),
        (EMBEDDING, "begun", None),
        (DONE, "begun", None),
        (ERROR, "begun", None),
        (QUEUED, "requeued", QUEUED),
        (PARSING, "requeued", QUEUED),
        (EMBEDDING, "requeued", None),
        (QUEUED, "parsed", EMBEDDING),
        (PARSING, "parsed", EMBEDDING),
        (EMBEDDING, "parsed", None),
        (DONE, "parsed", None),
        (ERROR, "parsed", None),
        (QUEUED, "indexed", None),
        (PARSING, "indexed", None),
        (EMBEDDING, "indexed", DONE),
        (DONE, "indexed", None),
        (ERROR, "indexed", None),
        (QUEUED, "failed", ERROR),
        (PARSING, "failed", ERROR),
        (EMBEDDING, "failed", ERROR),
        (DONE, "failed", None),
        (ERROR, "failed", None),
    ],
)
def test_an_event_moves_a_document_only_from_where_it_may_happen(
    before: tuple[State, Stage | None], event: str, after: tuple[State, Stage | None] | None
) -> None:
    state, stage = before
    moved = EVENTS[event](document(state=state, stage=stage), 1)
    assert (None if moved is None else (moved.state, moved.stage)) == after


@given(
    st.lists(st.tuples(st.sampled_from([*EVENTS, "retried"]), st.integers(1, 3)), max_size=30),
    st.sampled_from(Original),
)
def test_whatever_order_events_arrive_in_a_document_stays_whole(
    events: list[tuple[str, int]], original: Original
) -> None:
    row = document(original=original)
    for name, attempt in events:
        moved = _apply(row, name, attempt)
        if moved is None:
            continue
        assert name == "retried" or attempt == row.attempt
        assert moved.attempt >= row.attempt
        assert row.state is not State.DONE
        assert row.state is State.PROCESSING or name == "retried"
        assert (moved.state is State.PROCESSING) == (moved.stage is not None)
        assert (moved.state is State.ERROR) == (moved.reason is not None)
        assert moved.state is State.PROCESSING or moved.original is not Original.STAGED
        assert moved.state is State.PROCESSING or moved.chunks_key is None
        assert _apply(moved, name, attempt) in (None, moved)
        row = moved


def _apply(row: Document, name: str, attempt: int) -> Document | None:
    if name != "retried":
        return EVENTS[name](row, attempt)
    try:
        return documents.retried(row)
    except AcervoError:
        return None


def test_what_was_parsed_is_kept_with_the_document() -> None:
    row = documents.parsed(document(stage=Stage.PARSING), 1, RESULT)
    assert row is not None
    assert (row.chunk_count, row.page_count, row.notices) == (4, 2, RESULT.notices)
    assert (row.pages_key, row.chunks_key) == (RESULT.pages_key, RESULT.chunks_key)


@pytest.mark.parametrize(("before", "after"), [("kept", "kept"), ("staged", "gone"), ("gone", "gone")])
@pytest.mark.parametrize("event", ["indexed", "failed"])
def test_a_staged_original_goes_when_its_document_ends(before: str, after: str, event: str) -> None:
    row = EVENTS[event](document(stage=Stage.EMBEDDING, original=Original(before)), 1)
    assert row is not None
    assert row.original == after


def test_an_original_that_was_not_found_is_not_promised_any_more() -> None:
    row = documents.failed(document(), 1, reason_of("ORIGINAL_GONE"))
    assert row is not None
    assert row.original is Original.GONE


def test_a_retry_starts_the_next_attempt_and_forgets_what_the_last_one_said() -> None:
    failed = documents.failed(document(pages_key="p", notices=RESULT.notices), 1, CORRUPT)
    assert failed is not None
    row = documents.retried(failed)
    assert (row.state, row.stage, row.attempt) == (State.PROCESSING, Stage.QUEUED, 2)
    assert (row.reason, row.notices) == (None, ())
    assert row.version == failed.version


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (document(), "DOCUMENT_NOT_FAILED"),
        (document(state=State.DONE), "DOCUMENT_NOT_FAILED"),
        (document(state=State.ERROR, original=Original.GONE), "ORIGINAL_GONE"),
        (replace(document(), original=Original.STAGED), "DOCUMENT_NOT_FAILED"),
    ],
)
def test_only_a_failed_document_whose_original_is_kept_can_be_retried(row: Document, reason: str) -> None:
    with pytest.raises(AcervoError) as refusal:
        documents.retried(row)
    assert reason_name(refusal.value.reason) == reason
