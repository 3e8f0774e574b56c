"""PDFs: page by page, in reading order, with noise told from text."""

import zipfile

import pytest

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.readers import Limits, Page, ReadError, pdf, read
from services.shared.readers.judging import is_garbage
from tests.fixtures.files.build import docx, paragraph, zipped
from tests.fixtures.files.build import pdf as built

LIMITS = Limits()


def reason_of(data: bytes, limits: Limits = LIMITS) -> int:
    with pytest.raises(ReadError) as refusal:
        read("pdf", data, limits)
    return refusal.value.reason


def test_pages_keep_their_numbers_even_if_one_is_blank() -> None:
    parsed = read("pdf", built(["first", "", "third"]), LIMITS)
    assert parsed.pages == (Page(1, "first"), Page(2, ""), Page(3, "third"))
    assert parsed.text == "first\n\nthird"


def test_a_password_is_refused_by_name() -> None:
    assert reason_of(built(["secret"], password="open")) == pb.ERROR_REASON_FILE_ENCRYPTED


def test_a_pdf_without_a_text_layer_has_no_text() -> None:
    assert reason_of(built(["", ""])) == pb.ERROR_REASON_NO_TEXT


def test_more_pages_than_the_limit_are_refused() -> None:
    assert reason_of(built(["a", "b", "c"]), Limits(pages=2)) == pb.ERROR_REASON_CONTENT_TOO_LARGE


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", b"%PDF-1.7\n" + b"\x00garbage" * 40, b"no pdf at all"])
def test_a_damaged_pdf_is_corrupt(data: bytes) -> None:
    assert reason_of(data) == pb.ERROR_REASON_FILE_CORRUPT


@pytest.mark.parametrize("note", ["", "%PDF-1.7"])
def test_another_format_that_the_library_knows_is_not_read_as_a_pdf(note: str) -> None:
    page = zipped({"mimetype": note, "xl/a.xml": "<x/>"}, method=zipfile.ZIP_STORED) + docx(paragraph("text"))
    assert reason_of(page) == pb.ERROR_REASON_FILE_CORRUPT
    assert reason_of(f"<html><body>{note}</body></html>".encode()) == pb.ERROR_REASON_FILE_CORRUPT


def test_a_pdf_cut_short_is_read_as_far_as_it_goes_or_refused() -> None:
    whole = built(["one page of text"] * 20)
    for length in range(100, len(whole), 97):
        try:
            read("pdf", whole[:length], LIMITS)
        except ReadError as refusal:
            assert refusal.reason in {pb.ERROR_REASON_FILE_CORRUPT, pb.ERROR_REASON_NO_TEXT}  # noqa: PT017


def test_words_that_a_line_end_parts_are_joined() -> None:
    text = read("pdf", built(["a tech-\nnique of state-of-the-\nart Mid-\nWest"]), LIMITS).text
    assert text == "a technique of state-of-the-\nart Mid-\nWest"


def test_without_pymupdf_a_pdf_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "pymupdf", None)
    assert reason_of(b"%PDF-1.7") == pb.ERROR_REASON_READER_UNAVAILABLE


@pytest.mark.parametrize(
    "text",
    [
        "\ufffd" * 300,
        "(cid:12)(cid:7)(cid:44)" * 20,
        "\ue001\ue002\ue003 word",
        "3*(-./5)& ;!%6'&*$#@)(=+ %&/()=?;:_",
    ],
)
def test_a_text_layer_of_noise_is_garbage(text: str) -> None:
    assert is_garbage(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "2 + 2 = 4",
        "Contents\nOne ................................ 1\nTwo ................................ 17",
        "❚❘❙❚❘❙❚❘❙❚❙❚❘❙❚❘❙❚❘❙❚❘❙\n\nFREE CULTURE",
        "1,234 5,678 9.10 (11) 12% 13/14",
        "電線接続端子（以下「端子」という。）",
        "नमस्ते दुनिया, यह एक वाक्य है।",
        "العالم مرحبا، هذا نص.",
    ],
)
def test_a_text_layer_of_words_numbers_and_rules_is_text(text: str) -> None:
    assert not is_garbage(text)
