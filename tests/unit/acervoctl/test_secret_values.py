"""What a secret is to hold, as the command line puts it together."""

import io
from pathlib import Path

import pytest

from acervo.access.v1 import secrets_pb2 as pb
from acervoctl.commands.secret import KindName
from acervoctl.errors import CommandError
from acervoctl.secret_values import read_value

MARK = "sk-MARK"


def test_every_kind_of_the_contract_can_be_named() -> None:
    assert list(KindName) == [field.name for field in pb.SecretValue.DESCRIPTOR.fields]


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_fields_come_from_options_and_from_files_without_the_end_of_a_line(tmp_path: Path, end: str) -> None:
    path = tmp_path / "key"
    path.write_bytes(f"{MARK}{end}".encode())
    value = read_value("api_key", ["provider=openai"], [f"key={path}"], may_ask=False)
    assert value == pb.SecretValue(api_key=pb.ApiKey(provider="openai", key=MARK))


def test_a_field_comes_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{MARK}\n".encode())))
    value = read_value("notion_token", [], ["token=-"], may_ask=True)
    assert value == pb.SecretValue(notion_token=pb.NotionToken(token=MARK))


def test_what_holds_nothing_is_of_its_kind_all_the_same() -> None:
    assert read_value("notion_token", [], [], may_ask=False).WhichOneof("value") == "notion_token"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("aws_credentials", ["access_key_id", "secret_access_key"]),
        ("azure_credentials", []),
        ("git_token", ["token"]),
    ],
)
def test_what_is_secret_and_needed_is_asked_for_on_a_terminal_unseen(
    monkeypatch: pytest.MonkeyPatch, kind: str, asked: list[str]
) -> None:
    heard = []

    def prompt(name: str, *, hide_input: bool, err: bool) -> str:
        assert hide_input
        assert err
        heard.append(name)
        return MARK

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("typer.prompt", prompt)
    read_value(kind, [], [], may_ask=False)
    assert heard == []
    value = read_value(kind, [], [], may_ask=True)
    assert heard == asked
    assert all(getattr(getattr(value, kind), name) == MARK for name in asked)


@pytest.mark.parametrize(
    ("given", "files", "reason"),
    [
        ([f"key={MARK}"], [], "USAGE"),
        ([MARK], [], "USAGE"),
        ([f"{MARK}=1"], [], "USAGE"),
        ([], [MARK], "USAGE"),
        ([], ["key=/nowhere"], "FILE_UNREADABLE"),
        ([], ["key=/"], "FILE_UNREADABLE"),
        ([], ["key={binary}"], "FILE_UNREADABLE"),
    ],
)
def test_what_cannot_be_meant_is_refused_without_a_word_of_what_was_given(
    tmp_path: Path, given: list[str], files: list[str], reason: str
) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe" + MARK.encode())
    with pytest.raises(CommandError) as refused:
        read_value("api_key", given, [one.format(binary=binary) for one in files], may_ask=False)
    assert refused.value.reason == reason
    assert MARK not in refused.value.message + refused.value.advice
