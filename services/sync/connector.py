"""What a connector owes: a listing that knows whether it is complete, bytes, and proof that a file is gone."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.errors import AcervoError, ErrorReason


@dataclass(frozen=True, slots=True)
class Entry:
    """A file at the source.

    `path` is its address there, unique within the source; `name` is a label, never a path. `size` is in bytes,
    as listed. `signal` changes whenever the bytes do; empty where the source offers nothing of that kind.
    """

    path: str
    name: str
    size: int
    signal: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something at the source that cannot be read. `hides_others`: a folder, whose files are not listed."""

    path: str
    reason: ErrorReason
    hides_others: bool


class SourceUnreadable(AcervoError):
    """The place that a source names, or a file in it, is not there or cannot be read."""

    def __init__(self, message: str = "") -> None:
        super().__init__(pb.ERROR_REASON_SOURCE_UNREADABLE, message)


class SourceForbidden(AcervoError):
    """The place lies outside what the deployment allows."""

    def __init__(self) -> None:
        super().__init__(pb.ERROR_REASON_SOURCE_FORBIDDEN)


class Connector(Protocol):
    """An open source, for one run.

    A listing is complete unless it names an `Unreadable` that hides others: only then may what it leaves out be
    taken for gone.
    """

    def entries(self) -> AsyncGenerator[Entry | Unreadable, None]:
        """List the files. Raises SourceUnreadable where the source as a whole cannot be listed."""

    def fetch(self, entry: Entry) -> AsyncGenerator[bytes, None]:
        """Yield a file's bytes. Raises SourceUnreadable where it is gone or cannot be read."""

    async def gone(self, path: str) -> bool:
        """Whether a file is certainly not there any more. Not being able to tell is False."""
