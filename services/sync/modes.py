"""What a run does with a file that it finds, by its mode. One rule for every connector.

The question is put twice, since fetching a file may cost as much as indexing it: before a byte is fetched, and
again with the hash of what was fetched.
"""

from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    """What a run takes."""

    NEW_ONLY = "new_only"
    """New and changed files."""
    UPDATE_ONLY = "update_only"
    """Changed files of which the base holds a document; new ones are ignored."""
    FULL = "full"
    """Every file, compared with nothing; documents whose file is gone are removed."""


@dataclass(frozen=True, slots=True)
class Held:
    """What the base holds of a file: the document's hash and the change signal that went with it.

    `sha256` is None where the document has none that can be trusted, because indexing it failed. `signal` is
    empty where the connector offered none.
    """

    sha256: bytes | None
    signal: str


def worth_fetching(mode: Mode, signal: str, held: Held | None) -> bool:
    """Whether a listed file's bytes are needed. A signal that is equal stands for equal bytes."""
    if mode is Mode.FULL:
        return True
    if held is None:
        return mode is Mode.NEW_ONLY
    return held.sha256 is None or not signal or signal != held.signal


def worth_taking(mode: Mode, sha256: bytes, held: Held | None) -> bool:
    """Whether a fetched file is indexed. A document without a hash is taken again: it may have changed."""
    return mode is Mode.FULL or held is None or held.sha256 != sha256
