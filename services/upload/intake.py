"""Judges the bytes of one upload as they come: how many, which hash, what kind. Knows nothing of where they go."""

import hashlib
from dataclasses import dataclass

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.errors import AcervoError
from services.shared.kinds import HEAD_SIZE, FileEmpty, Kind, agree

MAX_PART_BYTES = 1 << 20


class UploadMalformed(AcervoError):
    """The stream is not one header followed by bytes."""

    def __init__(self, message: str) -> None:
        super().__init__(pb.ERROR_REASON_UPLOAD_MALFORMED, message)


class FileTooLarge(AcervoError):
    """More bytes than the kind of file may have."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            pb.ERROR_REASON_FILE_TOO_LARGE,
            f"The file is larger than {limit // (1 << 20)} MiB.",
            metadata={"max_size": str(limit)},
        )


class SizeMismatch(AcervoError):
    """More or fewer bytes than were declared."""

    def __init__(self, declared: int) -> None:
        super().__init__(
            pb.ERROR_REASON_SIZE_MISMATCH, f"The file does not have the declared {declared} bytes."
        )


@dataclass(frozen=True, slots=True)
class Declared:
    """What a header says of the bytes that follow. `size` 0 and an empty `sha256` say nothing."""

    filename: str
    media_type: str
    size: int
    sha256: bytes
    max_size: int


@dataclass(frozen=True, slots=True)
class Content:
    """What the bytes turned out to be."""

    kind: str
    size: int
    sha256: bytes


class Intake:
    """Takes the parts of one file in order, and holds no more of them than its head."""

    def __init__(self, declared: Declared) -> None:
        self._declared = declared
        self._hash = hashlib.sha256()
        self._size = 0
        self._head = b""
        self._kind: Kind | None = None

    def take(self, part: bytes) -> None:
        """Count, hash and look at the next part.

        Raises:
            AcervoError: UPLOAD_MALFORMED, FILE_TOO_LARGE, SIZE_MISMATCH or what `kinds.agree` raises, as soon as
                it is certain.
        """
        if not 0 < len(part) <= MAX_PART_BYTES:
            raise UploadMalformed(f"A message holds 1 to {MAX_PART_BYTES} bytes.")
        self._size += len(part)
        if self._size > self._declared.max_size:
            raise FileTooLarge(self._declared.max_size)
        if 0 < self._declared.size < self._size:
            raise SizeMismatch(self._declared.size)
        if self._kind is None:
            self._head += part[: HEAD_SIZE - len(self._head)]
            if len(self._head) == HEAD_SIZE:
                self._judge()
        self._hash.update(part)

    def finish(self) -> Content:
        """Say what came, once there is no more of it.

        Raises:
            AcervoError: FILE_EMPTY, SIZE_MISMATCH, CHECKSUM_MISMATCH or what `kinds.agree` raises.
        """
        if self._size == 0:
            raise FileEmpty
        if self._declared.size not in (0, self._size):
            raise SizeMismatch(self._declared.size)
        digest = self._hash.digest()
        if self._declared.sha256 not in (b"", digest):
            raise AcervoError(pb.ERROR_REASON_CHECKSUM_MISMATCH)
        kind = self._kind or self._judge()
        return Content(kind.name, self._size, digest)

    def _judge(self) -> Kind:
        self._kind = agree(self._declared.filename, self._declared.media_type, self._head)
        self._head = b""
        return self._kind
