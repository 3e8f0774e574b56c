"""How secrets are sealed: a random key for each value, itself encrypted with a key that one organization has.

Pure but for randomness: no clock, no I/O. AES-256-GCM throughout; a nonce stands before what it was used for.
"""

import hmac
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES: Final = 32
MAX_VERSION: Final = 2**31 - 1
_NONCE_BYTES: Final = 12


class SealBroken(Exception):
    """What was sealed does not open here: it was changed or moved, or its master key is not at hand."""


@dataclass(frozen=True, slots=True)
class Label:
    """What a value was sealed as. It opens as nothing else."""

    secret_id: UUID
    organization_id: UUID
    kind: str
    hint: str

    def encoded(self) -> bytes:
        """The same as bytes; no other label comes to the same ones."""
        return f"{self.secret_id}\0{self.organization_id}\0{self.kind}\0{self.hint}".encode()


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """A value's own key, encrypted with the master key of a version."""

    key_version: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed value."""

    key: WrappedKey
    ciphertext: bytes


@dataclass(frozen=True, slots=True)
class MasterKey:
    """What an operator keeps outside the database. Of two, the one of the higher version is newer."""

    version: int
    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.key) != KEY_BYTES:
            raise ValueError(f"a master key has {KEY_BYTES} bytes")
        if not 0 < self.version <= MAX_VERSION:
            raise ValueError(f"the version of a master key is 1 to {MAX_VERSION}")

    def derive(self, purpose: str) -> bytes:
        """A key for one purpose, which tells nothing of those for others."""
        info = f"acervo vault v{self.version} {purpose}".encode()
        return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(self.key)


class Keyring:
    """The master keys at hand. Everything is sealed with the newest one, and opened with the one it was sealed with."""

    def __init__(self, keys: Iterable[MasterKey]) -> None:
        """There must be one at least, and no version twice; raises ValueError."""
        self._keys: dict[int, MasterKey] = {}
        for key in keys:
            if key.version in self._keys:
                raise ValueError(f"version {key.version} is there twice")
            self._keys[key.version] = key
        if not self._keys:
            raise ValueError("there is no master key")
        self.newest = max(self._keys)

    def seal(self, label: Label, value: bytes) -> Sealed:
        """Encrypt a value under its label, with a key of its own."""
        data_key = AESGCM.generate_key(8 * KEY_BYTES)
        return Sealed(self._wrap(label, data_key), _encrypt(data_key, value, label.encoded()))

    def open(self, label: Label, sealed: Sealed) -> bytes:
        """What was sealed under the label. Raises SealBroken."""
        return _decrypt(self._unwrap(label, sealed.key), sealed.ciphertext, label.encoded())

    def rewrap(self, label: Label, key: WrappedKey) -> WrappedKey:
        """The same value's key, encrypted with the newest master key. Raises SealBroken."""
        return self._wrap(label, self._unwrap(label, key))

    def fingerprints(self, digest: bytes) -> tuple[bytes, ...]:
        """The digest under each master key, newest first: without one, nobody can try guesses against them."""
        keys = (self._keys[version].derive("digest") for version in sorted(self._keys, reverse=True))
        return tuple(hmac.digest(key, digest, "sha256") for key in keys)

    def _wrap(self, label: Label, data_key: bytes) -> WrappedKey:
        wrapping = self._wrapping_key(self.newest, label)
        return WrappedKey(self.newest, _encrypt(wrapping, data_key, _key_label(self.newest, label)))

    def _unwrap(self, label: Label, key: WrappedKey) -> bytes:
        if key.key_version not in self._keys:
            raise SealBroken
        wrapping = self._wrapping_key(key.key_version, label)
        return _decrypt(wrapping, key.data, _key_label(key.key_version, label))

    def _wrapping_key(self, version: int, label: Label) -> bytes:
        return self._keys[version].derive(f"org:{label.organization_id}")


def _key_label(version: int, label: Label) -> bytes:
    return b"%d\0%b" % (version, label.encoded())


def _encrypt(key: bytes, value: bytes, label: bytes) -> bytes:
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, value, label)


def _decrypt(key: bytes, data: bytes, label: bytes) -> bytes:
    try:
        return AESGCM(key).decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], label)
    except (InvalidTag, ValueError):
        raise SealBroken from None
