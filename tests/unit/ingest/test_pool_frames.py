"""What travels between a parser and its parent survives the way, and nonsense is known as such."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acervo.common.v1 import error_reason_pb2 as pb
from services.ingest.pool.job import (
    MAX_FRAME,
    Counts,
    Job,
    Refused,
    decode_counts,
    decode_job,
    decode_refusal,
    encode_counts,
    encode_job,
    encode_refusal,
    frame_size,
    pack,
    unpack,
)
from services.shared.readers import Limits, ReadWarning


def strings_of(frame: bytes) -> list[bytes]:
    assert frame_size(frame[:4]) == len(frame) - 4
    return unpack(frame[4:])


@given(st.lists(st.binary(max_size=100), max_size=20))
def test_a_frame_keeps_its_strings(strings: list[bytes]) -> None:
    assert strings_of(pack(strings)) == strings


@given(st.binary(max_size=200))
def test_nonsense_is_no_frame_or_one_that_packs_to_the_same(body: bytes) -> None:
    try:
        strings = unpack(body)
    except ValueError:
        return
    assert pack(strings)[4:] == body


@pytest.mark.parametrize("size", [0, 3, MAX_FRAME + 1, 0xFFFFFFFF])
def test_a_length_that_no_frame_has_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="not a frame"):
        frame_size(size.to_bytes(4, "big"))


def test_a_job_keeps_all_but_its_original() -> None:
    job = Job(b"original", "pdf", 1000, 100, Limits(pages=1, characters=2, inflated=3, members=4))
    assert decode_job(strings_of(encode_job(job))) == Job(b"", "pdf", 1000, 100, job.limits)


def test_counts_and_refusals_come_back_as_they_were() -> None:
    counts = Counts(3, 14, (ReadWarning("a", "Ä."), ReadWarning("b", "")))
    assert decode_counts(strings_of(encode_counts(counts))[1:]) == counts
    refused = Refused(pb.ERROR_REASON_NO_TEXT, "Nichts – gar nichts.")
    assert decode_refusal(strings_of(encode_refusal(refused))[1:]) == refused


@pytest.mark.parametrize(
    "strings", [[], [b"1"], [b"x", b"y"], [b"1", b"2", b"alone"], [b"1", b"2", b"\xff", b""]]
)
def test_counts_that_make_no_sense_are_refused(strings: list[bytes]) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_counts(strings)
