"""Pages of listings in the order of their ids. A page's token names the last id of the page before, and its listing."""

import base64
import binascii
import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar
from uuid import UUID

from services.shared.fingerprint import Request, fingerprint

DEFAULT_SIZE = 100
MAX_SIZE = 1000

_FIRST, _LAST = UUID(int=0), UUID(int=2**128 - 1)
_DIGEST_BYTES = 8


class Listed(Protocol):
    """What has an id to go on from."""

    @property
    def id(self) -> UUID:
        """Its place in the listing."""


class ListRequest(Request, Protocol):
    """A request for a page; all of its other fields make the listing."""

    page_size: int
    page_token: str


Row = TypeVar("Row", bound=Listed)


class TokenInvalid(Exception):
    """The token was not written here, or belongs to another listing."""


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """A part of a listing. `next_page_token` is empty on the last one."""

    rows: Sequence[Row]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which part of a listing is wanted: up to `size` rows from behind `last`, None being the start."""

    size: int
    last: UUID | None = None
    listing: bytes = bytes(_DIGEST_BYTES)

    @classmethod
    def of(cls, request: ListRequest) -> Self:
        """The page that is asked for; the size is not judged. Raises TokenInvalid."""
        listing = _digest(request)
        last = _read(request.page_token, listing) if request.page_token else None
        return cls(request.page_size or DEFAULT_SIZE, last, listing)

    @property
    def limit(self) -> int:
        """How many rows to look for: the one too many tells that there are more."""
        return self.size + 1

    @property
    def after(self) -> UUID:
        """What the ids of the page come after, where the smallest is listed first."""
        return _FIRST if self.last is None else self.last

    @property
    def before(self) -> UUID:
        """What the ids of the page come before, where the greatest is listed first."""
        return _LAST if self.last is None else self.last

    def cut(self, rows: Sequence[Row]) -> Page[Row]:
        """Make a page out of up to `limit` rows."""
        if len(rows) <= self.size:
            return Page(rows, "")
        return Page(rows[: self.size], _write(rows[self.size - 1].id, self.listing))


def _digest(request: ListRequest) -> bytes:
    listing = copy.deepcopy(request)
    listing.page_size, listing.page_token = 0, ""
    return fingerprint(listing)[:_DIGEST_BYTES]


def _write(last: UUID, listing: bytes) -> str:
    return base64.urlsafe_b64encode(last.bytes + listing).decode()  # 24 bytes: without padding


def _read(token: str, listing: bytes) -> UUID:
    try:
        data = base64.b64decode(token, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise TokenInvalid from None
    last = data[:-_DIGEST_BYTES]
    if len(last) != len(_FIRST.bytes) or _write(UUID(bytes=last), listing) != token:
        raise TokenInvalid
    return UUID(bytes=last)
