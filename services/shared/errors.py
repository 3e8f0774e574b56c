"""Every way in which Acervo refuses a call or fails a document, as typed exceptions under one base.

Domain code raises `AcervoError` or one of the classes below it and never knows of gRPC or HTTP. The edges
(`services.shared.server`, the gateway) read `REASONS` to choose a code. A message is written for the person
who reads it; it never holds text of libraries, providers or the database.
"""

import errno
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.common.v1.error_reason_pb2 import ErrorReason
from services.shared.reasons import REASONS, Code, Meaning, meaning, reason_name, reason_of

__all__ = [
    "REASONS",
    "AcervoError",
    "BaseGone",
    "Code",
    "ErrorReason",
    "FieldViolation",
    "FieldsInvalid",
    "Meaning",
    "NameTaken",
    "NotFound",
    "Overloaded",
    "RequestIdReused",
    "ServicesOnly",
    "StorageFull",
    "TryAgain",
    "Unauthenticated",
    "Unavailable",
    "is_full",
    "meaning",
    "reason_name",
    "reason_of",
]


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_DATABASE_FULL = "53100"


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """What is wrong with one field. `path` is the one that a form can mark: `ingestion_config.chunk_size`."""

    path: str
    message: str


class AcervoError(Exception):
    """A refusal or failure with a reason. `metadata` is for machines, `message` for people.

    An empty `message` stands for the reason's own one.
    """

    def __init__(
        self,
        reason: ErrorReason,
        message: str = "",
        *,
        metadata: Mapping[str, str] | None = None,
        fields: Sequence[FieldViolation] = (),
    ) -> None:
        self.reason = reason
        self.message = message or meaning(reason).message
        self.metadata = dict(metadata or {})
        self.fields = tuple(fields)
        super().__init__(f"{reason_name(reason)}: {self.message}")


class NotFound(AcervoError):
    """The thing does not exist, or the caller may not know that it does; both read the same."""

    def __init__(self, kind: str) -> None:
        """`kind` names the sort of thing, in words. Example: `knowledge base`."""
        super().__init__(
            pb.ERROR_REASON_NOT_FOUND, f"There is no such {kind}.", metadata={"kind": kind.replace(" ", "_")}
        )


class FieldsInvalid(AcervoError):
    """One or more fields of a request break a rule; each is named."""

    def __init__(self, violations: Sequence[FieldViolation]) -> None:
        message = "; ".join(f"{violation.path}: {violation.message}" for violation in violations)
        super().__init__(pb.ERROR_REASON_FIELD_INVALID, message, fields=violations)


class Unauthenticated(AcervoError):
    """No token, or one that is not accepted. Why is for the log alone."""

    def __init__(self) -> None:
        super().__init__(pb.ERROR_REASON_TOKEN_INVALID)


class ServicesOnly(AcervoError):
    """A person called a method that is for services."""

    def __init__(self) -> None:
        super().__init__(pb.ERROR_REASON_SERVICES_ONLY)


class TryAgain(AcervoError):
    """The call met another one on the same thing; the same call may succeed now."""

    def __init__(self, message: str = "") -> None:
        super().__init__(pb.ERROR_REASON_TRY_AGAIN, message)


class NameTaken(AcervoError):
    """The collection name is held by somebody else."""

    def __init__(self, name: str) -> None:
        super().__init__(pb.ERROR_REASON_NAME_TAKEN, metadata={"name": name})


class RequestIdReused(AcervoError):
    """A request id was used before for another request."""

    def __init__(self) -> None:
        super().__init__(pb.ERROR_REASON_REQUEST_ID_REUSED)


class BaseGone(AcervoError):
    """The knowledge base was deleted, or emptied, while the work went on."""

    def __init__(self) -> None:
        super().__init__(pb.ERROR_REASON_BASE_DELETED)


class Unavailable(AcervoError):
    """A part of the system does not answer."""

    def __init__(self, message: str = "") -> None:
        super().__init__(pb.ERROR_REASON_UNAVAILABLE, message)


class StorageFull(Unavailable):
    """There is no room left to write to."""

    def __init__(self) -> None:
        super().__init__("There is no room left to store this. The operator has to make some.")


def is_full(error: Exception) -> bool:
    """Whether a disk, a quota or the database's storage has no room left: the work can be done once there is some."""
    return getattr(error, "errno", None) in _FULL or getattr(error, "sqlstate", None) == _DATABASE_FULL


class Overloaded(AcervoError):
    """The process is going down or has no room."""

    def __init__(self) -> None:
        super().__init__(pb.ERROR_REASON_OVERLOADED)
