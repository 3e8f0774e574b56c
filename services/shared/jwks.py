"""The public keys of an issuer, from a JWKS file or https URL: read again when there may be new ones."""

import asyncio
import json
import logging
import ssl
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

log = logging.getLogger(__name__)

PublicKey: TypeAlias = Ed25519PublicKey | RSAPublicKey

ALGORITHMS: Final[Mapping[str, type[Ed25519PublicKey] | type[RSAPublicKey]]] = {
    "EdDSA": Ed25519PublicKey,
    "RS256": RSAPublicKey,
}
MIN_RSA_BITS: Final = 2048
REFRESH_SECONDS: Final = 300.0
RETRY_SECONDS: Final = 10.0
FETCH_TIMEOUT_SECONDS: Final = 5.0
MAX_BYTES: Final = 1 << 20


class KeyUnknown(Exception):
    """The issuer has no such key, or it is of another type than the algorithm asks for."""


class KeySet(Protocol):
    """Where the keys of one issuer are found."""

    async def find(self, kid: str | None, algorithm: str) -> PublicKey:
        """The key with this id (the only one, where no id is given).

        Raises KeyUnknown, or OSError without keys.
        """


def open_key_set(address: str, ca_file: str | None = None, token_file: str | None = None) -> KeySet:
    """The keys at a path or https URL; nothing is read before the first token."""
    if address.startswith("https://"):
        return RemoteKeys(lambda: _fetch(address, ca_file, token_file))
    return FileKeys(Path(address))


class FileKeys:
    """The keys of a file. Looks at the file's change time at each token, so that rotation needs no restart.

    Keys that were read once stay in use while the file is half written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._version: tuple[int, int, int] | None = None
        self._keys: Mapping[str, PublicKey] = {}

    async def find(self, kid: str | None, algorithm: str) -> PublicKey:
        """See KeySet."""
        state = self._path.stat()
        version = (state.st_mtime_ns, state.st_size, state.st_ino)
        if version != self._version:
            try:
                self._keys = parse_jwks(self._path.read_bytes())
                self._version = version
            except ValueError as error:
                if not self._keys:
                    raise OSError(f"{self._path} holds no keys: {error}") from error
                log.warning("keys cannot be read", extra={"why": str(error)})
        return select(self._keys, kid, algorithm)


class RemoteKeys:
    """Keys that are fetched off the event loop: each five minutes, for an unknown key each ten seconds.

    Keys that were fetched once stay in use while the issuer does not answer.
    """

    def __init__(self, fetch: Callable[[], bytes], clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._clock = clock
        self._loading: asyncio.Task[None] | None = None
        self._keys: Mapping[str, PublicKey] = {}
        self._tried = float("-inf")

    async def find(self, kid: str | None, algorithm: str) -> PublicKey:
        """See KeySet. While one caller waits for the issuer, those whose keys are known go on."""
        if not self._keys or self._clock() - self._tried >= REFRESH_SECONDS:
            await self._refresh(REFRESH_SECONDS)
        try:
            return select(self._keys, kid, algorithm)
        except KeyUnknown:
            await self._refresh(RETRY_SECONDS)
            return select(self._keys, kid, algorithm)

    async def _refresh(self, age: float) -> None:
        now = self._clock()
        if self._loading is None and now - self._tried >= (age if self._keys else RETRY_SECONDS):
            self._tried = now
            self._loading = asyncio.create_task(self._load())
        if self._loading is not None:
            await asyncio.shield(self._loading)  # whoever stops waiting leaves the keys to the others
        if not self._keys:
            raise OSError("keys could not be fetched")

    async def _load(self) -> None:
        try:
            self._keys = parse_jwks(await asyncio.to_thread(self._fetch))
        except (OSError, ValueError) as error:
            log.warning("keys cannot be fetched", extra={"why": str(error)})
        finally:
            self._loading = None


def _fetch(url: str, ca_file: str | None, token_file: str | None) -> bytes:
    headers = {"accept": "application/json"}
    if token_file:
        headers["authorization"] = f"Bearer {Path(token_file).read_text().strip()}"
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - https alone, checked when loaded
    context = ssl.create_default_context(cafile=ca_file)
    with urllib.request.urlopen(request, timeout=FETCH_TIMEOUT_SECONDS, context=context) as answer:  # noqa: S310
        body: bytes = answer.read(MAX_BYTES + 1)
    if len(body) > MAX_BYTES:
        raise ValueError("key set is too large")
    return body


def parse_jwks(text: bytes) -> Mapping[str, PublicKey]:
    """The usable keys of a JWKS by id.

    Keys of other types and uses are left out; ValueError where it is no JWKS.
    """
    document = json.loads(text)
    listed = document.get("keys") if isinstance(document, dict) else None
    if listed is None:
        raise ValueError("not a JWKS")
    keys = ((str(entry.get("kid", "")), _public_key(entry)) for entry in listed if isinstance(entry, dict))
    return {kid: key for kid, key in keys if key is not None}


def _public_key(entry: Mapping[str, Any]) -> PublicKey | None:
    if entry.get("use", "sig") != "sig" or "d" in entry:
        return None
    try:
        key = jwt.PyJWK(dict(entry)).key
    except jwt.PyJWTError:
        return None
    if isinstance(key, Ed25519PublicKey) or (isinstance(key, RSAPublicKey) and key.key_size >= MIN_RSA_BITS):
        return key
    return None


def select(keys: Mapping[str, PublicKey], kid: str | None, algorithm: str) -> PublicKey:
    """The key to check a signature with. The token's algorithm must belong to the key's type."""
    key = keys.get(kid) if kid is not None else next(iter(keys.values())) if len(keys) == 1 else None
    if key is None or not isinstance(key, ALGORITHMS[algorithm]):
        raise KeyUnknown(f"no {algorithm} key {kid!r}")
    return key
