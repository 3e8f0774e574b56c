"""When a parse is done again, when it is over, and what a chunk file says of its document."""

import errno
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.events.v1.work_pb2 import EmbedDocument, ParseDocument
from services.ingest.admission import policy
from services.ingest.documents import Document
from services.ingest.parsing import MOST_TRIES, Again, after_fault, after_refusal, header
from services.ingest.works import embed_work, parse_work, tenant
from services.shared.blobs import StorageUnavailable
from services.shared.bus import Lane
from services.shared.jobs import Claim, Count, Work
from tests.unit.ingest.builders import BASE, document


def _claim(tries: int = 0, crashes: int = 0) -> Claim:
    return Claim(UUID(int=9), "parse", 1, 1, Lane.BULK, UUID(int=8), tries, crashes, 0)


def test_each_try_waits_longer_until_they_are_used_up() -> None:
    verdicts = [after_fault(_claim(tries), ValueError()) for tries in range(MOST_TRIES)]
    waits = [verdict.seconds for verdict in verdicts if isinstance(verdict, Again)]
    assert len(waits) == MOST_TRIES - 1
    assert waits == sorted(waits)
    assert sum(waits) > 10 * 60, "a storage that is away for ten minutes must cost no document"
    assert verdicts[-1] == pb.ERROR_REASON_UNAVAILABLE


@pytest.mark.parametrize(
    "error",
    [StorageUnavailable(), *(OSError(number, "full", "/scratch") for number in (errno.ENOSPC, errno.EDQUOT))],
)
def test_waiting_for_storage_or_room_in_it_uses_up_no_try(error: Exception) -> None:
    verdict = after_fault(_claim(MOST_TRIES), error)
    assert isinstance(verdict, Again)
    assert verdict.count is Count.NOTHING


def test_a_parser_without_room_blames_no_file() -> None:
    verdict = after_refusal(_claim(MOST_TRIES, crashes=1), pb.ERROR_REASON_UNAVAILABLE)
    assert isinstance(verdict, Again)
    assert verdict.count is Count.NOTHING


@pytest.mark.parametrize(
    ("reason", "crashes", "verdict"),
    [
        (pb.ERROR_REASON_PARSER_CRASHED, 0, Again(0, Count.CRASH)),
        (pb.ERROR_REASON_PARSER_CRASHED, 1, pb.ERROR_REASON_PARSER_CRASHED),
        (pb.ERROR_REASON_NO_TEXT, 1, pb.ERROR_REASON_NO_TEXT),
    ],
)
def test_only_a_crash_gets_one_more_chance(reason: "pb.ErrorReason", crashes: int, verdict: object) -> None:
    assert after_refusal(_claim(crashes=crashes), reason) == verdict
    assert after_refusal(_claim(tries=5, crashes=crashes), reason) == verdict


def test_a_file_that_a_first_try_was_too_short_for_gets_one_more() -> None:
    timeout = pb.ERROR_REASON_PARSE_TIMEOUT
    assert after_refusal(_claim(), timeout) == Again(0, Count.TRY)
    assert after_refusal(_claim(crashes=1), timeout) == Again(0, Count.TRY)
    assert after_refusal(_claim(tries=1), timeout) == timeout


@pytest.mark.parametrize(
    ("replaces", "source_path", "address"),
    [(False, "", ""), (False, "/a", ""), (True, "", "a.md"), (True, "/a", "/a")],
)
def test_only_a_document_that_replaces_has_an_address_for_vectorstore(
    replaces: bool, source_path: str, address: str
) -> None:
    row = document(replaces=replaces, source_path=source_path)
    assert header(row, epoch=1, chunk_count=1).address == address


def test_a_document_takes_its_turn_with_its_organization_else_its_person_else_its_base() -> None:
    organization, person = UUID(int=5), UUID(int=6)
    assert tenant(document(organization_id=organization, actor_user_id=person)) == organization
    assert tenant(document(actor_user_id=person)) == person
    assert tenant(document()) == BASE


@pytest.mark.parametrize("lane", Lane)
def test_work_travels_on_the_subject_of_its_lane(lane: Lane) -> None:
    row = document(lane=lane, attempt=3)
    assert parse_work(row).subject == f"acervo.parse.{lane.value}"
    assert embed_work(row, 2).subject == f"acervo.embed.{lane.value}"
    assert (parse_work(row).attempt, embed_work(row, 2).attempt) == (3, 3)


@pytest.mark.parametrize("made", [parse_work, lambda row: embed_work(row, 1)])
def test_people_who_wait_take_turns_each_and_bulk_work_by_its_organization(
    made: Callable[[Document], Work],
) -> None:
    organization, person = UUID(int=5), UUID(int=6)
    kinds: dict[str, type[ParseDocument | EmbedDocument]] = {"parse": ParseDocument, "embed": EmbedDocument}

    def turn(**fields: Any) -> UUID:
        work = made(document(**fields))
        return UUID(kinds[work.stage].FromString(work.message).tenant_id)

    both = {"organization_id": organization, "actor_user_id": person}
    assert turn(lane=Lane.INTERACTIVE, **both) == person
    assert turn(lane=Lane.BULK, **both) == organization
    assert turn(lane=Lane.INTERACTIVE, organization_id=organization) == organization
    assert turn(lane=Lane.BULK, actor_user_id=person) == person
    assert turn(lane=Lane.BULK) == BASE


def test_bulk_is_bounded_in_all_and_people_each_by_their_tenant() -> None:
    admitted = policy(bulk_in_flight=8, interactive_in_flight=16)
    assert admitted.bulk.total == 8
    assert admitted.interactive.tenant == 16
    assert admitted.interactive.total > 1000 * admitted.interactive.tenant
