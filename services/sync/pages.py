"""Pages of listings in the order of UUIDv7 ids: a page's token is the last id of the page before."""

import base64
import binascii
from collections.abc import Sequence
from typing import Protocol, TypeVar
from uuid import UUID

DEFAULT_SIZE = 100
MAX_SIZE = 1000


class Listed(Protocol):
    """What has an id to go on from."""

    @property
    def id(self) -> UUID:
        """UUIDv7."""


Row = TypeVar("Row", bound=Listed)


def cut(rows: Sequence[Row], size: int) -> tuple[Sequence[Row], str]:
    """Make a page and the next one's token out of up to `size + 1` rows: the one too many tells that there are more."""
    return (rows, "") if len(rows) <= size else (rows[:size], write_token(rows[size - 1].id))


def write_token(last: UUID) -> str:
    """The token of the page that goes on from the row of that id."""
    return base64.urlsafe_b64encode(last.bytes).decode().rstrip("=")


def read_token(token: str) -> UUID:
    """The id that a token names. Raises ValueError for what was not written here."""
    try:
        last = UUID(bytes=base64.b64decode(token + "==", altchars=b"-_", validate=True))
    except binascii.Error as error:
        raise ValueError("not a page token") from error
    if write_token(last) != token:
        raise ValueError("not a page token")
    return last
