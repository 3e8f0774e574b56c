"""How much of a text is read."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from services.vectorstore.spelling import bounded
from services.vectorstore.terms import MAX_WORDS, Lexicon


@given(st.text(st.characters(exclude_categories=()), max_size=60), st.integers(0, 100))
def test_no_text_is_longer_than_it_may_be_or_breaks_being_cut(text: str, most: int) -> None:
    assert len(bounded(text, most).encode()) <= most


@given(st.text(max_size=60))
def test_short_texts_are_whole_in_one_spelling(text: str) -> None:
    assert bounded(text, 10_000) == unicodedata.normalize("NFKC", text)


def test_a_character_that_stands_for_many_counts_as_many() -> None:
    assert len(bounded("\ufdfa" * 8192, 4096).encode()) in range(4093, 4097)


def test_a_question_has_a_bounded_number_of_words() -> None:
    assert len(Lexicon().question(" ".join(map(str, range(4000))), [0])) <= MAX_WORDS
