"""The one exception that the client raises."""

from collections.abc import Mapping
from dataclasses import dataclass

import grpc

from services.shared.reasons import meaning, reason_name, reason_of
from services.shared.rpc_status import from_rpc_error

_MAY_SUCCEED_LATER = frozenset({"UNAVAILABLE", "OVERLOADED", "TRY_AGAIN"})


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field of a request. `path` example: `ingestion_config.chunk_size`."""

    path: str
    message: str


class AcervoError(Exception):
    """A call was refused or failed.

    `reason` is a name of the contract's `ErrorReason` without its prefix, such as `FILE_EMPTY`: programs
    decide by it. `message` and `advice` are for people. `metadata` holds what the reason documents.
    """

    def __init__(
        self,
        reason: str,
        message: str = "",
        *,
        fields: tuple[FieldError, ...] = (),
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        known = meaning(reason_of(reason))
        self.reason = reason
        self.message = message or known.message
        self.advice = known.advice
        self.fields = fields
        self.metadata = dict(metadata or {})
        super().__init__(f"{reason}: {self.message}")

    @property
    def may_succeed_later(self) -> bool:
        """Whether the same call may succeed in a moment."""
        return self.reason in _MAY_SUCCEED_LATER

    @property
    def concerns_all(self) -> bool:
        """Whether no other call would fare better now: nobody answers, or the token is not accepted."""
        return self.reason in ("UNAVAILABLE", "TOKEN_INVALID")

    @classmethod
    def from_rpc(cls, error: grpc.aio.AioRpcError) -> "AcervoError":
        """What a failed call said."""
        told = from_rpc_error(error)
        fields = tuple(FieldError(violation.path, violation.message) for violation in told.fields)
        return cls(reason_name(told.reason), told.message, fields=fields, metadata=told.metadata)
