"""The file of master keys: a line for each, its version and 32 bytes in base64. Empty lines and `#` lines are nothing.

Access reads it anew whenever it was replaced. A file that cannot be read then, or is not right, changes nothing: what
was read before goes on.
"""

import base64
import binascii
import logging
from collections.abc import Iterator
from pathlib import Path

from services.access.refusals import VaultClosed
from services.access.vault.envelope import Keyring, MasterKey
from services.shared.settings import Misconfigured, naming

log = logging.getLogger(__name__)

SETTING = "ACERVO_VAULT_KEYS_FILE"
_WRONG = "This must be a file with a line for each master key: its version, a space, and 32 bytes in base64."


class MasterKeys:
    """The master keys that the operator gave, if any."""

    def __init__(self, path: Path | None) -> None:
        """Raises Misconfigured where a file is named and not right."""
        self._path = path
        self._read: tuple[tuple[int, int], Keyring] | None = None
        if path is not None:
            with naming(SETTING, _WRONG, OSError):
                self._read = _load(path)

    def current(self) -> Keyring:
        """The keys as the file has them now. Raises VaultClosed where there is none."""
        if self._path is None or self._read is None:
            raise VaultClosed
        try:
            if _state(self._path) != self._read[0]:
                with naming(SETTING, _WRONG, OSError):
                    self._read = _load(self._path)
                log.info("read the vault's master keys", extra={"newest": self._read[1].newest})
        except (OSError, Misconfigured):
            log.exception("the vault's master keys cannot be read; those read before are used")
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


def _load(path: Path) -> tuple[tuple[int, int], Keyring]:
    state = _state(path)
    return state, parse(path.read_text())


def _state(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_mtime_ns, state.st_ino
