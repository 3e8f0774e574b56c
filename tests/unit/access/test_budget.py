"""What an organization may spend in a month."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.access.budget import Month, judge, next_period, period_of, shortage
from services.shared.money import MICROS

CENT = MICROS // 100


@pytest.mark.parametrize(
    ("limit", "spent", "reserved", "amount", "granted"),
    [
        (None, 10**15, 10**15, 10**12, True),
        (0, 0, 0, 1, False),
        (10, 0, 0, 10, True),
        (10, 0, 0, 11, False),
        (10, 5, 4, 1, True),
        (10, 5, 5, 1, False),
        (10, 0, 10, 1, False),
        (10, 12, 0, 1, False),
    ],
)
def test_what_is_spent_and_reserved_and_asked_for_stays_within_the_limit(
    limit: int | None, spent: int, reserved: int, amount: int, granted: bool
) -> None:
    assert judge(Month(limit, spent, reserved), amount) is granted


@pytest.mark.parametrize(
    ("moment", "period"),
    [
        (datetime(2026, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), date(2026, 12, 1)),
        (datetime(2027, 1, 1, tzinfo=UTC), date(2027, 1, 1)),
        (datetime(2027, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))), date(2026, 12, 1)),
        (datetime(2026, 11, 30, 23, tzinfo=timezone(timedelta(hours=-2))), date(2026, 12, 1)),
    ],
)
def test_a_period_is_a_month_in_utc(moment: datetime, period: date) -> None:
    assert period_of(moment) == period


@given(st.dates(date(2000, 1, 1), date(9998, 12, 31)))
def test_the_next_period_is_the_next_month_and_the_day_before_is_in_this_one(day: date) -> None:
    period = period_of(datetime(day.year, day.month, day.day, tzinfo=UTC))
    following = next_period(period)
    assert following.day == 1
    assert period <= day < following
    assert (following - timedelta(days=1)).month == period.month


@pytest.mark.parametrize(
    ("month", "told"),
    [
        (Month(4000 * CENT, 4015 * CENT), "$40.15 spent of $40.00 limit."),
        (
            Month(4000 * CENT, 3000 * CENT, 1000 * CENT),
            "$30.00 spent and $10.00 reserved of $40.00 limit.",
        ),
        (Month(4000 * CENT, 3990 * CENT), "$39.90 spent of $40.00 limit; this needs $0.20."),
        (Month(0), "$0.00 spent of $0.00 limit."),
    ],
)
def test_a_refusal_has_the_figures(month: Month, told: str) -> None:
    assert shortage(month, 20 * CENT) == f"Organization monthly budget exhausted: {told}"
