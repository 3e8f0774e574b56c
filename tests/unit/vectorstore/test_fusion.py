"""Fusing both legs by their scores."""

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from services.vectorstore.fusion import coverage, fuse

Scores = npt.NDArray[np.float64]
SCORES = st.lists(st.floats(-1, 1), min_size=1, max_size=30)


def scores(*values: float) -> Scores:
    return np.array(values, np.float64)


def one_space(count: int) -> npt.NDArray[np.int64]:
    return np.zeros(count, np.int64)


def test_words_lead_where_the_best_passage_holds_most_of_the_question() -> None:
    fused = fuse(scores(0.9, 0.5, 0.4), scores(0, 9, 1), 0.45, one_space(3))
    assert fused.argmax() == 1


def test_meaning_leads_where_few_words_are_shared() -> None:
    fused = fuse(scores(0.9, 0.5, 0.4), scores(0, 9, 1), 0.05, one_space(3))
    assert fused.argmax() == 0


@given(SCORES)
def test_order_of_meaning_stands_where_no_words_are_shared(values: list[float]) -> None:
    dense = scores(*values)
    fused = fuse(dense, np.zeros(len(dense)), 0.0, one_space(len(dense)))
    best = np.argsort(-fused, kind="stable")
    assert np.all(np.diff(dense[best]) <= 1e-6)


@given(SCORES, st.floats(0.1, 10), st.floats(-5, 5))
def test_scale_of_a_models_similarities_does_not_matter(
    values: list[float], factor: float, shift: float
) -> None:
    dense = scores(*np.round(values, 3))
    lexical = np.linspace(0, 5, len(dense))
    plain = fuse(dense, lexical, 0.3, one_space(len(dense)))
    scaled = fuse(dense * factor + shift, lexical, 0.3, one_space(len(dense)))
    assert np.allclose(plain, scaled, atol=1e-5)


def test_models_with_other_scales_are_compared_by_their_standing() -> None:
    dense = scores(0.9, 0.8, 0.7, 0.09, 0.08, 0.07)
    fused = fuse(dense, np.zeros(6), 0.0, np.array([0, 0, 0, 1, 1, 1]))
    assert np.allclose(fused[:3], fused[3:])


def test_coverage_is_a_share_of_what_was_reachable() -> None:
    assert coverage(scores(1, 4), 8) == 0.5
    assert coverage(scores(9), 8) == 1.0
    assert coverage(scores(), 8) == 0.0
    assert coverage(scores(1), 0) == 0.0
