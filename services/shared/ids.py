"""Identifiers."""

from uuid import UUID

import uuid6


def uuid7() -> UUID:
    """Return a new time-ordered identifier (RFC 9562, version 7), unique and never reused."""
    return UUID(int=uuid6.uuid7().int)
