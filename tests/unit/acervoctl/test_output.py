"""What commands say when something goes wrong, and how they print what others named."""

import io
import json
import os
from pathlib import Path

import pytest
from typer import BadParameter

from acervo.common.v1.error_reason_pb2 import ErrorReason
from acervo.sync.v1.sources_pb2 import FailedFile, Run
from acervo_client import AcervoError, FieldError
from acervo_client.local import NotRunning
from acervoctl import encode
from acervoctl.errors import CommandError, Exit, interrupted
from acervoctl.output import counted, print_json, print_table, report, sentences, shown
from acervoctl.stack.errors import HomeBusy, StackError, StartFailed
from services.shared.pathtext import path_of

ERRORS = [
    (CommandError("there are no files", advice="Name some."), Exit.UNUSABLE, "no files. Name some.\n"),
    (CommandError("half of it", advice="See.", status=Exit.FAILED), Exit.FAILED, "half of it. See.\n"),
    (CommandError("an\x1b[31modd\nname", advice="Mend it."), Exit.UNUSABLE, "an\\x1b[31modd"),
    (StackError("[home] is full", "Make room."), Exit.UNUSABLE, "[home] is full. Make room.\n"),
    (NotRunning(Path("/h")), Exit.UNUSABLE, "runs in /h. Start one with `acervo up`.\n"),
    (HomeBusy(Path("/h"), 7), Exit.UNUSABLE, "(pid 7). Use or stop that one"),
    (StartFailed("nats", "does not start"), Exit.UNUSABLE, "does not start. Look at the logs"),
    (interrupted(), Exit.INTERRUPTED, "interrupted. Run it again"),
    (BadParameter("--x"), Exit.UNUSABLE, "See --help.\n"),
    (AcervoError("NOT_FOUND", "No such base."), Exit.UNUSABLE, "No such base. Check the id"),
    (AcervoError("UNAVAILABLE"), Exit.UNUSABLE, "Try again in a few seconds. (UNAVAILABLE)\n"),
    (
        AcervoError("FIELD_INVALID", "No.", fields=(FieldError("top_k", "is 0"),)),
        Exit.UNUSABLE,
        "No. top_k: is 0.",
    ),
    (ZeroDivisionError("oh"), Exit.UNUSABLE, "unexpected ZeroDivisionError: oh. Run it again with --debug"),
]


@pytest.mark.parametrize(("error", "status", "said"), ERRORS)
def test_every_error_is_one_line_and_an_exit_status(
    error: Exception, status: Exit, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(error) is status
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.startswith("error: ")
    assert written.err.count("\n") == 1
    assert said in written.err


@pytest.mark.parametrize(("error", "status", "said"), ERRORS)
def test_every_error_has_one_shape_for_scripts(
    error: Exception, status: Exit, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(error, as_json=True) is status
    written = capsys.readouterr()
    assert written.out == ""
    failure = json.loads(written.err)["error"]
    assert set(failure) == {"reason", "message", "advice"}
    assert failure["reason"]
    assert failure["message"]
    assert failure["advice"]


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("plain [1].txt", r"plain \[1].txt"),
        ("año 字.txt", "año 字.txt"),
        ("a\x1b[2Jb\r\nc\t\x07", r"a\x1b[2Jb\r\nc\t\x07"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("bad\udcff", r"bad\udcff"),
    ],
)
def test_what_others_named_is_printed_without_any_effect(name: str, printed: str) -> None:
    assert shown(name).replace("\\[", "[") == printed.replace("\\[", "[")


@pytest.mark.parametrize("encoding", ["ascii", "utf-8", "latin-1"])
def test_json_is_utf_8_wherever_it_is_written_and_different_paths_stay_different(encoding: str) -> None:
    names = [b"caf\xe9.txt", b"caf\xe8.txt", b"caf%E9.txt", "caf\u00e9.txt".encode()]
    paths = [Path(os.fsdecode(name)) for name in names]
    written = io.BytesIO()
    texts = {"paths": paths, "message": "no \udce9", "text": "lone \ud800 and %25"}
    terminal = io.TextIOWrapper(written, encoding=encoding, errors="strict")
    print_json(texts, terminal)
    read = json.loads(written.getvalue().decode("utf-8"))
    assert [os.fsencode(path_of(path)) for path in read["paths"]] == names
    assert (read["message"], read["text"]) == ("no %E9", "lone \ufffd and %25")


def test_every_reason_of_a_failed_file_or_run_has_its_sentence_and_its_advice() -> None:
    for reason in ErrorReason.values():
        assert all(encode.failure_of(reason, "").values())
    failed = [FailedFile(source_path="/a", reason="ERROR_REASON_NO_TEXT")]
    run = encode.run(Run(failed_files=failed, failure_reason="ERROR_REASON_SOURCE_UNREADABLE"))
    assert all(run["failure"].values())
    assert all(run["failed_files"][0].values())


def test_parts_of_a_message_are_ended_once_each() -> None:
    assert sentences("It failed", "Try again.") == "It failed. Try again."
    assert sentences("It failed.", "", "Try again") == "It failed. Try again"
    assert sentences("") == ""


def test_one_of_a_thing_is_no_plural() -> None:
    assert [counted(number, "file") for number in (0, 1, 2)] == ["0 files", "1 file", "2 files"]


def test_a_table_is_aligned_and_cuts_nothing_however_narrow_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    print_table(("id", "chunks", "file"), [("x" * 36, 7, "字.txt"), ("[b]", 12, "a\x1b b " * 9)])
    head, first, second = capsys.readouterr().out.splitlines()
    assert head == f"id{' ' * 34}  chunks  file"
    assert first == f"{'x' * 36}  7       字.txt"
    assert second == f"[b]{' ' * 33}  12      " + (r"a\x1b b " * 9).rstrip()
