"""The file of master keys: a line for each, its version and 32 bytes in base64. Empty lines and `#` lines are nothing.

Access reads it anew whenever it was replaced, and as soon as it is there at all. A file that cannot be read then, or is
not right, changes nothing: what was read before goes on.
"""

import base64
import binascii
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from services.access.refusals import VaultClosed
from services.access.vault.envelope import Keyring, MasterKey
from services.shared.settings import naming

log = logging.getLogger(__name__)

_State: TypeAlias = tuple[int, int]

SETTING = "ACERVO_VAULT_KEYS_FILE"
_WRONG = "This must be a file with a line for each master key: its version, a space, and 32 bytes in base64."


class MasterKeys:
    """The master keys that the operator gave, if any."""

    def __init__(self, path: Path | None) -> None:
        """Raises Misconfigured where the file is there and not right."""
        self._path = path
        self._read: tuple[_State, Keyring] | None = None
        if path is None:
            return
        try:
            with naming(SETTING, _WRONG, PermissionError, IsADirectoryError):
                self._read = _load(path)
        except OSError as error:
            log.warning("the vault is closed: there is no file of master keys", extra={"why": str(error)})

    def current(self) -> Keyring:
        """The keys as the file has them now. Raises VaultClosed where there is none."""
        if self._path is None:
            raise VaultClosed
        try:
            if self._read is None or _state(self._path) != self._read[0]:
                self._read = _load(self._path)
                log.info("read the vault's master keys", extra={"newest": self._read[1].newest})
        except (OSError, ValueError):
            log.exception("the vault's master keys cannot be read")
        if self._read is None:
            raise VaultClosed
        return self._read[1]


def parse(text: str) -> Keyring:
    """Read what stands in such a file. Raises ValueError, which holds none of it."""
    return Keyring(_keys(text))


def _keys(text: str) -> Iterator[MasterKey]:
    for line in text.splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            version, encoded = words
            key = MasterKey(int(version), base64.b64decode(encoded, validate=True))
        except (ValueError, binascii.Error):
            raise ValueError(_WRONG) from None
        yield key


def _load(path: Path) -> tuple[_State, Keyring]:
    state = _state(path)
    return state, parse(path.read_text())


def _state(path: Path) -> _State:
    state = path.stat()
    return state.st_mtime_ns, state.st_ino
