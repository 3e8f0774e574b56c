"""What a reader is shown of a passage first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vectorstore import bm25
from services.vectorstore.bm25 import Statistics
from services.vectorstore.excerpts import excerpt
from services.vectorstore.languages import LANGUAGES
from services.vectorstore.terms import Lexicon

FILLER = "The harbour is wide and the water in it is deep. " * 40
ANSWER = "Books are lent for twenty-eight days and may be renewed twice. "


def shown(text: str, question: str, most: int = 200) -> str:
    """What is shown of a text where it is all that is stored."""
    lexicon = Lexicon()
    statistics = Statistics.of(lexicon.analyse([FILLER, text]))
    worth = bm25.worth(lexicon.beginnings(question, statistics.languages), statistics)
    return excerpt(text, worth, most).text


@pytest.mark.parametrize("text", [ANSWER + FILLER, FILLER + ANSWER + FILLER, FILLER + ANSWER])
@pytest.mark.parametrize("question", ["How long is a book lent?", "renewing a book", "BOOKS"])
def test_the_words_of_a_question_are_shown_wherever_they_stand(text: str, question: str) -> None:
    assert "Books are lent" in shown(text, question)


def test_rare_words_are_shown_before_frequent_ones() -> None:
    assert "lent" in shown(FILLER + ANSWER + FILLER, "is the water in the harbour lent")


def test_what_only_begins_like_a_short_word_is_not_shown_for_it() -> None:
    text = "It is in an inn. Mayoral isles apply. " * 30 + "A may tree stood. " + "It is in an inn. " * 60
    assert "A may tree" in shown(text, "may I")


def test_words_without_blanks_between_them_are_shown() -> None:
    text = "这个港口很宽而且水很深。" * 60 + "图书馆的书可以借二十八天。" + "这个港口很宽而且水很深。" * 60
    assert "图书馆" in shown(text, "图书馆", 60)


def test_a_text_without_words_of_the_question_is_shown_from_its_beginning() -> None:
    assert FILLER.startswith(shown(FILLER, "zebra"))


@given(
    st.text("abc İßﬁ港口\n\t", max_size=300),
    st.dictionaries(st.text("abcß港", min_size=1), st.floats(0, 9)),
    st.integers(1, 80),
)
def test_an_excerpt_is_a_bounded_part_of_any_text(text: str, beginnings: dict[str, float], most: int) -> None:
    part, (first, last) = excerpt(text, beginnings, most)
    assert part in text
    assert min(1, len(text)) <= len(part) <= most
    assert 0 <= first <= last <= len(text)
    assert text[first:last] in part
    assert last > first or not text


@given(st.text(max_size=80), st.sets(st.integers(0, len(LANGUAGES))))
def test_any_question_has_beginnings(question: str, languages: set[int]) -> None:
    beginnings = Lexicon().beginnings(question, languages)
    assert all(bm25.worth(beginnings, Statistics.merged([])).values()) or not beginnings
