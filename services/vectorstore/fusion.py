"""Putting both legs' candidates into one order, by their scores and not by their ranks.

Ranks forget how well a passage fits; scores do not. Both are standardised over the pool, and the lexical one counts by
its coverage: how near the best passage comes to holding every word of the question. A question in another language, or
in words of its own, so leans on meaning by itself.
"""

import numpy as np
import numpy.typing as npt

POOL = 100
"""Candidates that each leg hands in."""

_LEXICAL_SHARE = 2.0
_LEAST_COVERAGE = 0.1

Scores = npt.NDArray[np.float64]


def coverage(lexical: Scores, reachable: float) -> float:
    """Return the best lexical score over the highest that the question could reach, 0 to 1."""
    if not len(lexical) or reachable <= 0:
        return 0.0
    return float(min(max(lexical.max(), 0.0) / reachable, 1.0))


def fuse(dense: Scores, lexical: Scores, covered: float, spaces: npt.NDArray[np.int64]) -> Scores:
    """Return what the candidates are ordered by, higher first.

    `spaces` tells which embedding space each candidate's dense score comes from: similarities of different models are
    on different scales, so each space is standardised by itself.
    """
    fused = _LEXICAL_SHARE * max(covered, _LEAST_COVERAGE) * _standardised(lexical)
    for space in np.unique(spaces):
        mine = spaces == space
        fused[mine] += _standardised(dense[mine])
    return fused


def _standardised(scores: Scores) -> Scores:
    spread = scores.std() if len(scores) else 0.0
    if spread < 1e-9:
        return np.zeros(len(scores))
    standardised: Scores = (scores - scores.mean()) / spread
    return standardised
