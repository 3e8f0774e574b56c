"""The chain of seals: how a hash is made, what follows what, and what is wrong where something does not.

A seal's hash is the SHA-256 of the hash before it and of the event's document: JSON in UTF-8 with sorted keys and no
spaces. Pure: no clock, no ids, no I/O.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from services.access.audit.events import Entry

HASH_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the chain: whoever keeps it elsewhere can tell later that nothing up to it was changed."""

    sequence: int
    """Number of seals."""
    hash: bytes


START: Final = Head(0, bytes(HASH_BYTES))


@dataclass(frozen=True, slots=True)
class Seal:
    """A link of the chain."""

    sequence: int
    """From 1, without gaps."""
    event_id: UUID
    previous_hash: bytes
    hash: bytes

    @property
    def head(self) -> Head:
        """The end of a chain whose last link this is."""
        return Head(self.sequence, self.hash)


class Fault(StrEnum):
    """What is wrong with a place of the chain."""

    MISSING_SEAL = "missing_seal"
    """There is none of this sequence, and there are later ones."""
    OUT_OF_ORDER = "out_of_order"
    """The seal does not follow the one before it."""
    MISSING_EVENT = "missing_event"
    ALTERED = "altered"
    """The event is not the one that was sealed."""
    NOT_SEALED = "not_sealed"
    """The event is neither sealed nor waiting for it."""
    STILL_WAITING = "still_waiting"
    """The event is sealed, and was put among those that wait all the same."""
    HEAD_DIFFERS = "head_differs"
    """The chain does not contain the head that was kept."""


@dataclass(frozen=True, slots=True)
class Break:
    """The first place where the chain is not whole."""

    fault: Fault
    sequence: int
    """0 where the event has no seal."""
    event_id: UUID | None
    """None where it is not known any more."""


def document(entry: Entry) -> dict[str, object]:
    """An event as JSON has it."""
    return {name: _plain(value) for name, value in asdict(entry).items()}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return str(value) if isinstance(value, UUID) else value


def canonical(document: object) -> str:
    """The one way to write a document."""
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(previous_hash: bytes, entry: Entry) -> bytes:
    """The hash of a seal."""
    return hashlib.sha256(previous_hash + canonical(document(entry)).encode()).digest()


def line(entry: Entry, seal: Seal | None) -> str:
    """An event and its seal as a line of an export. Without `seal`, it is what the hash was made over."""
    written = document(entry)
    written["seal"] = None
    if seal is not None:
        written["seal"] = {
            "sequence": seal.sequence,
            "previous_hash": seal.previous_hash.hex(),
            "hash": seal.hash.hex(),
        }
    return canonical(written)


def chain(head: Head, entries: Iterable[Entry]) -> Iterator[Seal]:
    """Seals that follow a head, one for each event."""
    for entry in entries:
        seal = Seal(head.sequence + 1, entry.id, head.hash, digest(head.hash, entry))
        yield seal
        head = seal.head


def judge(head: Head, seal: Seal, entry: Entry | None) -> Break | None:
    """What is wrong with a seal that is found after a head, and with its event (None: it is gone)."""
    if seal.sequence != head.sequence + 1:
        return Break(Fault.MISSING_SEAL, head.sequence + 1, None)
    fault = None
    if seal.previous_hash != head.hash:
        fault = Fault.OUT_OF_ORDER
    elif entry is None:
        fault = Fault.MISSING_EVENT
    elif digest(seal.previous_hash, entry) != seal.hash:
        fault = Fault.ALTERED
    return None if fault is None else Break(fault, seal.sequence, seal.event_id)
