"""What an organization may spend in a month: the rule by which a reservation is granted or not.

Pure: no clock, no ids, no I/O. Amounts are micro-dollars.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime

from services.shared.money import dollars


@dataclass(frozen=True, slots=True)
class Month:
    """What a month has come to, and how far it may go."""

    limit: int | None
    """None: as far as it likes."""
    spent: int = 0
    reserved: int = 0
    """Set aside by calls that are under way."""

    @property
    def taken(self) -> int:
        """What nobody else can have."""
        return self.spent + self.reserved


def period_of(moment: datetime) -> date:
    """The month, in UTC, in which a moment counts: its first day."""
    return moment.astimezone(UTC).date().replace(day=1)


def next_period(period: date) -> date:
    """The month after."""
    return date(period.year + period.month // 12, period.month % 12 + 1, 1)


def judge(month: Month, amount: int) -> bool:
    """Whether an amount may be set aside."""
    return month.limit is None or month.taken + amount <= month.limit


def shortage(month: Month, amount: int) -> str:
    """Why an amount is not to be had, with the figures."""
    figures = f"{dollars(month.spent)} spent"
    if month.reserved:
        figures += f" and {dollars(month.reserved)} reserved"
    told = f"Organization monthly budget exhausted: {figures} of {dollars(month.limit or 0)} limit"
    return f"{told}; this needs {dollars(amount)}." if month.taken < (month.limit or 0) else f"{told}."
