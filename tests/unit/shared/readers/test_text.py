"""Text comes out as it was written, whatever its encoding, and without what cannot be stored."""

import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.readers import Limits, ReadError, read
from services.shared.readers.cleaning import clean

LIMITS = Limits()
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
CHINESE = "人民网北京电，记者从教育部获悉，今年全国高校毕业生就业工作会议在京召开。"
JAPANESE = "これは日本語の文章です。コンソールから入力してください。"
POLISH = "Zażółć gęślą jaźń. Naukowcy zauważyli, że zegar biologiczny człowieka działa inaczej."
RUSSIAN = "Привет, мир! Это простой русский текст для проверки кодировки."


def text_of(data: bytes, kind: str = "txt") -> str:
    return read(kind, data, LIMITS).text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("text", [RUSSIAN, "一二三\n四五六。", "hello", POLISH, JAPANESE])
def test_unicode_is_read_with_and_without_a_mark(text: str, encoding: str) -> None:
    assert text_of(text.encode(encoding)) == text


@pytest.mark.parametrize("text", ["ab10cd10ef10" * 50, "0a0b0c0d" * 99, "zz\n" * 30, "1,2\n3,4\n" * 9])
def test_ascii_is_never_taken_for_16_bit_text(text: str) -> None:
    assert text_of(text.encode()) == text


def test_utf_16_with_a_lone_surrogate_is_still_utf_16() -> None:
    data = codecs.BOM_UTF16_LE + "before ".encode("utf-16-le") + b"\x00\xd8" + " after".encode("utf-16-le")
    parsed = read("txt", data, LIMITS)
    assert parsed.text == "before \ufffd after"
    assert [warning.code for warning in parsed.warnings] == ["bytes_replaced"]


def test_a_declaration_decides_what_bytes_alone_cannot() -> None:
    assert text_of("-*- coding: iso-8859-5 -*- Ж".encode("iso-8859-5")).endswith("Ж")


@pytest.mark.parametrize("name", ["base64", "nonsense", "utf-16", "idna"])
def test_a_declaration_that_is_wrong_is_ignored(name: str) -> None:
    text = f"charset={name} für Fußgänger geöffnet"
    assert text_of(text.encode("latin-1")) == text


def test_a_declaration_does_not_overrule_valid_utf_8() -> None:
    text = 'The page said charset="iso-8859-1" – wrongly.'
    assert text_of(text.encode()) == text


def test_nuls_and_controls_are_removed_with_a_warning() -> None:
    parsed = read("txt", b"one\x00 two\x01 and a text that is long enough to be one", LIMITS)
    assert parsed.text.startswith("one two and")
    assert [warning.code for warning in parsed.warnings] == ["characters_removed"]


def test_every_sort_of_line_end_becomes_one() -> None:
    assert clean("a\r\nb\rc\x0cd\u2028e\x85f\x0bg") == ("a\nb\nc\nd\ne\nf\ng", 0)


@given(st.text(st.characters()), st.sampled_from(["", "\ud800", "\x00"]))
def test_a_cleaned_text_can_be_stored(text: str, bad: str) -> None:
    kept, removed = clean(text + bad)
    assert "\x00" not in kept
    assert kept.encode().decode() == kept
    assert removed >= len(bad)
    assert clean(kept) == (kept, 0)


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b" \n\t ", codecs.BOM_UTF8, codecs.BOM_UTF16_LE),
        *(mark + bytes(size) for mark in (codecs.BOM_UTF8, *UTF_16) for size in (2, 64)),
        codecs.BOM_UTF32_LE + bytes(8),
        "\ufeff\ufeff".encode("utf-16-le"),
        *(
            "\u200b\u200b",
            "\u200d\ufeff \u2060\n",
            "\u00ad",
            "\u3164\u115f",
            "\u2800 \u2800",
            "\U000e0061",
            "\u202e\u061c",
        ),
    ],
)
def test_a_file_without_visible_text_has_no_text(data: bytes | str) -> None:
    data = data if isinstance(data, bytes) else data.encode()
    with pytest.raises(ReadError) as refusal:
        read("txt", data, LIMITS)
    assert refusal.value.reason == pb.ERROR_REASON_NO_TEXT


@pytest.mark.parametrize("lowest", [0, 32])
def test_bytes_in_no_encoding_are_corrupt(lowest: int) -> None:
    noise = bytes(byte for byte in random.Random(7).randbytes(3000) if byte >= lowest)
    with pytest.raises(ReadError) as refusal:
        read("txt", noise, LIMITS)
    assert refusal.value.reason == pb.ERROR_REASON_FILE_CORRUPT


def test_more_text_than_the_limit_is_refused() -> None:
    with pytest.raises(ReadError) as refusal:
        read("txt", b"x" * 101, Limits(characters=100))
    assert refusal.value.reason == pb.ERROR_REASON_CONTENT_TOO_LARGE
    assert len(read("txt", b"x" * 100, Limits(characters=100)).text) == 100


def test_markdown_stays_as_it_is() -> None:
    text = "# Title\n\n- *one*  \n- [two](x)\n\n| a | b |\n|---|---|\n"
    assert text_of(text.encode(), "md") == text
