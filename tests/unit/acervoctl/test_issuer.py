"""Tokens of a local stack, checked by what the services check them with."""

import time
from collections.abc import Iterator

import pytest

from acervo_client import local
from acervoctl.stack import issuer
from acervoctl.stack.home import Home, temporary_home
from services.shared.auth import PrincipalKind, TokenVerifier, load_issuers
from services.shared.errors import Unauthenticated


@pytest.fixture
def home() -> Iterator[Home]:
    with temporary_home() as path:
        home = Home.at(path)
        home.create()
        yield home


def verifier(home: Home, service: str) -> TokenVerifier:
    return TokenVerifier(load_issuers(issuer.publish(home)), service)


async def test_a_persons_token_is_taken_by_every_service_as_the_same_person(home: Home) -> None:
    checks = [verifier(home, "ingest"), verifier(home, "access")]
    token = local.person_token(home.root, "ana")
    ana, again = [await check.verify(token) for check in checks]
    assert ana.kind is PrincipalKind.USER
    assert ana.user_id == again.user_id


async def test_a_services_token_is_taken_only_by_the_service_that_it_names(home: Home) -> None:
    ingest, access = verifier(home, "ingest"), verifier(home, "access")
    issuer.write_service_tokens(home, ["upload"], ["ingest"])
    token = (home.tokens / "upload" / "acervo-ingest").read_text()
    assert (await ingest.verify(token)).service == "upload"
    with pytest.raises(Unauthenticated):
        await access.verify(token)


async def test_the_key_of_people_cannot_make_a_service(home: Home) -> None:
    check = verifier(home, "ingest")
    forged = issuer.Issuer.load(home.keys, local.PEOPLE).sign("acervo:upload", "acervo-ingest", seconds=60)
    with pytest.raises(Unauthenticated):
        await check.verify(forged)


async def test_a_token_ends(home: Home) -> None:
    check = verifier(home, "ingest")
    signer = issuer.Issuer.load(home.keys, local.PEOPLE)
    with pytest.raises(Unauthenticated):
        await check.verify(signer.sign("ana", "acervo", seconds=60, now=time.time() - 600))


def test_keys_outlive_the_stack_so_that_people_keep_their_ids(home: Home) -> None:
    issuer.publish(home)
    first = issuer.Issuer.load(home.keys, local.PEOPLE).jwk()
    issuer.publish(home)
    assert issuer.Issuer.load(home.keys, local.PEOPLE).jwk() == first
