"""Pages of listings in the order of UUIDv7 ids, oldest first: a page's token is the last id of the page before."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar
from uuid import UUID

DEFAULT_SIZE = 100
MAX_SIZE = 1000

START = UUID(int=0)
"""What every id comes after."""


class _Listed(Protocol):
    @property
    def id(self) -> UUID: ...


Row = TypeVar("Row", bound=_Listed)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which part of a listing is wanted."""

    size: int
    after: UUID = START


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """A part of a listing. `next_page_token` is empty on the last one."""

    rows: Sequence[Row]
    next_page_token: str


def cut(rows: Sequence[Row], size: int) -> Page[Row]:
    """Make a page out of up to `size + 1` rows: the one too many tells that there are more."""
    if len(rows) <= size:
        return Page(rows, "")
    return Page(rows[:size], write_token(rows[size - 1].id))


def write_token(last: UUID) -> str:
    """The token of the page after the row of that id."""
    return base64.urlsafe_b64encode(last.bytes).decode().rstrip("=")


def read_token(token: str) -> UUID:
    """The id that the token names; `START` for the first page, whose token is empty.

    Raises ValueError for a token that was not written here.
    """
    if not token:
        return START
    try:
        last = UUID(bytes=base64.b64decode(token + "==", altchars=b"-_", validate=True))
    except (binascii.Error, ValueError) as error:
        raise ValueError("not a page token") from error
    if write_token(last) != token:
        raise ValueError("not a page token")
    return last
