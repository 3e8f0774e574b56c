"""The splitter's rules, each on texts made by hand and on texts that hypothesis makes."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.ingest.splitter import Span, split

ALPHABET = st.sampled_from(
    ["a", "b", "é", "語", "。", "、", "😀", " ", "  ", "\n", "\n\n", "\t", "\u3000", "word", "x" * 40]
)
TEXTS = st.lists(ALPHABET, max_size=400).map("".join)


@st.composite
def settings_of_splits(draw: st.DrawFn) -> tuple[int, int]:
    size = draw(st.integers(2, 120))
    return size, draw(st.integers(0, size - 1))


def chunks(text: str, size: int, overlap: int = 0) -> list[str]:
    return [text[span.start : span.end] for span in split(text, size, overlap)]


@given(TEXTS, settings_of_splits())
@example("x" * 40 + " " * 300 + "y", (10, 9))
@example("\n\n".join("ab" * n for n in range(30)), (20, 19))
def test_chunks_cover_all_but_blanks_within_their_bounds(text: str, setting: tuple[int, int]) -> None:
    size, overlap = setting
    spans = list(split(text, size, overlap))
    covered = 0
    for span in spans:
        piece = text[span.start : span.end]
        assert 0 < len(piece) <= size
        assert piece == piece.strip()
        assert span.end > covered
        assert covered - span.start <= overlap
        assert not text[covered : span.start].strip()
        covered = span.end
    assert not text[covered:].strip()
    assert [span.start for span in spans] == sorted({span.start for span in spans})
    assert spans == list(split(text, size, overlap))


@given(TEXTS, settings_of_splits())
def test_no_word_is_cut_that_fits_a_chunk(text: str, setting: tuple[int, int]) -> None:
    size, _ = setting
    words = [m.span() for m in re.finditer(r"[a-z]+", text)]
    covered = 0
    for span in split(text, size, 0):
        inside = [w for w in words if w[0] < span.end < w[1]]
        assert all(w[1] - max(w[0], covered) > (size - 1) // 2 for w in inside)
        covered = span.end


@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\u3000\t \n" * 1000])
def test_blank_texts_have_no_chunks(text: str) -> None:
    assert chunks(text, 100, 10) == []


def test_a_text_that_fits_is_one_chunk_without_the_blanks_around_it() -> None:
    assert list(split("\n  one two \n", 100, 50)) == [Span(3, 10)]


def test_paragraphs_are_cut_before_lines_and_lines_before_words() -> None:
    assert chunks("aaaa bbbb\n\ncccc dddd\neeee ffff", 25) == ["aaaa bbbb", "cccc dddd\neeee ffff"]
    assert chunks("aaaa bbbb\ncccc dddd eeee ffff", 25) == ["aaaa bbbb", "cccc dddd eeee ffff"]
    assert chunks("aaaa bbbb cccc dddd eeee ffff", 25) == ["aaaa bbbb cccc dddd eeee", "ffff"]


def test_a_word_longer_than_a_chunk_is_cut_between_characters() -> None:
    assert chunks("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


def test_a_break_exactly_at_the_limit_is_used() -> None:
    assert chunks("aaaaa bbbbb\n\ncc dd", 11) == ["aaaaa bbbbb", "cc dd"]


def test_a_heading_stays_with_the_long_paragraph_after_it() -> None:
    text = "Heading\n\n" + "word " * 40
    assert chunks(text, 100)[0].startswith("Heading\n\nword")


def test_a_short_paragraph_stands_alone_before_a_word_that_would_be_cut() -> None:
    assert chunks("Heading\n\n" + "x" * 95, 100) == ["Heading", "x" * 95]


def test_texts_without_blanks_are_cut_after_marks_that_end_a_clause() -> None:
    assert chunks("春は曙。やうやう白く、なりゆく山ぎは。", 12) == [
        "春は曙。やうやう白く、",
        "なりゆく山ぎは。",
    ]


def test_a_chunk_repeats_whole_words_of_the_one_before() -> None:
    first, second = chunks("one two three four five six seven", 20, 9)
    assert (first, second) == ("one two three four", "four five six seven")


def test_a_repeat_starts_at_a_line_where_one_starts_in_its_first_half() -> None:
    text = "a" * 20 + "\n" + "b b b b b b b b\nlast line here and\n\nnew paragraph that does not fit any more"
    assert chunks(text, 60, 40)[1].startswith("b b b b")


def test_a_chunk_never_repeats_more_than_half_a_chunk() -> None:
    spans = list(split("word " * 2000, 100, 99))
    assert sum(span.end - span.start for span in spans) < 3 * 10_000


@pytest.mark.parametrize(("size", "overlap"), [(1, 0), (10, 10), (10, -1)])
def test_settings_that_cannot_work_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap below"):
        list(split("text", size, overlap))
