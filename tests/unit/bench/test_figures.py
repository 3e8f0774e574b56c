"""How figures are taken and told."""

from bench.figures import Ratio, Series, Spread, Way, interleaved, percentile
from bench.report import plain


def test_a_ratio_compares_what_was_measured_in_the_same_repetition() -> None:
    ours, floor = Series("ours", "ms", [2.0, 30.0, 4.0]), Series("floor", "ms", [1.0, 10.0, 1.0])
    assert Ratio("ours / floor", ours, floor).spread == Spread(3.0, 2.0, 4.0)


def test_a_percentile_is_a_value_that_was_measured() -> None:
    assert percentile([5.0, 1.0, 3.0, 2.0], 0.5) == 3.0
    assert percentile([5.0, 1.0, 3.0, 2.0], 0.99) == 5.0


async def test_each_way_runs_once_a_repetition_and_each_of_them_first_in_its_turn() -> None:
    ran: list[str] = []

    def way(name: str, seconds: float) -> Way:
        async def run() -> float:
            ran.append(name)
            return seconds

        return run

    steps: list[None] = []
    measured = await interleaved(3, {"a": way("a", 1.0), "b": way("b", 2.0)}, lambda: steps.append(None))
    assert measured == {"a": [1.0] * 3, "b": [2.0] * 3}
    assert ran == ["a", "b", "b", "a", "a", "b"]
    assert len(steps) == 6


def test_figures_are_written_out_with_the_digits_that_count() -> None:
    assert [plain(value) for value in (23012.34, 1000, 999.96, 12.345, 0.00123)] == [
        *("23012", "1000", "1000", "12.35"),
        "0.00123",
    ]
