"""What secrets are lent for: which service opens one for which purpose, and of which kinds it may be.

Pure: no clock, no ids, no I/O.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from uuid import UUID

from services.access.reach import Caller, CallerKind
from services.access.vault.kinds import SecretKind


class Purpose(StrEnum):
    """What a bound secret is used for."""

    EMBEDDING = "embedding"
    PARSING = "parsing"
    IMAGE_DESCRIPTION = "image_description"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Terms:
    """Whom a secret is lent to, and of which kinds."""

    service: str
    kinds: frozenset[SecretKind]


_API_KEY = frozenset({SecretKind.API_KEY})
TERMS: Mapping[Purpose, Terms] = MappingProxyType(
    {
        Purpose.EMBEDDING: Terms("vectorstore", _API_KEY),
        Purpose.PARSING: Terms("ingest", _API_KEY),
        Purpose.IMAGE_DESCRIPTION: Terms("ingest", _API_KEY),
        Purpose.SOURCE: Terms("sync", frozenset(SecretKind) - _API_KEY),
    }
)


@dataclass(frozen=True, slots=True)
class Use:
    """What a secret is bound to: a purpose of a base, or of a source that syncs into it."""

    base_id: UUID
    purpose: Purpose
    source_id: UUID | None = None
    """With the purpose SOURCE, and no other."""

    def __post_init__(self) -> None:
        if (self.purpose is Purpose.SOURCE) != (self.source_id is not None):
            raise ValueError("a source, and nothing else, has a source's id")


class Opening(StrEnum):
    """What becomes of a wish to open a secret."""

    OPENED = "opened"
    REFUSED = "refused"
    """Reads as an absent secret."""
    GONE = "gone"
    """It is bound there, and was deleted."""


def borrows(caller: Caller, purpose: Purpose) -> bool:
    """Whether the caller is the service that secrets are lent to for the purpose."""
    return caller.kind is CallerKind.SERVICE and caller.service == TERMS[purpose].service


def judge(
    caller: Caller, purpose: Purpose, wanted: UUID, *, bound: UUID | None, kind: SecretKind | None
) -> Opening:
    """Decide on opening the secret `wanted`. `bound` is the one that is bound there; `kind`: None where it is gone."""
    if not borrows(caller, purpose) or bound != wanted:
        return Opening.REFUSED
    if kind is None:
        return Opening.GONE
    return Opening.OPENED if kind in TERMS[purpose].kinds else Opening.REFUSED
