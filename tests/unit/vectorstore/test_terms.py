"""Cutting texts into terms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vectorstore.languages import LANGUAGES, UNKNOWN
from services.vectorstore.terms import DIMENSIONS, MAX_WORD, Analysis, Lexicon, words

SAMPLES = {
    "english": "The ships that are in the harbour were built by the company for the trade with the islands.",
    "german": "Die Häuser in der Straße sind alt und werden von der Stadt nicht gekauft.",
    "spanish": "Los barcos que llegan al puerto son de la compañía que los construyó para el comercio.",
    "french": "Les bateaux qui sont dans le port ont été construits par la compagnie pour le commerce.",
    "polish": "Statki, które są w porcie, zostały zbudowane przez spółkę i nie były tanie, ale to było dawno.",
    "russian": "Корабли, которые были в порту, построены для торговли, и это было не так давно.",
}


def terms_of(analysis: Analysis, text: int) -> set[int]:
    return set(analysis.terms[analysis.offsets[text] : analysis.offsets[text + 1]].tolist())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("of\ufb01ce", ["office"]),
        ("cafe\u0301", ["caf\u00e9"]),
        ("x_1 3.14", ["x_1", "3", "14"]),
        ("東京都 and 大", ["東京", "京都", "and", "大"]),
        ("  \n\t ?!", []),
    ],
)
def test_words_have_one_spelling(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text())
def test_no_text_breaks_cutting_and_no_word_is_too_long(text: str) -> None:
    assert all(0 < len(word) <= MAX_WORD for word in words(text))


@pytest.mark.parametrize("language", SAMPLES)
def test_each_chunk_is_taken_for_its_own_language(language: str) -> None:
    texts = list(SAMPLES.values())
    analysis = Lexicon().analyse(texts)
    assert analysis.languages[list(SAMPLES).index(language)] == LANGUAGES.index(language)


def test_chunk_that_does_not_tell_follows_its_document() -> None:
    analysis = Lexicon().analyse([SAMPLES["german"], "Donaudampfschifffahrt 1829"])
    assert analysis.languages.tolist() == [LANGUAGES.index("german")] * 2


def test_document_that_does_not_tell_is_of_no_language() -> None:
    assert Lexicon().analyse(["4711 qwertz", ""]).languages.tolist() == [UNKNOWN, UNKNOWN]


def test_question_shares_terms_with_inflected_words_of_the_chunks_language() -> None:
    lexicon = Lexicon()
    analysis = lexicon.analyse([SAMPLES["german"]])
    (group,) = lexicon.question("Haus", [LANGUAGES.index("german")])
    assert terms_of(analysis, 0) & set(group.tolist())


def test_question_in_another_language_is_tried_in_every_language() -> None:
    english = [LANGUAGES.index("english")]
    groups = Lexicon().question("¿Cuántas universidades hay en la ciudad?", english)
    assert max(len(group) for group in groups) > 1


def test_repeated_words_of_a_question_count_once() -> None:
    assert len(Lexicon().question("ship ships SHIP", [LANGUAGES.index("english")])) == 1


@given(st.lists(st.text(max_size=80), max_size=6))
def test_counts_and_lengths_agree_with_the_words(texts: list[str]) -> None:
    analysis = Lexicon().analyse(texts)
    for place, text in enumerate(texts):
        start, end = analysis.offsets[place], analysis.offsets[place + 1]
        assert analysis.lengths[place] == len(words(text)) == analysis.counts[start:end].sum()
        terms = analysis.terms[start:end].astype(np.int64)
        assert np.all(np.diff(terms) > 0)
        assert np.all((terms > 0) & (terms < DIMENSIONS))


@given(st.lists(st.sampled_from(sorted(SAMPLES.values())), min_size=1, max_size=5))
def test_what_was_met_before_changes_no_terms(texts: list[str]) -> None:
    seasoned = Lexicon(remembered=10)
    for _ in range(3):
        seasoned.analyse([SAMPLES["french"], "other words 123"])
        again, fresh = seasoned.analyse(texts), Lexicon().analyse(texts)
        assert again.terms.tolist() == fresh.terms.tolist()
        assert again.languages.tolist() == fresh.languages.tolist()
