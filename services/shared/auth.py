"""Who calls: signed tokens (JWT, EdDSA or RS256), checked against the issuers that are trusted.

A user's token has the deployment as its audience (`acervo`); a service's own token names the service that
it calls (`acervo-ingest`), so that no service can pass on a token it was given. Why a token was refused
goes to the log, never to the caller.
"""

import json
import logging
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import jwt

from services.shared.errors import Unauthenticated, Unavailable
from services.shared.identity import AGENT_CLAIM, service_audience, user_id
from services.shared.jwks import ALGORITHMS, KeySet, KeyUnknown, PublicKey, open_key_set
from services.shared.settings import Misconfigured

log = logging.getLogger(__name__)

SERVICES: Final = frozenset({"access", "upload", "ingest", "vectorstore", "sync", "gateway"})
LEEWAY_SECONDS: Final = 30
MAX_TOKEN_LENGTH: Final = 8192
MAX_REMEMBERED: Final = 1024
# What a token may say that it is, if it says anything. Others, such as a logout's or a proof's, let nobody in.
_TYPES: Final = frozenset({"jwt", "at+jwt"})


class PrincipalKind(StrEnum):
    """What sort of caller holds a token."""

    USER = "user"
    AGENT = "agent"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller whose token was accepted.

    `user_id` is set for users and agents (the person it acts for), `agent_id` for agents, `service` for
    services.
    """

    kind: PrincipalKind
    subject: str
    user_id: UUID | None
    agent_id: UUID | None
    service: str | None
    token: str = field(repr=False)

    @property
    def id(self) -> str:
        """What tells this caller from every other one: a person's or an agent's UUID, a service's name."""
        return str(self.agent_id or self.user_id or self.service)


class IssuerKind(StrEnum):
    """Whose tokens an issuer signs."""

    USERS = "users"
    SERVICES = "services"


@dataclass(frozen=True, slots=True)
class Issuer:
    """An issuer that is trusted, for users or for services.

    `audience` is the deployment's; a service's token must name `<audience>-<called service>` instead, and
    nothing else. `jwks` is a path or an https URL, fetched with `ca_file` and the bearer token in
    `token_file` where those are given. A service's `sub` is `subject_prefix` and the name of the service.
    """

    issuer: str
    audience: str
    kind: IssuerKind
    jwks: str
    subject_prefix: str = ""
    ca_file: str | None = None
    token_file: str | None = None

    def __post_init__(self) -> None:
        if self.kind is IssuerKind.SERVICES and not self.subject_prefix:
            raise ValueError(f"issuer {self.issuer!r}: services need a subject_prefix")


_current: ContextVar[Principal] = ContextVar("principal")


def current() -> Principal:
    """Who makes the call that this task works for. Raises Unauthenticated where no token was asked for."""
    try:
        return _current.get()
    except LookupError:
        raise Unauthenticated from None


def enter(principal: Principal) -> None:
    """Make `principal` the caller of this task and of those it starts."""
    _current.set(principal)


def load_issuers(path: Path) -> tuple[Issuer, ...]:
    """Read the trusted issuers: a JSON list of objects with the fields of `Issuer`.

    Relative paths start at the file. Raises Misconfigured where it is not there, an entry is not right or a URL is not
    https.
    """
    try:
        entries: list[dict[str, Any]] = json.loads(path.read_text())
        return tuple(_issuer(entry, path.parent) for entry in entries)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise Misconfigured("ACERVO_ISSUERS", f"The trusted issuers cannot be read: {error}") from error


def _issuer(entry: Mapping[str, Any], base: Path) -> Issuer:
    try:
        issuer = Issuer(**{**entry, "kind": IssuerKind(entry["kind"])})
    except (KeyError, TypeError) as error:
        raise ValueError(f"a trusted issuer is incomplete or has a field too many: {error}") from error
    if "://" not in issuer.jwks:
        return replace(issuer, jwks=str(base / issuer.jwks))
    if not issuer.jwks.startswith("https://"):
        raise ValueError(f"issuer {issuer.issuer!r}: keys are fetched over https alone")
    return issuer


@dataclass(frozen=True, slots=True)
class _Accepted:
    principal: Principal
    keys: KeySet
    kid: str | None
    algorithm: str
    key: PublicKey
    expires: float


class TokenVerifier:
    """Checks the tokens that callers of one service present.

    A token that was accepted is remembered: while it lasts, and its issuer still has the key that signed
    it, its signature is not computed again.
    """

    def __init__(self, issuers: Sequence[Issuer], service: str) -> None:
        self._service = service
        self._accepted: dict[str, _Accepted] = {}
        self._trusted: list[tuple[Issuer, str, KeySet]] = [
            (issuer, self._audience(issuer), open_key_set(issuer.jwks, issuer.ca_file, issuer.token_file))
            for issuer in issuers
        ]

    async def verify(self, token: str) -> Principal:
        """Who presents this token.

        Raises Unauthenticated, or Unavailable where an issuer's keys cannot be had.
        """
        try:
            accepted = self._accepted.get(token)
            if accepted is None or not await _still_good(accepted):
                accepted = await self._check(token)
                self._remember(token, accepted)
        except (jwt.PyJWTError, KeyUnknown, _RefusedError, ValueError) as error:
            self._accepted.pop(token, None)
            log.info("token refused", extra={"why": f"{type(error).__name__}: {error}"})
            raise Unauthenticated from None
        except OSError as error:
            log.warning("an issuer's keys cannot be read", extra={"why": str(error)})
            raise Unavailable from error
        return accepted.principal

    def _remember(self, token: str, accepted: _Accepted) -> None:
        if len(self._accepted) >= MAX_REMEMBERED:
            self._accepted.clear()
        self._accepted[token] = accepted

    async def _check(self, token: str) -> _Accepted:
        if len(token) > MAX_TOKEN_LENGTH:
            raise _RefusedError("longer than any token")
        header = jwt.get_unverified_header(token)
        if str(header.get("typ", "JWT")).lower().removeprefix("application/") not in _TYPES:
            raise _RefusedError("is no access token")
        algorithm, kid = str(header.get("alg")), header.get("kid")
        if algorithm not in ALGORITHMS:
            raise _RefusedError("algorithm is not allowed")
        issuer, audience, keys = self._choose(jwt.decode(token, options={"verify_signature": False}))
        key = await keys.find(kid, algorithm)
        claims = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            audience=audience,
            issuer=issuer.issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "iat", "sub", "aud", "iss"]},
        )
        return _Accepted(_principal(issuer, claims, token), keys, kid, algorithm, key, float(claims["exp"]))

    def _audience(self, issuer: Issuer) -> str:
        return issuer.audience if issuer.kind is IssuerKind.USERS else f"{issuer.audience}-{self._service}"

    def _choose(self, claims: Mapping[str, Any]) -> tuple[Issuer, str, KeySet]:
        named = claims.get("aud")
        audiences = [named] if isinstance(named, str) else named
        if not isinstance(audiences, list):
            raise _RefusedError("names no audience")
        for issuer, audience, keys in self._trusted:
            if issuer.issuer != claims.get("iss"):
                continue
            if audiences == [audience] or (issuer.kind is IssuerKind.USERS and audience in audiences):
                return issuer, audience, keys
        raise _RefusedError("issuer or audience is not trusted")


async def _still_good(accepted: _Accepted) -> bool:
    key = await accepted.keys.find(accepted.kid, accepted.algorithm)
    return key is accepted.key and time.time() < accepted.expires + LEEWAY_SECONDS


def _principal(issuer: Issuer, claims: Mapping[str, Any], token: str) -> Principal:
    subject = claims["sub"]
    if not subject:
        raise _RefusedError("subject is empty")
    if issuer.kind is IssuerKind.SERVICES:
        service = subject.removeprefix(issuer.subject_prefix)
        if service == subject or service not in SERVICES:
            raise _RefusedError("subject is not a service")
        return Principal(PrincipalKind.SERVICE, subject, None, None, service, token)
    person = user_id(issuer.issuer, subject)
    if AGENT_CLAIM in claims:
        agent = UUID(str(claims[AGENT_CLAIM]))
        return Principal(PrincipalKind.AGENT, subject, person, agent, None, token)
    return Principal(PrincipalKind.USER, subject, person, None, None, token)


class _RefusedError(Exception):
    """Why a token is not accepted, for the log."""


class ServiceTokens:
    """This service's own tokens: one file for each audience, read anew whenever it was rotated."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._read: dict[str, tuple[tuple[int, int], str]] = {}

    def token(self, service: str) -> str:
        """The token to call `service` with. Raises Unavailable while there is none."""
        audience = service_audience(service)
        path = self._directory / audience
        try:
            state = path.stat()
            version = (state.st_mtime_ns, state.st_ino)
            known = self._read.get(audience)
            if known is None or known[0] != version:
                known = self._read[audience] = (version, path.read_text().strip())
        except OSError as error:
            log.warning("own token cannot be read", extra={"audience": audience, "why": str(error)})
            raise Unavailable from error
        return known[1]
