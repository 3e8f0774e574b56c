"""What a deletion takes with it, and when it is over.

A teardown begins with the deletion's own transaction and ends when every service that holds something of a
base has answered that it removed it. Pure: no clock, no ids, no I/O.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self
from uuid import UUID

OWNERS = frozenset({"upload", "ingest", "vectorstore", "sync"})
"""The services that keep something of a base, and answer for it."""


class TeardownKind(StrEnum):
    """What goes."""

    DELETED = "deleted"
    """The base."""
    EMPTIED = "emptied"
    """What the base held so far; the base stays."""


@dataclass(frozen=True, slots=True)
class Teardown:
    """A deletion under way."""

    id: UUID
    kind: TeardownKind
    knowledge_base_id: UUID
    collection_name: str
    last_holder: bool
    """Whether no base holds the name any more, so that its table goes too."""
    owner_gone: bool
    """Whether the organization or the person that the base belonged to goes too."""
    emptied_before: UUID | None
    """UUIDv7: what has a smaller id goes. None but for emptied bases."""
    awaited: frozenset[str] = OWNERS
    """The services that have not answered yet."""

    @property
    def over(self) -> bool:
        """Whether all have answered."""
        return not self.awaited

    def answered_by(self, service: str) -> Self:
        """The teardown after that service's answer. Answering again changes nothing."""
        return replace(self, awaited=self.awaited - {service})


def begin(
    teardown_id: UUID,
    *,
    base_id: UUID,
    collection_name: str,
    keep_base: bool,
    other_holders: int,
    watermark: UUID,
    owner_gone: bool = False,
) -> Teardown:
    """Begin taking down a base, or its content alone where `keep_base` (an organization's default).

    `other_holders` counts the other bases of the name, under the name row's lock. `watermark` is a UUIDv7 of
    this moment.
    """
    return Teardown(
        id=teardown_id,
        kind=TeardownKind.EMPTIED if keep_base else TeardownKind.DELETED,
        knowledge_base_id=base_id,
        collection_name=collection_name,
        last_holder=not keep_base and other_holders == 0,
        owner_gone=owner_gone,
        emptied_before=watermark if keep_base else None,
    )
