"""A name, a declared type and the content agree on a kind, or the file is refused for what it is."""

import gzip
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.kinds import (
    KINDS,
    MAX_LABEL,
    FileEmpty,
    FileEncrypted,
    Kind,
    KindMismatch,
    KindUnsupported,
    agree,
    declared,
    label,
)
from services.shared.sniffing import Content, sniff
from tests.fixtures.files.build import docx, paragraph, pdf, zipped

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
DOCX = docx(paragraph("text"))
PDF = pdf(["text"])
GOOD = {"txt": b"plain text", "md": b"# Heading", "pdf": PDF, "docx": DOCX}


@pytest.mark.parametrize("name", sorted(KINDS))
@pytest.mark.parametrize("media_type", ["", "application/octet-stream", "Application/Octet-Stream; x=y"])
def test_an_undeclared_type_leaves_name_and_content_to_agree(name: str, media_type: str) -> None:
    assert agree(f"Report.{name.upper()}", media_type, GOOD[name]).name == name


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_media_type_of_a_kind_is_taken_with_its_parameters(kind: Kind) -> None:
    for media_type in kind.media_types:
        assert declared(f"a.{kind.name}", f" {media_type.upper()}; charset=utf-8") is kind


@pytest.mark.parametrize(
    "name", ["a.exe", "a.zip", "a.doc", "a.docm", "README", ".txt", "a.", "", "..", "a.pdf/.."]
)
def test_other_extensions_and_none_are_refused(name: str) -> None:
    with pytest.raises(KindUnsupported) as refusal:
        declared(name, "")
    assert refusal.value.reason == pb.ERROR_REASON_FILE_KIND_UNSUPPORTED


@pytest.mark.parametrize(
    ("name", "media_type"), [("a.pdf", "image/png"), ("a.txt", "text/html"), ("a.docx", "application/zip")]
)
def test_a_declared_type_of_another_kind_is_a_mismatch(name: str, media_type: str) -> None:
    with pytest.raises(KindMismatch):
        declared(name, media_type)


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("report.pdf", PNG),
        ("report.pdf", b"just text"),
        ("report.pdf", DOCX),
        ("report.docx", PDF),
        ("report.docx", b"<html></html>"),
        ("report.docx", zipped({"a.txt": "text"})),
        ("report.docx", zipped({"xl/workbook.xml": "<workbook/>"})),
        ("report.docx", OLE + "WordDocument".encode("utf-16-le")),
        ("report.docx", b"PK\x05\x06" + bytes(18)),
        ("report.txt", PDF),
        ("report.txt", PNG),
        ("report.txt", gzip.compress(b"text", mtime=0)),
        ("report.txt", b"{\\rtf1 text}"),
        ("report.txt", bytes(range(256)) * 4),
        ("report.txt", b"\xff\xd8\xff\xe0" + b"JFIF"),
        ("report.md", b"GIF89a" + bytes(10)),
        ("report.md", b"\x7fELF" + bytes(10)),
    ],
)
def test_content_of_another_kind_is_a_mismatch(name: str, head: bytes) -> None:
    with pytest.raises(KindMismatch) as refusal:
        agree(name, "", head)
    assert refusal.value.reason == pb.ERROR_REASON_FILE_KIND_MISMATCH


def test_an_ole_container_named_docx_is_an_encrypted_office_file() -> None:
    with pytest.raises(FileEncrypted):
        agree("report.docx", WORD_TYPE, OLE + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(FileEncrypted):
        agree("report.docx", WORD_TYPE, OLE)


def test_a_file_without_bytes_is_refused_as_empty() -> None:
    with pytest.raises(FileEmpty):
        agree("a.txt", "", b"")


@pytest.mark.parametrize(
    "head",
    [
        "ünïcode".encode(),
        "Zażółć gęślą".encode("cp1250"),
        "これは日本語".encode("cp932"),
        "人民网".encode("gbk"),
        "plain".encode("utf-16"),
        "plain text".encode("utf-16-be"),
        b"<!doctype html><html></html>",
        b"The header of a PDF is %PDF-1.7.",
        b"col\x0cumn\tone\r\n",
        b"one stray \x00 among" + b" very many others" * 20,
    ],
)
def test_text_in_any_encoding_is_text(head: bytes) -> None:
    assert sniff(head) is Content.TEXT


def test_a_pdf_header_may_stand_behind_junk() -> None:
    assert sniff(b"junk\n" + PDF) is Content.PDF


def test_a_docx_is_known_by_its_list_of_types_even_if_that_is_cut_off() -> None:
    assert sniff(DOCX) is Content.WORD
    assert agree("a.docx", "", DOCX[:60]).name == "docx"


@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"PK\x03\x04", b"RIFF", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"]),
)
def test_any_bytes_look_like_something(data: bytes, start: bytes) -> None:
    assert isinstance(sniff(start + data), Content)


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\report.pdf", "report.pdf"),
        ("/srv/docs/a.md", "a.md"),
        ("  Straße – 報告 😀.txt ", "Straße – 報告 😀.txt"),
        ("evil\u202efdp.txt", "evilfdp.txt"),
        ("nul\x00\nline.txt", "nulline.txt"),
        ("lone\ud800.txt", "lone.txt"),
        ("..", ""),
        ("a/..", ""),
        ("/", ""),
        ("", ""),
    ],
)
def test_a_name_is_a_label_and_never_a_path(filename: str, expected: str) -> None:
    assert label(filename) == expected


def test_a_label_that_is_too_long_keeps_its_extension() -> None:
    assert label("x" * 5000 + ".pdf") == "x" * (MAX_LABEL - 4) + ".pdf"
    assert label("." + "x" * 5000) == "." + "x" * (MAX_LABEL - 1)
    assert declared("é" * 1020 + ".txt", "").name == "txt"


@given(st.text(max_size=50), st.integers(1, 60))
def test_a_label_has_no_separator_and_no_control(text: str, times: int) -> None:
    made = label(text * times)
    assert len(made) <= MAX_LABEL
    assert not set(made) & {"/", "\\"}
    assert not {unicodedata.category(character) for character in made} & {"Cc", "Cs"}
    assert made not in {".", ".."}
