import errno
from collections.abc import Iterable

import asyncpg
import grpc
import pytest
from grpc.aio import AioRpcError, Metadata

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.errors import AcervoError, FieldsInvalid, FieldViolation, NotFound
from services.shared.rpc_status import DETAILS_KEY, encode, from_rpc_error, status_code
from services.shared.translation import translate


def _answered(code: grpc.StatusCode, trailing: Iterable[tuple[str, bytes]] = ()) -> AioRpcError:
    return AioRpcError(code, Metadata(), Metadata(*trailing), "text of the peer")


def test_an_error_survives_the_wire() -> None:
    sent = FieldsInvalid([FieldViolation("ingestion_config.chunk_size", "is below 100")])
    got = from_rpc_error(_answered(status_code(sent), [(DETAILS_KEY, encode(sent))]))
    assert (got.reason, got.message, got.fields) == (sent.reason, sent.message, sent.fields)


def test_metadata_survives_the_wire() -> None:
    sent = NotFound("document")
    got = from_rpc_error(_answered(status_code(sent), [(DETAILS_KEY, encode(sent))]))
    assert got.metadata == {"kind": "document"}


def test_texts_fit_into_headers() -> None:
    many = [FieldViolation(f"field_{number}", "x" * 10_000) for number in range(1000)]
    assert len(encode(FieldsInvalid(many))) < 6000


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (grpc.StatusCode.UNAVAILABLE, pb.ERROR_REASON_UNAVAILABLE),
        (grpc.StatusCode.CANCELLED, pb.ERROR_REASON_UNAVAILABLE),
        (grpc.StatusCode.DEADLINE_EXCEEDED, pb.ERROR_REASON_DEADLINE_EXCEEDED),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, pb.ERROR_REASON_OVERLOADED),
        (grpc.StatusCode.UNIMPLEMENTED, pb.ERROR_REASON_INTERNAL),
    ],
)
def test_an_answer_without_details_is_judged_by_its_code(
    code: grpc.StatusCode, reason: pb.ErrorReason
) -> None:
    error = from_rpc_error(_answered(code))
    assert error.reason == reason
    assert "text of the peer" not in error.message


@pytest.mark.parametrize("details", [b"", b"\xff\xff", b"nonsense"])
def test_details_that_are_not_ours_are_ignored(details: bytes) -> None:
    error = from_rpc_error(_answered(grpc.StatusCode.UNAVAILABLE, [(DETAILS_KEY, details)]))
    assert error.reason == pb.ERROR_REASON_UNAVAILABLE


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionRefusedError("db:5432"), pb.ERROR_REASON_UNAVAILABLE),
        (TimeoutError(), pb.ERROR_REASON_UNAVAILABLE),
        (asyncpg.CannotConnectNowError("starting up"), pb.ERROR_REASON_UNAVAILABLE),
        (asyncpg.ConnectionDoesNotExistError("gone"), pb.ERROR_REASON_UNAVAILABLE),
        (asyncpg.AdminShutdownError("going"), pb.ERROR_REASON_UNAVAILABLE),
        (asyncpg.InterfaceError("connection is closed"), pb.ERROR_REASON_UNAVAILABLE),
        (asyncpg.InternalClientError("cannot switch to state 12"), pb.ERROR_REASON_UNAVAILABLE),
        (FileNotFoundError(2, "No such file or directory"), pb.ERROR_REASON_UNAVAILABLE),
        (FileNotFoundError(2, "No such file or directory", "/somewhere"), pb.ERROR_REASON_INTERNAL),
        (OSError(errno.ENOSPC, "No space left on device", "/secret/path"), pb.ERROR_REASON_UNAVAILABLE),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), pb.ERROR_REASON_UNAVAILABLE),
        (asyncpg.DiskFullError("could not extend file"), pb.ERROR_REASON_UNAVAILABLE),
        (OSError(errno.EIO, "Input/output error", "/secret/path"), pb.ERROR_REASON_INTERNAL),
        (asyncpg.DeadlockDetectedError("process 7"), pb.ERROR_REASON_TRY_AGAIN),
        (asyncpg.LockNotAvailableError("row 7"), pb.ERROR_REASON_TRY_AGAIN),
        (asyncpg.DataError("wrong argument"), pb.ERROR_REASON_INTERNAL),
        (asyncpg.UndefinedTableError("documents"), pb.ERROR_REASON_INTERNAL),
        (FileNotFoundError("/secret/path"), pb.ERROR_REASON_INTERNAL),
        (KeyError("key 7"), pb.ERROR_REASON_INTERNAL),
    ],
)
def test_foreign_errors_are_told_apart_and_never_quoted(error: Exception, reason: pb.ErrorReason) -> None:
    told = translate(error)
    assert told.reason == reason
    assert str(error.args[0] if error.args else "none") not in told.message


def test_typed_errors_stay_what_they_are() -> None:
    error = AcervoError(pb.ERROR_REASON_FILE_EMPTY)
    assert translate(error) is error


def test_a_call_that_ended_under_a_message_on_its_way_may_be_tried_again() -> None:
    cut_off = 'Internal error from Core Failed "execute_batch"'
    error = AioRpcError(grpc.StatusCode.INTERNAL, Metadata(), Metadata(), cut_off)
    assert from_rpc_error(error).reason == pb.ERROR_REASON_UNAVAILABLE
