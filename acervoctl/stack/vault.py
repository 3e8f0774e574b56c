"""The master keys of a local stack's vault: one file, which access reads anew whenever it was replaced."""

import base64
import secrets

from acervoctl.stack.home import Home, write_private

_KEY_BYTES = 32


def ensure_key(home: Home) -> None:
    """Make the first master key, where there is none."""
    if not home.vault_keys.exists():
        add_key(home)


def add_key(home: Home) -> int:
    """Make a master key that is newer than all there are; return its version. Raises `OSError`."""
    before = home.vault_keys.read_text() if home.vault_keys.exists() else ""
    version = 1 + max((int(line.split()[0]) for line in before.splitlines()), default=0)
    key = base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()
    write_private(home.vault_keys, f"{before}{version} {key}\n")
    return version
