import hashlib
import random

import pytest

from acervo.common.v1 import error_reason_pb2 as reasons
from services.shared.errors import AcervoError, ErrorReason
from services.shared.kinds import HEAD_SIZE
from services.upload.intake import MAX_PART_BYTES, Content, Declared, Intake

TEXT = b"All work and no play.\n" * 10_000


def _intake(
    filename: str = "a.txt",
    media_type: str = "",
    size: int = 0,
    sha256: bytes = b"",
    max_size: int = 50 << 20,
) -> Intake:
    return Intake(Declared(filename, media_type, size, sha256, max_size))


def _take(intake: Intake, data: bytes, step: int) -> Content:
    for start in range(0, len(data), step):
        intake.take(data[start : start + step])
    return intake.finish()


@pytest.mark.parametrize("step", [1 << 10, HEAD_SIZE - 1, HEAD_SIZE, HEAD_SIZE + 1, MAX_PART_BYTES])
def test_how_a_file_is_cut_changes_nothing(step: int) -> None:
    assert _take(_intake(), TEXT, step) == Content("txt", len(TEXT), hashlib.sha256(TEXT).digest())


def test_a_true_declaration_is_taken() -> None:
    digest = hashlib.sha256(TEXT).digest()
    intake = _intake(media_type="text/plain; charset=utf-8", size=len(TEXT), sha256=digest)
    assert _take(intake, TEXT, 1 << 16).size == len(TEXT)


def test_a_wrong_kind_is_noticed_before_the_file_is_through() -> None:
    intake = _intake("a.pdf")
    with pytest.raises(AcervoError) as refusal:
        intake.take(TEXT[:HEAD_SIZE])
    assert refusal.value.reason == reasons.ERROR_REASON_FILE_KIND_MISMATCH


@pytest.mark.parametrize(
    ("intake", "data", "reason"),
    [
        (_intake(max_size=10), b"x" * 11, reasons.ERROR_REASON_FILE_TOO_LARGE),
        (_intake(size=10), b"x" * 11, reasons.ERROR_REASON_SIZE_MISMATCH),
        (_intake(), b"", reasons.ERROR_REASON_UPLOAD_MALFORMED),
        (_intake(), b"x" * (MAX_PART_BYTES + 1), reasons.ERROR_REASON_UPLOAD_MALFORMED),
    ],
)
def test_a_part_is_refused_as_soon_as_it_is_certain(intake: Intake, data: bytes, reason: ErrorReason) -> None:
    with pytest.raises(AcervoError) as refusal:
        intake.take(data)
    assert refusal.value.reason == reason


def test_a_file_is_never_held_in_memory() -> None:
    intake = _intake()
    part = random.Random(7).randbytes(16).hex().encode() * 2048
    for _ in range(64):
        intake.take(part)
    assert len(intake._head) == 0
