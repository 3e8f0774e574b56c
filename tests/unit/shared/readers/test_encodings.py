"""Texts of many languages, short and long, in encodings that they do not say: read as written, and said so."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.readers import Limits, ReadError, read
from services.shared.readers.encodings import decode
from tests.unit.shared.readers.encoded_texts import AMBIGUOUS, DRAWN, OLD, TEXTS, WITHIN_ENGLISH

CASES = [
    pytest.param(
        form.format(text), encoding, id=f"{language}-{encoding}-{number}{'-within' * (form != '{}')}"
    )
    for language, (encodings, texts) in TEXTS.items()
    for encoding in encodings
    for number, text in enumerate(texts)
    for form in ("{}", WITHIN_ENGLISH)
    if text.encode(encoding, "ignore").decode(encoding) == text
]


def said(data: bytes) -> tuple[str, list[str]]:
    """A file's text, and the codes of its warnings."""
    parsed = read("txt", data, Limits())
    return parsed.text, [warning.code for warning in parsed.warnings]


@pytest.mark.parametrize(("text", "encoding"), CASES)
def test_a_text_is_read_in_its_encoding_and_said_to_be_guessed(text: str, encoding: str) -> None:
    assert said(text.encode(encoding)) == (text, ["encoding_guessed"])


OLD_CASES = [
    pytest.param(
        form.format(text), encoding, id=f"{language}-{encoding}-{number}{'-within' * (form != '{}')}"
    )
    for encodings, languages in OLD.items()
    for encoding in encodings
    for language in languages
    for number, text in enumerate(TEXTS[language][1])
    for form in ("{}", WITHIN_ENGLISH)
    if text.encode(encoding, "ignore").decode(encoding) == text and (encoding, text) not in AMBIGUOUS
]


@pytest.mark.parametrize(("text", "encoding"), OLD_CASES)
def test_a_text_of_an_old_system_is_read_in_its_encoding(text: str, encoding: str) -> None:
    assert said(text.encode(encoding)) == (text, ["encoding_guessed"])


@pytest.mark.parametrize(("encoding", "text"), DRAWN)
def test_lines_drawn_with_letters_do_not_hide_the_language(encoding: str, text: str) -> None:
    assert said(text.encode(encoding)) == (text, ["encoding_guessed"])


@pytest.mark.parametrize("between", [b"", b" ", b"\n", b"\xff"])
def test_one_or_two_signs_again_and_again_are_no_text(between: bytes) -> None:
    for byte in range(0x80, 0x100):
        with pytest.raises(ReadError) as refused:
            read("txt", (bytes([byte]) + between) * 100, Limits())
        assert refused.value.reason in {pb.ERROR_REASON_NO_TEXT, pb.ERROR_REASON_FILE_CORRUPT}, byte


@pytest.mark.parametrize("text", ["été", "Où", "né", "ää", "aaaaaaaaaaaa", "--------------"])
def test_a_short_word_is_a_text_and_so_is_whatever_is_ascii(text: str) -> None:
    assert said(text.encode("cp1252"))[0] == text


@pytest.mark.parametrize(("text", "encoding"), CASES)
def test_the_same_text_in_utf_8_is_not_guessed(text: str, encoding: str) -> None:
    assert said(text.encode()) == (text, [])


@pytest.mark.parametrize(("language", "number"), [("polish", -1), ("czech", -1)])
def test_central_european_text_from_other_systems_is_read(language: str, number: int) -> None:
    text = TEXTS[language][1][number]
    assert said(text.encode("iso8859-2")) == (text, ["encoding_guessed"])


def test_japanese_mail_says_its_encoding_by_its_escapes() -> None:
    text = TEXTS["japanese"][1][0]
    assert said(text.encode("iso2022_jp")) == (text, [])


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("cp1252", "Windows-1252"),
        ("cp1250", "Windows-1250"),
        ("koi8_r", "KOI8-R"),
        ("shift_jis", "Shift JIS"),
    ],
)
def test_the_warning_names_the_encoding_and_a_way_on(encoding: str, name: str) -> None:
    language = {"cp1252": "german", "cp1250": "polish", "koi8_r": "russian", "shift_jis": "japanese"}[
        encoding
    ]
    (warning,) = read("txt", TEXTS[language][1][-1].encode(encoding), Limits()).warnings
    assert name in warning.message
    assert "UTF-8" in warning.message


@pytest.mark.parametrize("place", [0, 50, None])
def test_utf_8_with_a_damaged_place_is_still_utf_8(place: int | None) -> None:
    text = TEXTS["russian"][1][-1]
    damaged = (
        text[:place].encode() + b"\xff" + text[place:].encode() if place is not None else text.encode()[:-2]
    )
    found, codes = said(damaged)
    assert codes == ["bytes_replaced"]
    assert found.replace("\ufffd", "") == (text if place is not None else text[:-2])


@given(st.binary(max_size=300))
def test_whatever_the_bytes_do_not_say_is_told_of_or_refused(data: bytes) -> None:
    decoded = decode(data)
    assert decoded.guessed or decoded.encoding
    with contextlib.suppress(ReadError):
        assert read("txt", data, Limits()).warnings or not decoded.guessed
