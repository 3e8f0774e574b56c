"""What a watcher is told of the states of its documents, and that slow ones cost no more than quick ones."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from services.ingest.documents import Document, Stage, State
from services.ingest.watch import Subscription, View
from tests.unit.ingest.builders import document

DONE = document(1, state=State.DONE)
QUEUED = document(1)
ID = QUEUED.id


def test_a_state_is_told_once_and_each_change_of_it() -> None:
    view = View([ID])
    assert view.news([(ID, QUEUED)]) == {ID: QUEUED}
    assert view.news([(ID, QUEUED)]) == {}
    parsing = document(1, stage=Stage.PARSING)
    assert view.news([(ID, parsing)]) == {ID: parsing}
    assert view.base_ids == {QUEUED.knowledge_base_id}


def test_watching_is_over_when_all_have_ended_or_are_gone() -> None:
    other = document(2)
    view = View([ID, other.id])
    view.news([(ID, DONE)])
    assert not view.over
    view.news([(other.id, None)])
    assert view.over
    assert view.base_ids == {DONE.knowledge_base_id}


def test_a_retry_while_others_are_watched_reopens_its_document() -> None:
    other = document(2)
    view = View([ID, other.id])
    view.news([(ID, document(1, state=State.ERROR)), (other.id, other)])
    view.news([(ID, document(1, attempt=2)), (other.id, None)])
    assert not view.over


@given(st.lists(st.tuples(st.sampled_from([1, 2, 3]), st.sampled_from([*State, None])), max_size=40))
async def test_a_slow_watcher_holds_the_latest_state_of_each_document_and_no_more(
    changes: list[tuple[int, State | None]],
) -> None:
    subscription = Subscription()
    latest: dict[UUID, Document | None] = {}
    for number, state in changes:
        row = None if state is None else document(number, state=state)
        latest[document(number).id] = row
        subscription.put(document(number).id, row)
    assert dict(await subscription.take(0)) == latest
    assert await subscription.take(0) == []
