"""What tells one request from others."""

import hashlib
from typing import Protocol


class _Kind(Protocol):
    @property
    def full_name(self) -> str: ...


class Request(Protocol):
    """A message, as far as it is told from others."""

    @property
    def DESCRIPTOR(self) -> _Kind:  # noqa: N802
        """Of which kind it is."""

    def SerializeToString(self, *, deterministic: bool = ...) -> bytes:  # noqa: N802
        """What it holds."""


def fingerprint(request: Request) -> bytes:
    """A sha256 over the content of a request; the name of its message stands for the method."""
    content = request.SerializeToString(deterministic=True)
    return hashlib.sha256(request.DESCRIPTOR.full_name.encode() + b"\0" + content).digest()
