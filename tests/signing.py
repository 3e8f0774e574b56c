"""Token issuers for tests: they sign whatever they are told to, right or wrong."""

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import OKPAlgorithm, RSAAlgorithm

from services.shared.auth import ServiceTokens, TokenVerifier, load_issuers
from services.shared.identity import AUDIENCE, service_audience

PEOPLE = "https://people.example"
SERVICES = "https://services.example"
PREFIX = "acervo:"


def rsa_key(bits: int = 2048) -> RSAPrivateKey:
    return generate_private_key(public_exponent=65537, key_size=bits)


@dataclass
class Signer:
    """One issuer with one key."""

    issuer: str
    kid: str = "key-1"
    key: Ed25519PrivateKey | RSAPrivateKey = field(default_factory=Ed25519PrivateKey.generate)

    @property
    def algorithm(self) -> str:
        return "RS256" if isinstance(self.key, RSAPrivateKey) else "EdDSA"

    def jwk(self) -> dict[str, Any]:
        if isinstance(self.key, RSAPrivateKey):
            return {**RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True), "kid": self.kid}
        return {**OKPAlgorithm.to_jwk(self.key.public_key(), as_dict=True), "kid": self.kid}

    def sign(self, *, kid: str | None = None, typ: str = "JWT", without: str = "", **changes: object) -> str:
        """A token for an hour; claims are changed as given and `without` one of them."""
        now = int(time.time())
        claims: dict[str, object] = {
            "iss": self.issuer,
            "sub": "ana",
            "aud": AUDIENCE,
            "iat": now,
            "exp": now + 3600,
        }
        claims.update(changes)
        claims.pop(without, None)
        return jwt.encode(
            claims, self.key, algorithm=self.algorithm, headers={"kid": kid or self.kid, "typ": typ}
        )


class Trust:
    """A deployment's issuers, in a directory of a test's own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.people = Signer(PEOPLE)
        self.services = Signer(SERVICES)
        self.issuers = directory / "issuers.json"
        self.publish()

    def publish(self) -> None:
        """Write the public keys and the list of issuers."""
        for name, signer in (("people", self.people), ("services", self.services)):
            (self.directory / f"{name}.jwks").write_text(json.dumps({"keys": [signer.jwk()]}))
        people = {"issuer": PEOPLE, "audience": AUDIENCE, "kind": "users", "jwks": "people.jwks"}
        services = {"issuer": SERVICES, "audience": AUDIENCE, "kind": "services", "jwks": "services.jwks"}
        self.issuers.write_text(json.dumps([people, {**services, "subject_prefix": PREFIX}]))

    def verifier(self, service: str) -> TokenVerifier:
        return TokenVerifier(load_issuers(self.issuers), service)

    def person(self, subject: str = "ana") -> str:
        return self.people.sign(sub=subject)

    def service(self, caller: str, callee: str) -> str:
        return self.services.sign(sub=f"{PREFIX}{caller}", aud=service_audience(callee))

    def service_tokens(self, caller: str, *callees: str) -> ServiceTokens:
        """The directory of `caller`'s own tokens, filled for `callees`."""
        directory = self.directory / "tokens" / caller
        directory.mkdir(parents=True, exist_ok=True)
        for callee in callees:
            (directory / service_audience(callee)).write_text(self.service(caller, callee))
        return ServiceTokens(directory)
