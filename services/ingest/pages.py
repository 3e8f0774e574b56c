"""Opaque tokens that name where the next page of a listing starts."""

import base64
import hashlib
import json
from collections.abc import Iterable
from uuid import UUID

_DIGEST_BYTES = 8
_TOKEN_BYTES = 16 + _DIGEST_BYTES


class TokenInvalid(Exception):
    """The token was not made by `encode`, or belongs to another listing."""


def encode(last: UUID, listing: Iterable[str]) -> str:
    """Return the token of the page after `last`. `listing` is all that tells this listing from others."""
    return base64.urlsafe_b64encode(last.bytes + _digest(listing)).decode().rstrip("=")


def decode(token: str, listing: Iterable[str]) -> UUID:
    """Return what `encode` was given.

    Raises:
        TokenInvalid: if the token is malformed or of another listing.
    """
    try:
        data = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise TokenInvalid from None
    if len(data) != _TOKEN_BYTES or data[16:] != _digest(listing):
        raise TokenInvalid
    return UUID(bytes=data[:16])


def _digest(listing: Iterable[str]) -> bytes:
    return hashlib.sha256(json.dumps(list(listing)).encode()).digest()[:_DIGEST_BYTES]
