"""What goes into the pool and what comes out of it, and how both travel through a child's pipe.

A frame is a list of byte strings: its length, the number of strings, and each string behind its own length, all
lengths as 32-bit big-endian numbers. Nothing in a frame can name code, so that a child taken over by a file can
hand its parent wrong texts at worst.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from mmap import mmap
from pathlib import Path

from acervo.common.v1.error_reason_pb2 import ErrorReason
from services.shared.readers import Limits, ReadWarning
from services.shared.reasons import reason_name, reason_of

MAX_FRAME = 64 * 1024
"""Highest number of bytes of a frame. Texts travel in files."""
READY, STARTED, CUT, REFUSED = b"ready", b"started", b"cut", b"refused"
"""The first string of each frame that a child sends: READY once; for each job STARTED, then one of the others."""
_MAX_WARNINGS = 100
_LENGTH = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Job:
    """One file to read and cut. `chunk_size` and `chunk_overlap` are in characters."""

    source: Path | bytes
    """The original: a file of this machine, which is copied, or its bytes."""
    kind: str
    """A key of `services.shared.kinds.KINDS`."""
    chunk_size: int
    chunk_overlap: int
    limits: Limits = field(default_factory=Limits)
    seconds: float | None = None
    """The longest time for it, where that is less than what any file may take."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A file that was read and cut."""

    pages: "Written"
    """A whole page file: zstd of length-delimited PageTexts."""
    chunks: "Written"
    """The Chunks of a chunk file, a zstd frame of its own; what `records.head` makes goes before it."""
    page_count: int
    """0 where the kind has no pages."""
    chunk_count: int
    """At least 1."""
    warnings: tuple[ReadWarning, ...]


Written = bytes | mmap
"""What a child wrote: in memory where it is small, else in a file without a name that is read where it lies."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that was not read. PARSER_CRASHED, PARSE_TIMEOUT and PARSE_MEMORY are told apart from what it holds."""

    reason: ErrorReason
    message: str


Outcome = Cut | Refused


@dataclass(frozen=True, slots=True)
class Counts:
    """What a child says of the files that it wrote."""

    page_count: int
    chunk_count: int
    warnings: tuple[ReadWarning, ...]


def pack(strings: Sequence[bytes]) -> bytes:
    """A frame of `strings`, its length in front."""
    body = _LENGTH.pack(len(strings)) + b"".join(_LENGTH.pack(len(s)) + s for s in strings)
    return _LENGTH.pack(len(body)) + body


def frame_size(prefix: bytes) -> int:
    """The number of bytes that follow a frame's first four. Raises ValueError if it is no frame of ours."""
    (size,) = _LENGTH.unpack(prefix)
    if not _LENGTH.size <= size <= MAX_FRAME:
        raise ValueError("not a frame")
    return int(size)


def unpack(body: bytes) -> list[bytes]:
    """The strings of a frame without its length. Raises ValueError if it is no frame of ours."""
    strings: list[bytes] = []
    try:
        (count,) = _LENGTH.unpack_from(body)
        at = _LENGTH.size
        for _ in range(count):
            (size,) = _LENGTH.unpack_from(body, at)
            at += _LENGTH.size
            strings.append(body[at : at + size])
            at += size
    except struct.error as error:
        raise ValueError("not a frame") from error
    if at != len(body):
        raise ValueError("not a frame")
    return strings


def encode_job(job: Job) -> bytes:
    """The frame of a job. Its source is not in it: that lies in a file that parent and child share."""
    numbers = [job.chunk_size, job.chunk_overlap, *(getattr(job.limits, f.name) for f in fields(Limits))]
    return pack([job.kind.encode(), *(str(number).encode() for number in numbers)])


def decode_job(strings: Sequence[bytes]) -> Job:
    """The job in a frame, its source empty."""
    size, overlap, *limits = (int(number) for number in strings[1:])
    return Job(b"", strings[0].decode(), size, overlap, Limits(*limits))


def encode_counts(counts: Counts) -> bytes:
    """The frame that says a file was cut."""
    said = [part.encode() for w in counts.warnings[:_MAX_WARNINGS] for part in (w.code, w.message)]
    return pack([CUT, str(counts.page_count).encode(), str(counts.chunk_count).encode(), *said])


def decode_counts(strings: Sequence[bytes]) -> Counts:
    """What `encode_counts` wrote, its first string left out. Raises ValueError if it is something else."""
    page_count, chunk_count, *rest = strings
    said = [string.decode() for string in rest]
    warnings = tuple(ReadWarning(code, text) for code, text in zip(said[::2], said[1::2], strict=True))
    return Counts(int(page_count), int(chunk_count), warnings)


def encode_refusal(refused: Refused) -> bytes:
    """The frame that says a file was refused."""
    return pack([REFUSED, reason_name(refused.reason).encode(), refused.message.encode()])


def decode_refusal(strings: Sequence[bytes]) -> Refused:
    """What `encode_refusal` wrote, its first string left out. Raises ValueError if it is something else."""
    reason, message = strings
    return Refused(reason_of(reason.decode()), message.decode())
