"""Amounts of money."""

import pytest

from services.shared.money import dollars


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (0, "$0.00"),
        (1, "$0.000001"),
        (1_500, "$0.0015"),
        (40_150_000, "$40.15"),
        (40_100_000, "$40.10"),
        (123_456_789_000_000, "$123456789.00"),
    ],
)
def test_dollars_are_told_to_the_cent_or_exactly(micros: int, text: str) -> None:
    assert dollars(micros) == text
