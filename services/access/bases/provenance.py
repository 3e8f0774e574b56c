"""What becomes of content that nobody owns, and of a collection that an operator drops.

Pure: no clock, no ids, no I/O.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from services.access.reach import BaseKind, BaseScope


def takes_over(scope: BaseScope, kind: BaseKind) -> bool:
    """Whether a new base of that scope takes over what a hidden one of that kind holds under its name.

    Everybody may read what an operator ingested for everybody. What is of unknown origin may be somebody's.
    """
    return scope is BaseScope.APP and kind is BaseKind.OPERATOR


def confirmed(kind: BaseKind) -> BaseKind:
    """What kind a base is once an operator has vouched for unknown content."""
    return BaseKind.OPERATOR if kind is BaseKind.LEGACY_UNKNOWN else kind


@dataclass(frozen=True, slots=True)
class Holder:
    """A base on the name that is dropped."""

    id: UUID
    hidden: bool


@dataclass(frozen=True, slots=True)
class Drop:
    """What an operator's drop of a name does."""

    emptied: UUID | None = None
    """A regular base stays, as its owner's."""
    deleted: tuple[UUID, ...] = ()
    """Hidden bases go: nobody would miss the row."""


def plan_drop(holders: Sequence[Holder], chosen: UUID | None) -> Drop | None:
    """What a drop does, to the one base that was chosen or to all there is; None where a choice is missing."""
    meant = [holder for holder in holders if chosen in (None, holder.id)]
    regular = [holder.id for holder in meant if not holder.hidden]
    if len(regular) > 1:
        return None
    return Drop(next(iter(regular), None), tuple(holder.id for holder in meant if holder.hidden))
