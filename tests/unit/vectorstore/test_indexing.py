"""What becomes of a job that met a fault."""

import errno

import asyncpg
import pytest

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.bus import Lane
from services.shared.errors import AcervoError, BaseGone, ErrorReason, Overloaded, Unavailable
from services.shared.ids import uuid7
from services.shared.jobs import Claim, Count
from services.vectorstore.chunk_file import ChunksGone
from services.vectorstore.indexing import MOST_TRIES, Again, verdict
from services.vectorstore.models import ModelUnavailable, WidthMismatch


def claim(tries: int = 0) -> Claim:
    return Claim(uuid7(), "embed", 1, 1, Lane.BULK, uuid7(), tries, 0, 0)


@pytest.mark.parametrize("error", [BaseGone(), ChunksGone(), ModelUnavailable("x"), WidthMismatch()])
def test_what_trying_again_cannot_change_ends_at_once(error: AcervoError) -> None:
    assert verdict(claim(), error) == error.reason


@pytest.mark.parametrize(
    "error",
    [Unavailable(), Overloaded(), OSError(errno.ENOSPC, "full", "/tmp"), asyncpg.DiskFullError("of rows")],
)
def test_faults_of_others_and_full_disks_use_up_no_try(error: Exception) -> None:
    decided = verdict(claim(MOST_TRIES * 10), error)
    assert isinstance(decided, Again)
    assert decided.count is Count.NOTHING


@pytest.mark.parametrize(
    "reason",
    [
        pb.ERROR_REASON_BASE_DELETED,
        pb.ERROR_REASON_BUDGET_EXHAUSTED,
        pb.ERROR_REASON_EMBEDDING_MODEL_UNAVAILABLE,
    ],
)
def test_what_only_a_person_can_change_is_not_tried_again(reason: ErrorReason) -> None:
    assert verdict(claim(0), AcervoError(reason)) == reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (AcervoError(pb.ERROR_REASON_EMBEDDING_FAILED), pb.ERROR_REASON_EMBEDDING_FAILED),
        (ValueError("anything"), pb.ERROR_REASON_STORING_FAILED),
    ],
)
def test_other_faults_are_tried_again_until_the_tries_are_used_up(
    error: Exception, reason: ErrorReason
) -> None:
    delays = []
    for tries in range(MOST_TRIES - 1):
        decided = verdict(claim(tries), error)
        assert isinstance(decided, Again)
        assert decided.count is Count.TRY
        delays.append(decided.seconds)
    assert delays == sorted(set(delays))
    assert verdict(claim(MOST_TRIES - 1), error) == reason
