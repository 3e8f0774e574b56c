"""The file of master keys: read, read anew, and refused without a word of what stands in it."""

import base64
import logging
from pathlib import Path

import pytest

from services.access.refusals import VaultClosed
from services.access.vault.master_keys import MasterKeys, parse
from services.shared.settings import Misconfigured

FIRST, SECOND = (
    f"{version} {base64.b64encode(bytes(range(version, version + 32))).decode()}" for version in (1, 2)
)


def write(path: Path, *lines: str) -> None:
    fresh = path.with_name("fresh")
    fresh.write_text("\n".join(lines))
    fresh.replace(path)


def test_a_line_is_a_key_and_comments_are_none() -> None:
    assert parse(f"# of 2026\n\n{FIRST}\n  {SECOND}  \n").newest == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# none",
        "1",
        FIRST.partition(" ")[2],
        f"{FIRST} more",
        "1 c2hvcnQ=",
        f"0{FIRST[1:]}",
        f"x{FIRST[1:]}",
        f"{FIRST}\n{FIRST}",
        "1 !" + FIRST[3:],
        " ".join(reversed(FIRST.split())),
    ],
)
def test_what_is_no_such_file_is_refused_without_a_word_of_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys"
    path.write_text(text)
    with pytest.raises(Misconfigured, match="ACERVO_VAULT_KEYS_FILE") as refused:
        MasterKeys(path)
    told, error = "", refused.value.__cause__
    while error is not None:
        told, error = told + str(error), error.__cause__
    assert not any(
        len(word) > 8 and word in str(refused.value) + told for word in text.split() if word != "more"
    )


def test_without_a_file_the_vault_is_closed_until_there_is_one(tmp_path: Path) -> None:
    with pytest.raises(VaultClosed):
        MasterKeys(None).current()
    path = tmp_path / "keys"
    keys = MasterKeys(path)
    with pytest.raises(VaultClosed):
        keys.current()
    write(path, FIRST)
    assert keys.current().newest == 1


def test_what_can_be_no_file_of_keys_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured):
        MasterKeys(tmp_path)


def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    write(path, FIRST)
    keys = MasterKeys(path)
    first = keys.current()
    assert keys.current() is first
    write(path, FIRST, SECOND)
    assert (first.newest, keys.current().newest) == (1, 2)


@pytest.mark.parametrize("broken", [True, False])
def test_keys_that_were_read_outlast_a_file_that_cannot_be_read_any_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, broken: bool
) -> None:
    path = tmp_path / "keys"
    write(path, FIRST)
    keys = MasterKeys(path)
    if broken:
        write(path, "1 " + SECOND[2:-8])
    else:
        path.unlink()
    with caplog.at_level(logging.DEBUG):
        assert keys.current().newest == 1
    assert "cannot be read" in caplog.text
    assert SECOND[2:-8] not in caplog.text
