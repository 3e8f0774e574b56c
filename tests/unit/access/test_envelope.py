"""How secrets are sealed: what opens, and that nothing else does."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from services.access.vault.envelope import Keyring, Label, MasterKey, SealBroken, Sealed, WrappedKey

OLD, NEW = MasterKey(1, bytes(range(32))), MasterKey(2, bytes(range(1, 33)))
WRAPPED = (
    "5065f163311b199b7da68e2c6fd489df23918c3a2a6236694fefdc040cea"
    "208e25ff6dec88127b0c0e6badb55293d74a27a6ac67ce56b9c99d21cbe8"
)
CIPHERTEXT = "0cb272034f1a73d889488f5174c69cfd1425fe995c72367e8cd79fcb031d291148"
LABEL = Label(UUID(int=1), UUID(int=2), "api_key", "openrouter")


@given(st.binary(max_size=2000))
def test_what_was_sealed_opens_as_it_was(value: bytes) -> None:
    keyring = Keyring([OLD, NEW])
    assert keyring.open(LABEL, keyring.seal(LABEL, value)) == value


def test_the_same_value_is_never_sealed_the_same_way_twice() -> None:
    keyring = Keyring([OLD])
    first, second = (keyring.seal(LABEL, b"value") for _ in range(2))
    assert first.ciphertext != second.ciphertext
    assert first.key.data != second.key.data
    assert b"value" not in first.ciphertext


@given(st.data())
def test_nothing_opens_of_which_a_bit_was_changed(data: st.DataObject) -> None:
    keyring = Keyring([OLD])
    sealed = keyring.seal(LABEL, b"value")

    def flipped(content: bytes) -> bytes:
        place, bit = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(0, 7))
        return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]

    for broken in (
        Sealed(sealed.key, flipped(sealed.ciphertext)),
        Sealed(replace(sealed.key, data=flipped(sealed.key.data)), sealed.ciphertext),
    ):
        with pytest.raises(SealBroken):
            keyring.open(LABEL, broken)


@pytest.mark.parametrize("length", [0, 1, 11, 12, 27])
def test_what_was_cut_short_does_not_open(length: int) -> None:
    keyring = Keyring([OLD])
    sealed = keyring.seal(LABEL, b"value")
    for broken in (
        Sealed(sealed.key, sealed.ciphertext[:length]),
        Sealed(replace(sealed.key, data=sealed.key.data[:length]), sealed.ciphertext),
    ):
        with pytest.raises(SealBroken):
            keyring.open(LABEL, broken)


@pytest.mark.parametrize(
    "change",
    [
        {"secret_id": UUID(int=3)},
        {"organization_id": UUID(int=3)},
        {"kind": "git_token"},
        {"hint": "openai"},
    ],
)
def test_what_was_moved_to_another_row_does_not_open(change: dict[str, Any]) -> None:
    keyring = Keyring([OLD])
    sealed = keyring.seal(LABEL, b"value")
    moved = replace(LABEL, **change)
    with pytest.raises(SealBroken):
        keyring.open(moved, sealed)
    with pytest.raises(SealBroken):
        keyring.rewrap(moved, sealed.key)
    other = keyring.seal(moved, b"other")
    for mixed in (Sealed(sealed.key, other.ciphertext), Sealed(other.key, sealed.ciphertext)):
        for label in (LABEL, moved):
            with pytest.raises(SealBroken):
                keyring.open(label, mixed)


def test_a_key_opens_under_the_version_that_it_was_wrapped_with_alone() -> None:
    twins = Keyring([MasterKey(1, OLD.key), MasterKey(2, OLD.key)])
    sealed = twins.seal(LABEL, b"value")
    with pytest.raises(SealBroken):
        twins.open(LABEL, Sealed(replace(sealed.key, key_version=1), sealed.ciphertext))


def test_a_new_master_key_opens_what_was_rewrapped_and_needs_the_old_one_no_more() -> None:
    sealed = Keyring([OLD]).seal(LABEL, b"value")
    both, new = Keyring([NEW, OLD]), Keyring([NEW])
    assert both.open(LABEL, sealed) == b"value"
    with pytest.raises(SealBroken):
        new.open(LABEL, sealed)
    rewrapped = Sealed(both.rewrap(LABEL, sealed.key), sealed.ciphertext)
    assert rewrapped.key.key_version == both.newest == 2
    assert new.open(LABEL, rewrapped) == b"value"
    with pytest.raises(SealBroken):
        Keyring([OLD]).rewrap(LABEL, WrappedKey(1, rewrapped.key.data))


def test_the_key_of_one_organization_tells_nothing_of_anothers() -> None:
    assert (
        len({OLD.derive("org:a"), OLD.derive("org:b"), OLD.derive("digest"), NEW.derive("org:a"), OLD.key})
        == 5
    )


def test_a_fingerprint_is_known_again_by_whoever_has_the_key_alone() -> None:
    (first,) = Keyring([OLD]).fingerprints(b"digest")
    newest, before = Keyring([OLD, NEW]).fingerprints(b"digest")
    assert before == first != newest
    assert Keyring([NEW]).fingerprints(b"digest") == (newest,)
    assert first != b"digest"


@pytest.mark.parametrize("keys", [[], [OLD, OLD]])
def test_a_keyring_has_a_key_and_none_twice(keys: list[MasterKey]) -> None:
    with pytest.raises(ValueError, match=r"master key|twice"):
        Keyring(keys)


@pytest.mark.parametrize(("version", "length"), [(0, 32), (2**31, 32), (1, 31), (1, 33)])
def test_a_master_key_has_a_version_and_32_bytes(version: int, length: int) -> None:
    with pytest.raises(ValueError, match="master key"):
        MasterKey(version, bytes(length))


def test_master_keys_are_in_no_representation() -> None:
    assert "key=" not in repr(OLD)
    assert repr(OLD.key) not in repr(OLD)


def test_what_was_sealed_by_an_earlier_version_opens() -> None:
    key = WrappedKey(1, bytes.fromhex(WRAPPED))
    assert Keyring([OLD]).open(LABEL, Sealed(key, bytes.fromhex(CIPHERTEXT))) == b"value"


def test_a_data_key_is_wrapped_with_the_key_of_its_organization_alone() -> None:
    sealed = Keyring([OLD]).seal(LABEL, b"value")
    nonce, wrapped = sealed.key.data[:12], sealed.key.data[12:]
    of_organization = OLD.derive(f"org:{LABEL.organization_id}")
    data_key = AESGCM(of_organization).decrypt(nonce, wrapped, b"1\0" + LABEL.encoded())
    value = AESGCM(data_key).decrypt(sealed.ciphertext[:12], sealed.ciphertext[12:], LABEL.encoded())
    assert (len(data_key), value) == (32, b"value")
