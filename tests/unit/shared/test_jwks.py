import asyncio
import json
import threading
from pathlib import Path

import pytest

from services.shared.jwks import REFRESH_SECONDS, RETRY_SECONDS, FileKeys, KeyUnknown, RemoteKeys, parse_jwks
from tests.signing import Signer, rsa_key


class Endpoint:
    """Serves keys as a remote issuer would, and counts how often it is asked."""

    def __init__(self, *signers: Signer) -> None:
        self.signers = list(signers)
        self.asked = 0
        self.down = False
        self.now = 1000.0
        self.waits_for: threading.Event | None = None
        self.asked_once = threading.Event()
        self.asked_twice = threading.Event()

    def fetch(self) -> bytes:
        self.asked += 1
        self.asked_once.set()
        if self.asked == 2:
            self.asked_twice.set()
        if self.waits_for is not None:
            self.waits_for.wait(20)
        if self.down:
            raise OSError("down")
        return json.dumps({"keys": [signer.jwk() for signer in self.signers]}).encode()

    def keys(self) -> RemoteKeys:
        return RemoteKeys(self.fetch, lambda: self.now)


async def test_keys_are_fetched_once_for_many_tokens() -> None:
    endpoint = Endpoint(Signer("i"))
    keys = endpoint.keys()
    for _ in range(3):
        await keys.find("key-1", "EdDSA")
    assert endpoint.asked == 1


async def test_an_unknown_key_is_looked_for_but_not_again_and_again() -> None:
    endpoint = Endpoint(Signer("i"))
    keys = endpoint.keys()
    await keys.find("key-1", "EdDSA")
    endpoint.now += RETRY_SECONDS
    for _ in range(3):
        with pytest.raises(KeyUnknown):
            await keys.find("key-2", "EdDSA")
    assert endpoint.asked == 2


async def test_a_new_key_is_found_without_a_restart() -> None:
    endpoint = Endpoint(Signer("i"))
    keys = endpoint.keys()
    await keys.find("key-1", "EdDSA")
    endpoint.signers.append(Signer("i", kid="key-2"))
    endpoint.now += RETRY_SECONDS
    await keys.find("key-2", "EdDSA")


async def test_a_dropped_key_is_gone_with_the_next_refresh() -> None:
    endpoint = Endpoint(Signer("i"))
    keys = endpoint.keys()
    await keys.find("key-1", "EdDSA")
    endpoint.signers[:] = [Signer("i", kid="key-2")]
    endpoint.now += REFRESH_SECONDS
    with pytest.raises(KeyUnknown):
        await keys.find("key-1", "EdDSA")


async def test_known_keys_serve_on_while_the_issuer_is_down() -> None:
    endpoint = Endpoint(Signer("i"))
    keys = endpoint.keys()
    await keys.find("key-1", "EdDSA")
    endpoint.down = True
    endpoint.now += REFRESH_SECONDS
    await keys.find("key-1", "EdDSA")
    assert endpoint.asked == 2


async def test_an_issuer_that_never_answered_is_an_outage_and_is_not_hammered() -> None:
    endpoint = Endpoint(Signer("i"))
    endpoint.down = True
    keys = endpoint.keys()
    for _ in range(3):
        with pytest.raises(OSError, match="fetched"):
            await keys.find("key-1", "EdDSA")
    assert endpoint.asked == 1


async def test_a_search_for_an_unknown_key_holds_up_nobody_else() -> None:
    endpoint, release = Endpoint(Signer("i")), threading.Event()
    keys = endpoint.keys()
    await keys.find("key-1", "EdDSA")
    endpoint.now += RETRY_SECONDS
    endpoint.waits_for = release
    stranger = asyncio.create_task(keys.find("key-2", "EdDSA"))
    try:
        await asyncio.to_thread(endpoint.asked_twice.wait, 10)
        await asyncio.wait_for(keys.find("key-1", "EdDSA"), 10)
        assert not stranger.done()
    finally:
        release.set()
    with pytest.raises(KeyUnknown):
        await stranger


async def test_keys_come_for_the_others_when_whoever_asked_first_goes() -> None:
    endpoint, release = Endpoint(Signer("i")), threading.Event()
    endpoint.waits_for = release
    keys = endpoint.keys()
    first, second = (asyncio.create_task(keys.find("key-1", "EdDSA")) for _ in range(2))
    await asyncio.to_thread(endpoint.asked_once.wait, 10)
    first.cancel()
    await asyncio.wait((first,))
    assert not second.done()
    release.set()
    await second
    assert endpoint.asked == 1


async def test_a_half_written_file_takes_no_key_away(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    keys = FileKeys(path)
    path.write_text('{"keys": [')
    with pytest.raises(OSError, match="no keys"):
        await keys.find("key-1", "EdDSA")
    path.write_text(json.dumps({"keys": [Signer("i").jwk()]}))
    known = await keys.find("key-1", "EdDSA")
    path.write_text('{"keys": [{')
    assert await keys.find("key-1", "EdDSA") is known


async def test_a_token_without_a_key_id_is_checked_with_the_only_key() -> None:
    await Endpoint(Signer("i")).keys().find(None, "EdDSA")
    with pytest.raises(KeyUnknown):
        await Endpoint(Signer("i"), Signer("i", kid="key-2")).keys().find(None, "EdDSA")


def test_unfit_keys_are_left_out() -> None:
    good = Signer("i", kid="good").jwk()
    listed = [
        good,
        {**Signer("i", kid="encrypts").jwk(), "use": "enc"},
        Signer("i", kid="short", key=rsa_key(1024)).jwk(),
        {"kty": "oct", "k": "c2VjcmV0", "kid": "secret"},
        {"kty": "EC", "kid": "broken"},
        "nonsense",
    ]
    assert set(parse_jwks(json.dumps({"keys": listed}).encode())) == {"good"}


@pytest.mark.parametrize("text", ["[]", "{}", '{"keys": null}', "nonsense"])
def test_what_is_no_key_set_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"JWKS|Expecting"):
        parse_jwks(text.encode())
