"""BM25 in two halves."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vectorstore import bm25
from services.vectorstore.bm25 import (
    AVERAGE_LENGTH,
    K1,
    MAX_COUNTED,
    MAX_SELECTING,
    MAX_TERMS,
    Pooled,
    Statistics,
    Tally,
)
from services.vectorstore.terms import Ids, Lexicon

TEXTS = ["ship ship harbour", "ship island", "bread salt"]


def ids(*terms: int) -> Ids:
    return np.array(terms, np.uint32)


def statistics(chunks: int, **counts: int) -> Statistics:
    """Counts of the terms 1, 2, ..., in the order given."""
    terms = np.arange(1, len(counts) + 1, dtype=np.uint32)
    return Statistics(chunks, terms, np.array(list(counts.values()), np.uint32), frozenset({0}))


def test_weight_grows_with_repeats_and_never_reaches_its_bound() -> None:
    texts = [" ".join(["ship"] * n + ["filler"] * (128 - n)) for n in (1, 2, 64)]
    analysis = Lexicon().analyse(texts)
    weights = bm25.stored_weights(analysis)
    ship = Lexicon().analyse(["ship"]).terms[0]
    found = weights[analysis.terms == ship]
    assert found[0] == pytest.approx(1.0, abs=0.01)
    assert found[0] < found[1] < found[2] < K1 + 1


def test_longer_chunk_of_the_same_counts_weighs_less() -> None:
    short, long = (["ship", *(f"w{n}" for n in range(length))] for length in (10, 400))
    weights = [
        bm25.stored_weights(analysis)[analysis.terms == Lexicon().analyse(["ship"]).terms[0]][0]
        for analysis in (Lexicon().analyse([" ".join(text)]) for text in (short, long))
    ]
    assert len(short) < AVERAGE_LENGTH < len(long)
    assert weights[0] > weights[1]


def test_statistics_count_chunks_and_not_occurrences() -> None:
    counted = Statistics.of(Lexicon().analyse(TEXTS))
    ship = Lexicon().analyse(["ship"]).terms
    assert counted.chunks == 3
    assert counted.frequencies(ship).tolist() == [2]


@given(st.lists(st.lists(st.integers(1, 50), max_size=20), max_size=5))
def test_merged_statistics_are_those_of_all_chunks_together(documents: list[list[int]]) -> None:
    parts = [
        Statistics(1, np.unique(ids(*document)), np.ones(len(set(document)), np.uint32), frozenset({1}))
        for document in documents
    ]
    merged = Statistics.merged(parts)
    assert merged.chunks == len(documents)
    for term in range(1, 51):
        assert merged.frequencies(ids(term))[0] == sum(term in document for document in documents)


@given(st.lists(st.lists(st.integers(1, 50), max_size=20), max_size=5))
def test_pooled_statistics_are_those_of_all_chunks_together(bases: list[list[int]]) -> None:
    parts = [
        Statistics(1, np.unique(ids(*base)), np.ones(len(set(base)), np.uint32), frozenset(base[:1]))
        for base in bases
    ]
    pooled, merged = Pooled(parts), Statistics.merged(parts)
    every = np.arange(1, 51, dtype=np.uint32)
    assert pooled.frequencies(every).tolist() == merged.frequencies(every).tolist()
    assert (pooled.chunks, pooled.languages) == (merged.chunks, merged.languages)


def test_slices_of_a_document_count_as_the_whole() -> None:
    tally = Tally()
    for text in TEXTS:
        tally.add(Statistics.of(Lexicon().analyse([text])))
    whole = Statistics.of(Lexicon().analyse(TEXTS))
    assert tally.total().encoded() == whole.encoded()
    assert tally.total().chunks == len(TEXTS)


def test_a_document_of_more_terms_than_are_counted_keeps_the_most_frequent_ones() -> None:
    tally = Tally()
    for start in range(0, 4 * MAX_COUNTED, MAX_COUNTED):
        rare = np.arange(start, start + MAX_COUNTED, dtype=np.uint32) + 100
        terms = np.concatenate([ids(*range(1, 11)), rare])
        tally.add(Statistics(7, terms, np.ones(len(terms), np.uint32), frozenset({0})))
    total = tally.total()
    assert (total.chunks, len(total.terms)) == (28, MAX_COUNTED)
    assert total.frequencies(ids(*range(1, 11))).tolist() == [4] * 10
    assert np.all(np.diff(total.terms.astype(np.int64)) > 0)


@given(st.dictionaries(st.integers(1, 2**24 - 1), st.integers(1, 2**31), max_size=30))
def test_statistics_come_back_as_they_were_encoded(counts: dict[int, int]) -> None:
    terms = np.array(sorted(counts), np.uint32)
    original = Statistics(7, terms, np.array([counts[int(t)] for t in terms], np.uint32), frozenset({2}))
    decoded = Statistics.decoded(7, original.encoded(), [2])
    assert decoded.terms.tolist() == original.terms.tolist()
    assert decoded.counts.tolist() == original.counts.tolist()
    assert (decoded.chunks, decoded.languages) == (7, frozenset({2}))


def test_rarer_words_weigh_more() -> None:
    question = bm25.question([ids(1), ids(2)], statistics(100, common=90, rare=1))
    assert question.weights[0] < question.weights[1]
    assert question.weights[1] == pytest.approx(math.log1p(99.5 / 1.5))


def test_frequent_words_score_and_select_nothing_in_large_bases() -> None:
    question = bm25.question([ids(1), ids(2)], statistics(10_000, the=9_000, harbour=20))
    assert question.terms.tolist() == [1, 2]
    assert question.selecting.tolist() == [2]


def test_frequent_words_select_in_small_bases() -> None:
    assert bm25.question([ids(1)], statistics(300, the=290)).selecting.tolist() == [1]


def test_question_of_frequent_words_alone_selects_by_the_rarest() -> None:
    question = bm25.question([ids(1), ids(2)], statistics(10_000, the=9_000, of=8_000))
    assert question.selecting.tolist() == [2]


def test_absent_words_count_towards_what_was_reachable() -> None:
    known = statistics(100, harbour=5)
    assert bm25.question([ids(1), ids(77)], known).reachable > 1.5 * bm25.question([ids(1)], known).reachable


def test_word_with_several_stems_counts_once_towards_what_was_reachable() -> None:
    known = statistics(100, harbour=5)
    with_absent_stem = bm25.question([ids(1, 77)], known)
    assert with_absent_stem.reachable == pytest.approx(bm25.question([ids(1)], known).reachable)


def test_empty_question_asks_for_nothing() -> None:
    question = bm25.question([], statistics(3, ship=1))
    assert (len(question.terms), len(question.selecting), question.reachable) == (0, 0, 0.0)


@given(st.integers(1, 3000))
def test_long_questions_are_bounded(count: int) -> None:
    question = bm25.question([ids(term) for term in range(1, count + 1)], statistics(10, ship=3))
    assert len(question.terms) == min(count, MAX_TERMS)
    assert len(question.selecting) <= MAX_SELECTING
    assert np.all(np.diff(question.terms.astype(np.int64)) > 0)
