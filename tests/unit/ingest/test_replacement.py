"""Which documents answer an upload made again, and which go when a newer one is done."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingest.documents import Document, State
from services.ingest.replacement import already_present, retires, superseded
from services.shared.ingestion_config import IngestionConfig
from tests.unit.ingest.builders import document

OTHER_CONTENT = bytes([1]) * 32
OTHER_BASE = UUID(int=2)
DONE, ERROR = State.DONE, State.ERROR


@pytest.mark.parametrize(
    ("wanted", "there", "answer"),
    [
        ({}, [], None),
        ({}, [document(1)], 1),
        ({}, [document(1, state=DONE)], 1),
        ({}, [document(1, state=ERROR)], None),
        ({}, [document(1, sha256=OTHER_CONTENT)], None),
        ({}, [document(1, config=IngestionConfig(chunk_size=1000))], None),
        ({}, [document(1, knowledge_base_id=OTHER_BASE)], None),
        ({"source_path": "/b/a.md"}, [document(1, source_path="/c/a.md")], None),
        ({"source_path": "/b/a.md"}, [document(1, source_path="/b/a.md")], 1),
        # Something newer is about to replace it: what it holds would be gone.
        ({}, [document(1), document(2, sha256=OTHER_CONTENT, replaces=True)], None),
        ({}, [document(1), document(2, sha256=OTHER_CONTENT, replaces=True, state=ERROR)], 1),
        ({}, [document(1), document(2, sha256=OTHER_CONTENT)], 1),
        # A replacement leaves nothing beside it.
        ({"replaces": True}, [document(1)], 1),
        ({"replaces": True}, [document(1), document(2, sha256=OTHER_CONTENT)], None),
        ({"replaces": True}, [document(1, sha256=OTHER_CONTENT), document(2, replaces=True)], 2),
        ({"replaces": True}, [document(1, sha256=OTHER_CONTENT), document(2)], None),
        ({"replaces": True}, [document(1, replaces=True), document(2, sha256=OTHER_CONTENT)], None),
    ],
)
def test_the_same_upload_is_answered_by_what_the_address_will_still_hold(
    wanted: dict[str, Any], there: list[Document], answer: int | None
) -> None:
    found = already_present(document(9, **wanted), there)
    assert (found.version if found else None) == answer


@pytest.mark.parametrize(
    ("newer", "other", "goes"),
    [
        ({"replaces": True}, document(1, state=DONE), True),
        ({"replaces": True}, document(1, state=ERROR), True),
        ({"replaces": True}, document(1), False),
        ({"replaces": True}, document(3, state=ERROR), False),
        ({"replaces": True}, document(1, state=ERROR, source_path="/x/a.md"), False),
        ({"replaces": True}, document(1, state=ERROR, knowledge_base_id=OTHER_BASE), False),
        ({"replaces": False}, document(1, state=ERROR), False),
        ({"replaces": False}, document(1, state=DONE), False),
    ],
)
def test_only_a_replacement_takes_older_ended_rows_of_its_own_address(
    newer: dict[str, Any], other: Document, goes: bool
) -> None:
    assert retires(document(2, state=DONE, **newer), other, named=()) == goes


def test_what_vectorstore_replaced_goes_in_any_state_but_never_out_of_another_base() -> None:
    done = document(2, state=DONE, replaces=True)
    under_way, stranger = document(1), document(1, knowledge_base_id=OTHER_BASE)
    assert retires(done, under_way, named=[under_way.id])
    assert not retires(done, stranger, named=[stranger.id])
    assert not retires(done, done, named=[done.id])


def test_an_older_document_yields_to_a_newer_replacement_that_is_done_already() -> None:
    older = document(1)
    assert superseded(older, [document(2, replaces=True, state=DONE)])
    assert not superseded(older, [document(2, replaces=True)])
    assert not superseded(older, [document(2, replaces=True, state=ERROR)])
    assert not superseded(older, [document(2, state=DONE)])
    assert not superseded(document(3), [document(2, replaces=True, state=DONE)])


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([DONE, ERROR])), min_size=1, max_size=6),
    st.randoms(use_true_random=False),
)
def test_in_whatever_order_they_end_an_address_holds_the_newest_replacement_and_what_came_after(
    uploads: list[tuple[bool, State]], random: Any
) -> None:
    pending = [document(n, replaces=replaces) for n, (replaces, _) in enumerate(uploads, 1)]
    rows = {row.version: row for row in pending}
    random.shuffle(pending)
    for row in pending:
        ended = document(row.version, replaces=row.replaces, state=uploads[row.version - 1][1])
        rows[row.version] = ended
        if superseded(ended, rows.values()):
            del rows[row.version]
        elif ended.state is DONE:
            gone = [other.version for other in rows.values() if retires(ended, other, named=())]
            for version in gone:
                del rows[version]
    newest = max((n for n, (replaces, end) in enumerate(uploads, 1) if replaces and end is DONE), default=1)
    assert sorted(rows) == list(range(newest, len(uploads) + 1))
