import base64
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import jwt
import pytest

from services.shared import auth, identity
from services.shared.auth import Issuer, IssuerKind, PrincipalKind, ServiceTokens, TokenVerifier, load_issuers
from services.shared.errors import Unauthenticated, Unavailable
from services.shared.jwks import REFRESH_SECONDS, RemoteKeys
from tests.signing import PEOPLE, Signer, Trust, rsa_key


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(tmp_path)


async def test_a_persons_token_names_the_person(trust: Trust) -> None:
    principal = await trust.verifier("ingest").verify(trust.person("ana"))
    assert principal.kind is PrincipalKind.USER
    assert principal.user_id == identity.user_id(PEOPLE, "ana")
    assert (principal.service, principal.agent_id) == (None, None)


async def test_the_same_subject_of_two_issuers_is_two_people() -> None:
    assert identity.user_id("https://one.example", "ana") != identity.user_id("https://two.example", "ana")


async def test_an_agents_token_names_agent_and_person(trust: Trust) -> None:
    agent = "0197f3a0-0000-7000-8000-000000000001"
    principal = await trust.verifier("ingest").verify(trust.people.sign(acervo_agent=agent))
    assert principal.kind is PrincipalKind.AGENT
    assert str(principal.agent_id) == agent
    assert principal.user_id == identity.user_id(PEOPLE, "ana")


async def test_a_services_token_names_the_service(trust: Trust) -> None:
    principal = await trust.verifier("ingest").verify(trust.service("upload", "ingest"))
    assert principal.kind is PrincipalKind.SERVICE
    assert principal.service == "upload"
    assert principal.user_id is None


async def test_rs256_is_taken(tmp_path: Path) -> None:
    trust = Trust(tmp_path)
    trust.people = Signer(PEOPLE, key=rsa_key())
    trust.publish()
    assert (await trust.verifier("ingest").verify(trust.person())).kind is PrincipalKind.USER


@pytest.mark.parametrize("typ", ["JWT", "jwt", "at+jwt", "application/at+jwt"])
async def test_a_token_says_that_it_is_one(trust: Trust, typ: str) -> None:
    await trust.verifier("ingest").verify(trust.people.sign(typ=typ))


async def test_a_token_never_shows_in_the_representation(trust: Trust) -> None:
    token = trust.person()
    assert token not in repr(await trust.verifier("ingest").verify(token))


def _unsigned(trust: Trust) -> str:
    claims = jwt.decode(trust.person(), options={"verify_signature": False})
    return jwt.encode(claims, "", algorithm="none", headers={"kid": "key-1"})


def _signed_with_the_public_key(trust: Trust) -> str:
    claims = jwt.decode(trust.person(), options={"verify_signature": False})
    secret = base64.urlsafe_b64decode(trust.people.jwk()["x"] + "==")
    return jwt.encode(claims, secret, algorithm="HS256", headers={"kid": "key-1"})


def _tampered(trust: Trust) -> str:
    head, _, signature = trust.person().split(".")
    claims = jwt.decode(trust.person(), options={"verify_signature": False})
    body = base64.urlsafe_b64encode(json.dumps({**claims, "sub": "root"}).encode()).rstrip(b"=").decode()
    return f"{head}.{body}.{signature}"


NOW = int(time.time())
REFUSED: dict[str, Callable[[Trust], str]] = {
    "nothing": lambda trust: "",
    "no token at all": lambda trust: "not.a.token",
    "not signed": _unsigned,
    "signed with the public key as a secret": _signed_with_the_public_key,
    "changed after signing": _tampered,
    "of another issuer": lambda trust: Signer("https://other.example").sign(),
    "signed by another key under the issuer's name": lambda trust: Signer(PEOPLE).sign(),
    "of an unknown key": lambda trust: trust.people.sign(kid="key-2"),
    "of another type": lambda trust: trust.people.sign(typ="logout+jwt"),
    "of another algorithm than the key's": lambda trust: Signer(PEOPLE, key=rsa_key()).sign(),
    "expired": lambda trust: trust.people.sign(iat=NOW - 7200, exp=NOW - 3600),
    "of the future": lambda trust: trust.people.sign(iat=NOW + 3600, exp=NOW + 7200),
    "not valid yet": lambda trust: trust.people.sign(nbf=NOW + 3600),
    "without an end": lambda trust: trust.people.sign(without="exp"),
    "without a beginning": lambda trust: trust.people.sign(without="iat"),
    "without a subject": lambda trust: trust.people.sign(without="sub"),
    "with an empty subject": lambda trust: trust.people.sign(sub=""),
    "with a subject that is no text": lambda trust: trust.people.sign(sub=7),
    "without an audience": lambda trust: trust.people.sign(without="aud"),
    "for somebody else": lambda trust: trust.people.sign(aud="other"),
    "without an issuer": lambda trust: trust.people.sign(without="iss"),
    "of an agent that is no id": lambda trust: trust.people.sign(acervo_agent="x"),
    "longer than any": lambda trust: trust.people.sign(padding="x" * 9000),
    "of a person for a service": lambda trust: trust.people.sign(aud="acervo-ingest"),
    "of a service for another service": lambda trust: trust.service("upload", "access"),
    "of a service for people": lambda trust: trust.services.sign(sub="acervo:upload"),
    "of a service for several": lambda trust: trust.services.sign(
        sub="acervo:upload", aud=["acervo-ingest", "acervo-access"]
    ),
    "of a service outside the prefix": lambda trust: trust.services.sign(sub="upload", aud="acervo-ingest"),
    "of a service nobody knows": lambda trust: trust.service("mallory", "ingest"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_token_is_refused_that_is(case: str, trust: Trust) -> None:
    with pytest.raises(Unauthenticated) as refusal:
        await trust.verifier("ingest").verify(REFUSED[case](trust))
    assert refusal.value.message == Unauthenticated().message


@pytest.mark.parametrize(
    ("claims", "taken"),
    [
        ({"iat": auth.LEEWAY_SECONDS}, True),
        ({"iat": auth.LEEWAY_SECONDS + 1}, False),
        ({"nbf": auth.LEEWAY_SECONDS}, True),
        ({"nbf": auth.LEEWAY_SECONDS + 1}, False),
        ({"exp": -auth.LEEWAY_SECONDS + 1}, True),
        ({"exp": -auth.LEEWAY_SECONDS}, False),
    ],
)
async def test_clocks_may_differ_by_the_leeway_and_no_more(
    trust: Trust, monkeypatch: pytest.MonkeyPatch, claims: dict[str, int], taken: bool
) -> None:
    moments: dict[str, Any] = {name: NOW + seconds for name, seconds in claims.items()}
    token = trust.people.sign(**moments)
    _stop_clock(monkeypatch, NOW)
    verified = trust.verifier("ingest").verify(token)
    if taken:
        assert (await verified).kind is PrincipalKind.USER
    else:
        with pytest.raises(Unauthenticated):
            await verified


def _stop_clock(monkeypatch: pytest.MonkeyPatch, now: float) -> None:
    """Have tokens judged at one moment."""

    class Stopped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Stopped":
            return cls.fromtimestamp(now, tz)

    monkeypatch.setattr("jwt.api_jwt.datetime", Stopped)


async def _taken(verifier: TokenVerifier, token: str) -> bool:
    try:
        await verifier.verify(token)
    except Unauthenticated:
        return False
    return True


@dataclass
class Two:
    """Two issuers of users and two of services, each with one key under the same key id."""

    users: tuple[Signer, Signer]
    services: tuple[Signer, Signer]
    verifier: TokenVerifier


@pytest.fixture
def two(tmp_path: Path) -> Two:
    users = (Signer("https://one.example"), Signer("https://two.example"))
    services = (Signer("https://three.example"), Signer("https://four.example"))
    entries = []
    for number, signer in enumerate((*users, *services)):
        (tmp_path / f"{number}.jwks").write_text(json.dumps({"keys": [signer.jwk()]}))
        entry = {"issuer": signer.issuer, "audience": "acervo", "jwks": f"{number}.jwks", "kind": "users"}
        entries.append(
            {**entry, "kind": "services", "subject_prefix": "sa:"} if signer in services else entry
        )
    (tmp_path / "issuers.json").write_text(json.dumps(entries))
    return Two(users, services, TokenVerifier(load_issuers(tmp_path / "issuers.json"), "ingest"))


async def test_several_issuers_of_users_and_of_services_are_trusted_at_once(two: Two) -> None:
    people = [await two.verifier.verify(signer.sign()) for signer in two.users]
    assert [one.user_id for one in people] == [identity.user_id(signer.issuer, "ana") for signer in two.users]
    for signer in two.services:
        caller = await two.verifier.verify(signer.sign(sub="sa:upload", aud="acervo-ingest"))
        assert (caller.kind, caller.service) == (PrincipalKind.SERVICE, "upload")


async def test_an_issuer_signs_tokens_of_its_own_kind_and_under_its_own_name_alone(two: Two) -> None:
    (first, second), (machine, _) = two.users, two.services
    assert not await _taken(two.verifier, first.sign(sub="sa:upload", aud="acervo-ingest"))
    assert not await _taken(two.verifier, machine.sign(sub="sa:upload"))
    assert not await _taken(two.verifier, machine.sign())
    assert not await _taken(two.verifier, first.sign(iss=second.issuer))
    assert not await _taken(
        two.verifier, first.sign(iss=machine.issuer, sub="sa:upload", aud="acervo-ingest")
    )
    assert not await _taken(two.verifier, machine.sign(iss=first.issuer))


async def test_two_issuers_of_one_name_are_told_apart_by_what_their_tokens_are_for(tmp_path: Path) -> None:
    """As a Kubernetes cluster is, whose one issuer signs for people and for service accounts."""
    signer = Signer("https://cluster.example")
    (tmp_path / "keys").write_text(json.dumps({"keys": [signer.jwk()]}))
    entry = {"issuer": signer.issuer, "audience": "acervo", "jwks": "keys", "kind": "users"}
    services = {**entry, "kind": "services", "subject_prefix": "sa:"}
    (tmp_path / "issuers.json").write_text(json.dumps([entry, services]))
    verifier = TokenVerifier(load_issuers(tmp_path / "issuers.json"), "ingest")
    assert (await verifier.verify(signer.sign())).kind is PrincipalKind.USER
    caller = await verifier.verify(signer.sign(sub="sa:upload", aud="acervo-ingest"))
    assert caller.kind is PrincipalKind.SERVICE
    assert not await _taken(verifier, signer.sign(sub="ana", aud="acervo-ingest"))


async def test_a_key_that_an_issuer_has_dropped_from_its_url_is_refused_after_the_refresh(
    trust: Trust, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = [trust.people]
    now = 0.0
    keys = RemoteKeys(lambda: json.dumps({"keys": [one.jwk() for one in published]}).encode(), lambda: now)
    monkeypatch.setattr(auth, "open_key_set", lambda *_: keys)
    verifier, old = trust.verifier("ingest"), trust.person()
    await verifier.verify(old)
    published[:] = [Signer(PEOPLE, kid="key-2")]
    assert await _taken(verifier, old)
    now = REFRESH_SECONDS
    assert not await _taken(verifier, old)
    assert await _taken(verifier, published[0].sign())


async def test_a_rotated_key_is_taken_and_the_old_one_refused(trust: Trust) -> None:
    verifier, old = trust.verifier("ingest"), trust.person()
    await verifier.verify(old)
    trust.people = Signer(PEOPLE, kid="key-2")
    trust.publish()
    assert (await verifier.verify(trust.person())).kind is PrincipalKind.USER
    with pytest.raises(Unauthenticated):
        await verifier.verify(old)


async def test_an_accepted_token_is_refused_once_it_has_expired(
    trust: Trust, eventually: Callable[..., Awaitable[None]]
) -> None:
    verifier = trust.verifier("ingest")
    ends_soon = int(time.time()) - auth.LEEWAY_SECONDS + 2
    token = trust.people.sign(iat=ends_soon - 60, exp=ends_soon)
    await verifier.verify(token)

    async def refused() -> bool:
        try:
            await verifier.verify(token)
        except Unauthenticated:
            return True
        return False

    assert not await refused()
    await eventually(refused)


async def test_without_the_issuers_keys_nobody_is_called_an_impostor(trust: Trust) -> None:
    (trust.directory / "people.jwks").unlink()
    with pytest.raises(Unavailable):
        await trust.verifier("ingest").verify(trust.person())


def test_outside_of_a_call_there_is_no_caller() -> None:
    with pytest.raises(Unauthenticated):
        auth.current()


def _write(directory: Path, **entry: str) -> Path:
    path = directory / "issuers.json"
    path.write_text(json.dumps([entry]))
    return path


def test_keys_over_plain_http_are_refused(tmp_path: Path) -> None:
    path = _write(tmp_path, issuer="x", audience="acervo", kind="users", jwks="http://x.example/keys")
    with pytest.raises(ValueError, match="https"):
        load_issuers(path)


@pytest.mark.parametrize(
    "entry",
    [
        {"issuer": "x", "audience": "acervo", "kind": "users"},
        {"issuer": "x", "audience": "acervo", "jwks": "keys"},
        {"issuer": "x", "audience": "acervo", "kind": "users", "jwks": "keys", "subject_prefx": "p"},
    ],
)
def test_an_issuer_with_a_field_too_few_or_too_many_is_refused(tmp_path: Path, entry: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="incomplete"):
        load_issuers(_write(tmp_path, **entry))


def test_an_issuer_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="robots"):
        load_issuers(_write(tmp_path, issuer="x", audience="acervo", kind="robots", jwks="keys"))


def test_services_need_a_prefix() -> None:
    with pytest.raises(ValueError, match="subject_prefix"):
        Issuer("x", "acervo", IssuerKind.SERVICES, "keys")


def test_an_own_token_is_read_again_once_it_was_rotated(tmp_path: Path) -> None:
    tokens, path = ServiceTokens(tmp_path), tmp_path / "acervo-ingest"
    path.write_text("one\n")
    assert tokens.token("ingest") == "one"
    fresh = tmp_path / "fresh"
    fresh.write_text("two\n")
    fresh.replace(path)
    assert tokens.token("ingest") == "two"


def test_without_an_own_token_the_peer_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        ServiceTokens(tmp_path).token("ingest")
