"""Between typed errors and gRPC statuses: what goes over the wire, and what comes back from it."""

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2
from grpc.aio import AioRpcError

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.errors import (
    AcervoError,
    ErrorReason,
    FieldViolation,
    Unavailable,
    meaning,
    reason_name,
    reason_of,
)

DOMAIN = "acervo"
DETAILS_KEY = "grpc-status-details-bin"
MAX_MESSAGE_LENGTH = 300
MAX_VIOLATIONS = 10

_CODES = {code.value[0]: code for code in grpc.StatusCode}
_REASON_OF_CODE: dict[grpc.StatusCode, ErrorReason] = {
    grpc.StatusCode.UNAVAILABLE: pb.ERROR_REASON_UNAVAILABLE,
    grpc.StatusCode.CANCELLED: pb.ERROR_REASON_UNAVAILABLE,  # by a peer that is going down
    grpc.StatusCode.DEADLINE_EXCEEDED: pb.ERROR_REASON_DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED: pb.ERROR_REASON_OVERLOADED,
    grpc.StatusCode.UNAUTHENTICATED: pb.ERROR_REASON_TOKEN_INVALID,
}
_CORE_ERROR = "Internal error from Core"
_EXHAUSTED: dict[str, ErrorReason] = {
    "larger than max": pb.ERROR_REASON_MESSAGE_TOO_LARGE,
    "metadata size exceeds": pb.ERROR_REASON_TOKEN_INVALID,  # all else that we send along is short
}
"""What gRPC itself refuses for its size. It gives one code for these and for a full server; its words tell."""


def status_code(error: AcervoError) -> grpc.StatusCode:
    """The canonical code of an error."""
    return _CODES[meaning(error.reason).code]


def short_message(error: AcervoError) -> str:
    """The message as it travels; headers have little room."""
    return _cut(error.message)


def encode(error: AcervoError) -> bytes:
    """The error as a serialized google.rpc.Status with ErrorInfo and, where fields are named, BadRequest."""
    status = status_pb2.Status(code=status_code(error).value[0], message=short_message(error))
    info = error_details_pb2.ErrorInfo(
        reason=reason_name(error.reason), domain=DOMAIN, metadata=error.metadata
    )
    status.details.add().Pack(info)
    if error.fields:
        bad = error_details_pb2.BadRequest()
        for violation in error.fields[:MAX_VIOLATIONS]:
            bad.field_violations.add(field=_cut(violation.path), description=_cut(violation.message))
        status.details.add().Pack(bad)
    encoded: bytes = status.SerializeToString()
    return encoded


def from_rpc_error(error: AioRpcError) -> AcervoError:
    """The typed error that a peer answered with; one chosen by the code where it gave no details."""
    for key, value in error.trailing_metadata() or ():
        if key == DETAILS_KEY and isinstance(value, bytes):
            decoded = _decode(value)
            if decoded is not None:
                return decoded
    if _was_cut_off(error):
        return Unavailable()
    return AcervoError(_reason(error.code(), error.details() or ""))


def _reason(code: grpc.StatusCode, details: str) -> ErrorReason:
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        for words, reason in _EXHAUSTED.items():
            if words in details:
                return reason
    return _REASON_OF_CODE.get(code, pb.ERROR_REASON_INTERNAL)


def _was_cut_off(error: AioRpcError) -> bool:
    """Whether the call ended while one of our messages was on its way.

    grpc.aio reports that as an error of its own, in place of the status that the other side gave.
    """
    return error.code() is grpc.StatusCode.INTERNAL and (error.details() or "").startswith(_CORE_ERROR)


def _decode(value: bytes) -> AcervoError | None:
    status = status_pb2.Status()
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    try:
        status.ParseFromString(value)
        for detail in status.details:
            detail.Unpack(info)
            detail.Unpack(bad)
    except DecodeError:
        return None
    if info.domain != DOMAIN:
        return None
    fields = [FieldViolation(one.field, one.description) for one in bad.field_violations]
    return AcervoError(reason_of(info.reason), status.message, metadata=info.metadata, fields=fields)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE_LENGTH else f"{text[: MAX_MESSAGE_LENGTH - 1]}…"
