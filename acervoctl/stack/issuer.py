"""The issuer of a local stack: signs tokens of people and of services, and publishes what checks them.

Two issuers with a key (Ed25519) each, so that a person's token can never pass as a service's. Whoever can
read the keys of a home can act as anybody in its stack.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from jwt.algorithms import OKPAlgorithm

from acervo_client import local
from acervo_client.local import PEOPLE
from acervoctl.stack.home import Home, write_private
from services.shared.identity import AUDIENCE, service_audience

SERVICES = "acervo-local-services"

SERVICE_TOKEN_SECONDS = 3600

_SUBJECT_PREFIX = "acervo:"


@dataclass(frozen=True, slots=True)
class Issuer:
    """Signs in the name of one issuer."""

    name: str
    key: Ed25519PrivateKey

    @classmethod
    def load_or_create(cls, keys: Path, name: str) -> "Issuer":
        """Read the key from the directory `keys`, or make it."""
        path = keys / f"{name}.pem"
        if not path.exists():
            write_private(
                path,
                Ed25519PrivateKey.generate().private_bytes(
                    serialization.Encoding.PEM,
                    serialization.PrivateFormat.PKCS8,
                    serialization.NoEncryption(),
                ),
            )
        return cls.load(keys, name)

    @classmethod
    def load(cls, keys: Path, name: str) -> "Issuer":
        """Read the key from the directory `keys`. Raises `OSError` where it may not be read."""
        return cls(name, local.load_key(keys, name))

    def sign(self, subject: str, audience: str, *, seconds: float, now: float | None = None) -> str:
        """Return a token of `subject` for `audience` that is good for so many seconds."""
        return local.sign(self.key, self.name, subject, audience, seconds=seconds, now=now)

    def jwk(self) -> dict[str, Any]:
        """The public key as a JWK."""
        key = OKPAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {**key, "kid": self.name, "use": "sig", "alg": "EdDSA"}


def publish(home: Home) -> Path:
    """Write the public keys and the list of trusted issuers; return the path of the list."""
    entries = []
    for name, kind, prefix in ((PEOPLE, "users", ""), (SERVICES, "services", _SUBJECT_PREFIX)):
        jwks = home.keys / f"{name}.jwks.json"
        write_private(jwks, json.dumps({"keys": [Issuer.load_or_create(home.keys, name).jwk()]}))
        entries.append(
            {"issuer": name, "audience": AUDIENCE, "kind": kind, "jwks": str(jwks), "subject_prefix": prefix}
        )
    path = home.keys / "issuers.json"
    write_private(path, json.dumps(entries, indent=2))
    return path


def write_service_tokens(home: Home, callers: Iterable[str], callees: Iterable[str]) -> None:
    """Write a fresh token of each caller for each callee, as `tokens/<caller>/<audience>`."""
    issuer = Issuer.load(home.keys, SERVICES)
    audiences = [service_audience(callee) for callee in callees]
    for caller in callers:
        directory = home.tokens / caller
        directory.mkdir(exist_ok=True, mode=0o700)
        for audience in audiences:
            token = issuer.sign(f"{_SUBJECT_PREFIX}{caller}", audience, seconds=SERVICE_TOKEN_SECONDS)
            write_private(directory / audience, token)
