"""The command line as people and scripts use it: real processes, real services."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path

import psutil
import pytest

from acervo_client import BlockingClient
from acervoctl.stack.home import temporary_home
from acervoctl.stack.ports import free_port
from acervoctl.stack.services import ALL
from tests.e2e.commands import ACERVO, SECONDS, acervo, answer, answered

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """The home of a stack that `acervo up` runs; at the end Ctrl-C must stop it well and leave nothing."""
    with temporary_home("acervo-cli-") as path:
        command = (*ACERVO, "up", "--json", "--home", str(path), "--port", str(free_port(set())))
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as up:
            assert up.stdout is not None
            lines: list[str] = []
            while not lines or lines[-1] != "}\n":
                lines.append(up.stdout.readline())
                assert lines[-1], "up ended before it was ready"
            assert json.loads("".join(lines))["pid"] == up.pid
            children = psutil.Process(up.pid).children(recursive=True)
            yield path
            up.send_signal(signal.SIGINT)
            assert up.wait(SECONDS) == 0
        assert not any(child.is_running() for child in children)


def test_a_second_up_says_which_pid_runs(home: Path) -> None:
    pid = json.loads((home / "stack.json").read_text())["pid"]
    again = acervo(home, "up")
    assert again.returncode == 2
    assert (
        again.stderr
        == f"error: a stack runs in {home} already (pid {pid}). Use or stop that one, or name another --home.\n"
    )


def test_what_was_ingested_is_listed_and_found_with_file_and_page(home: Path) -> None:
    ingested = answer(home, "ingest", EXAMPLES / "documents", "--collection", "library")
    assert ingested["counts"] == {"done": len(ingested["files"]), "error": 0, "refused": 0}
    assert all(file["chunks"] > 0 for file in ingested["files"])

    (listed,) = answer(home, "collections")["collections"]
    assert (listed["collection"], listed["documents"]) == ("library", len(ingested["files"]))

    documents = answer(home, "documents", "--collection", "library", "--state", "done")
    assert {document["id"] for document in documents["documents"]} == {
        file["document_id"] for file in ingested["files"]
    }

    query = "How long does the study hall stay open during the exam weeks?"
    found = answer(home, "search", query, "--collection", "library", "--top-k", "2")
    best = found["passages"][0]
    assert (best["filename"], best["page"]) == ("library-handbook.pdf", 1)
    assert "02:00" in best["text"]
    assert len(found["passages"]) == 2

    shown = acervo(home, "search", query, "--collection", "library")
    assert shown.stdout.startswith("1. library-handbook.pdf, page 1")


def test_the_same_file_again_is_no_second_document(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_text("Herons nest in the old mill.")
    first = answer(home, "ingest", path, "--collection", "again")
    second = answer(home, "ingest", path, "--collection", "again")
    assert second["files"][0]["document_id"] == first["files"][0]["document_id"]
    assert second["files"][0]["already_present"]

    path.write_text("Herons nest in the new mill.")
    answer(home, "ingest", path, "--collection", "again")
    found = answer(home, "search", "Where do herons nest?", "--collection", "again")
    assert [passage["text"] for passage in found["passages"]] == ["Herons nest in the new mill."]


def test_refused_files_are_listed_with_reason_and_advice_and_the_rest_is_done(
    home: Path, tmp_path: Path
) -> None:
    (tmp_path / "good.txt").write_text("A good text.")
    (tmp_path / "tool.exe").write_bytes(b"MZ\x90\x00")
    (tmp_path / "empty.txt").touch()
    done = answer(home, "ingest", tmp_path, "--collection", "mixed", status=1)
    assert {Path(file["path"]).name: file["state"] for file in done["files"]} == {
        "empty.txt": "refused",
        "good.txt": "done",
        "tool.exe": "refused",
    }
    failures = {Path(file["path"]).name: file["failure"] for file in done["files"] if file["failure"]}
    assert failures["tool.exe"]["reason"] == "FILE_KIND_UNSUPPORTED"
    assert failures["empty.txt"]["reason"] == "FILE_EMPTY"
    assert all(failure["message"] and failure["advice"] for failure in failures.values())

    plain = acervo(home, "ingest", tmp_path, "--collection", "mixed")
    assert plain.returncode == 1
    assert "FILE_KIND_UNSUPPORTED" in plain.stdout
    assert "\x1b" not in plain.stdout + plain.stderr


def test_a_directory_is_synced_and_what_is_gone_from_it_is_removed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.md").write_text("# Owls\n\nOwls hunt at night.")
    (tmp_path / "deep" / "b.md").write_text("# Larks\n\nLarks sing at dawn.")
    sync = ("sync", "local", tmp_path, "--collection", "birds")
    first = answer(home, *sync)["run"]
    assert (first["state"], first["counts"]["ingested"]) == ("done", 2)
    assert answer(home, *sync)["run"]["counts"]["skipped"] == 2

    (tmp_path / "a.md").unlink()
    assert answer(home, *sync, "--mode", "full")["run"]["counts"]["removed"] == 1
    assert len(answer(home, "documents", "--collection", "birds")["documents"]) == 1


def test_a_sync_skips_what_is_not_taken_and_names_the_kinds(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Wrens\n\nWrens are small.")
    for name in ("one.exe", "two.exe", "Makefile"):
        (tmp_path / name).write_bytes(b"MZ\x90\x00")
    run = answer(home, "sync", "local", tmp_path, "--collection", "wrens")["run"]
    assert (run["counts"]["ingested"], run["counts"]["skipped"], run["counts"]["failed"]) == (1, 3, 0)
    assert run["kinds_not_taken"] == {"exe": 2, "": 1}
    plain = acervo(home, "sync", "local", tmp_path, "--collection", "wrens")
    assert plain.returncode == 0
    assert "not taken: 2 .exe, 1 without an extension" in plain.stdout


def test_another_person_sees_none_of_it(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "secret.txt"
    path.write_text("The key lies under the mat.")
    answer(home, "ingest", path, "--collection", "secrets")
    refused = acervo(home, "search", "key", "--collection", "secrets", "--user", "mallory")
    absent = acervo(home, "search", "key", "--collection", "nothing", "--user", "mallory")
    assert refused.returncode == 2
    assert refused.stderr == absent.stderr
    assert refused.stderr.count("\n") == 1
    assert answer(home, "collections", "--user", "mallory")["collections"] == []


def test_a_token_from_the_command_line_is_taken_through_the_environment(home: Path) -> None:
    token = acervo(home, "token", "--user", "ana").stdout.strip()
    addresses = json.loads((home / "stack.json").read_text())["addresses"]
    named = {f"ACERVO_ADDRESS_{name.upper()}": address for name, address in addresses.items()}
    done = subprocess.run(
        (*ACERVO, "collections", "--json"),
        env={**os.environ, **named, "ACERVO_TOKEN": token, "ACERVO_HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert json.loads(done.stdout) == {"collections": []}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("search", "x", "-c", "absent"), "NOT_FOUND"),
        (("search", "", "-c", "library"), "USAGE"),
        (("search", "x"), "USAGE"),
        (("documents", "-c", "absent"), "NOT_FOUND"),
        (("documents", "-c", ""), "USAGE"),
        (("documents", "-c", "a", "--base", "b"), "USAGE"),
        (("ingest", "-c", "", __file__), "USAGE"),
        (("ingest", "/nonexistent", "-c", "library"), "FILE_UNREADABLE"),
        (("ingest", "/nonexistent", "/dev/null", "-c", "library"), "FILE_UNREADABLE"),
        (("ingest", EXAMPLES / "README.md", "-c", "No Name"), "NAME_INVALID"),
        (("sync", "local", "/nonexistent", "-c", "absent"), "SOURCE_UNREADABLE"),
        (("sync", "local", os.fsdecode(b"/caf\xe9"), "-c", "absent"), "USAGE"),
        (("delete", "-c", "absent", "--yes"), "NOT_FOUND"),
        (("delete",), "USAGE"),
        (("token", "--user="), "USAGE"),
        (("collections", "--home", ""), "USAGE"),
        (("no-such-command",), "USAGE"),
    ],
)
def test_what_cannot_be_carried_out_ends_with_2_and_one_shape_of_error(
    home: Path, arguments: tuple[str | Path, ...], reason: str
) -> None:
    done = acervo(home, *arguments, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert json.loads(done.stderr)["error"]["reason"] == reason


def test_names_of_any_bytes_are_documents_of_their_own_and_valid_json(home: Path, tmp_path: Path) -> None:
    for name in (b"caf\xe9.txt", b"caf\xe8.txt", b"caf%E9.txt"):
        (tmp_path / os.fsdecode(name)).write_bytes(b"Text of " + name.hex().encode())
    taken = answer(home, "ingest", tmp_path, "nofile", "--collection", "bytes", status=1)
    assert taken["counts"] == {"done": 3, "error": 0, "refused": 1}
    assert taken["files"][-1]["failure"]["reason"] == "FILE_UNREADABLE"
    listed = answer(home, "documents", "--collection", "bytes")["documents"]
    assert {one["source_path"] for one in listed} == {one["path"] for one in taken["files"][:-1]}
    again = answer(home, "sync", "local", tmp_path, "--collection", "bytes_synced")["run"]
    assert (again["counts"]["ingested"], again["failed_files"]) == (3, [])


def test_what_was_guessed_of_a_file_is_told_at_the_end_of_ingest(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_bytes(
        "El niño comió una manzana mañana en la montaña, según la canción.\n".encode("latin-1") * 9
    )
    (taken,) = answer(home, "ingest", path, "--collection", "guessed")["files"]
    assert [warning["code"] for warning in taken["warnings"]] == ["encoding_guessed"]
    told = acervo(home, "ingest", path, "--collection", "guessed").stdout
    assert f"{path}: encoding_guessed: {taken['warnings'][0]['message']}" in told


def test_the_client_and_the_command_line_mean_the_same_document(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("A file that comes twice")
    (taken,) = answer(home, "ingest", path, "--collection", "shared_address")["files"]
    with BlockingClient.local(home) as client:
        again = client.upload(path, collection_name="shared_address")
    assert (again.document.id, again.already_present) == (taken["document_id"], True)


def test_what_no_file_can_go_into_leaves_no_empty_base_behind(home: Path, tmp_path: Path) -> None:
    (tmp_path / "tool.exe").write_bytes(b"MZ\x90\x00")
    (tmp_path / "circle.txt").symlink_to("circle.txt")
    refused = answer(home, "ingest", tmp_path, "--collection", "nothing", status=1)
    assert refused["counts"] == {"done": 0, "error": 0, "refused": 2}
    acervo(home, "sync", "local", "/nonexistent", "--collection", "nothing")
    collections = answer(home, "collections")["collections"]
    assert "nothing" not in {one["collection"] for one in collections}


def test_documents_and_bases_are_removed_and_a_base_only_with_yes(home: Path, tmp_path: Path) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text(f"Text of {path.name}")
    first, second = answer(home, "ingest", *paths, "--collection", "removed")["files"]
    absent = "01a22eef-0000-7000-8000-000000000000"
    done = answer(home, "delete", first["document_id"], absent, status=1)
    assert done["documents"] == [first["document_id"]]
    assert done["failures"][absent]["reason"] == "NOT_FOUND"
    left = answer(home, "documents", "--collection", "removed")["documents"]
    assert [document["id"] for document in left] == [second["document_id"]]

    assert acervo(home, "delete", "--collection", "removed").returncode == 2
    assert answered(home, b"n", "delete", "--collection", "removed") == 2
    assert len(answer(home, "documents", "--collection", "removed")["documents"]) == 1
    base = left[0]["knowledge_base_id"]
    assert answer(home, "delete", "--base", base, "--yes")["knowledge_base_id"] == base
    answer(home, "ingest", paths[0], "--collection", "removed")
    assert answered(home, b"y", "delete", "--collection", "removed") == 0
    assert acervo(home, "documents", "--collection", "removed").returncode == 2


def test_failures_are_told_with_advice_retried_and_left_out_once_the_same_file_came_again(
    home: Path, tmp_path: Path
) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.4\nnothing of use\n%%EOF\n")
    for tail in (b"a", b"b"):
        path.write_bytes(path.read_bytes() + tail)
        answer(home, "ingest", path, "--collection", "failing", status=1)
    (last,) = answer(home, "documents", "--collection", "failing")["documents"]
    everything = answer(home, "documents", "--collection", "failing", "--all")
    assert (len(everything["documents"]), everything["counts"]["error"]) == (2, 2)

    shown = acervo(home, "documents", "--collection", "failing").stdout
    for told in (last["id"], str(path), *last["failure"].values(), "1 in error; 1 older failure left out"):
        assert told in shown
    assert answer(home, "retry", "--collection", "failing")["documents"] == [last["id"]]


def test_a_name_of_several_bases_is_settled_by_the_id_that_the_error_lists(
    home: Path, tmp_path: Path
) -> None:
    path = tmp_path / "note.txt"
    path.write_text("Storks come in March.")
    with BlockingClient.local(home) as client:
        bases = {client.create_knowledge_base(name, collection_name="twins").id for name in ("one", "two")}
    refused = acervo(home, "ingest", path, "--collection", "twins")
    assert refused.returncode == 2
    assert all(base in refused.stderr for base in bases)
    assert "--base" in refused.stderr
    chosen = min(bases)
    answer(home, "ingest", path, "--base", chosen)
    (listed,) = answer(home, "documents", "--base", chosen)["documents"]
    assert listed["knowledge_base_id"] == chosen
    assert answer(home, "search", "storks", "--base", chosen)["passages"]


def test_ctrl_c_says_what_goes_on_and_it_does(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("Cranes rest on the meadow.")
    command = (*ACERVO, "ingest", str(path), "--collection", "long", "--home", str(home))
    with _suspended(home, "vectorstore"):
        # Tests that run in the background of a shell hand on that Ctrl-C is ignored.
        hear = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=hear) as ingest:
            while _states(home, "long") != ["embedding"]:
                assert ingest.poll() is None
            ingest.send_signal(signal.SIGINT)
            _, told = ingest.communicate(timeout=SECONDS)
        assert ingest.returncode == 130
        assert "1 document goes on being processed" in told
        assert "acervo documents --collection long" in told
    while (states := _states(home, "long")) == ["embedding"]:
        pass
    assert states == ["done"]


def _states(home: Path, collection: str) -> list[str]:
    done = acervo(home, "documents", "--collection", collection, "--json")
    found = json.loads(done.stdout)["documents"] if done.returncode == 0 else []
    return [one["stage"] or one["state"] for one in found]


@contextlib.contextmanager
def _suspended(home: Path, service: str) -> Iterator[None]:
    """Keep a service from doing anything for the length of a block."""
    pid = json.loads((home / "stack.json").read_text())["pid"]
    (process,) = (
        child for child in psutil.Process(pid).children() if child.cmdline()[-1] == f"services.{service}"
    )
    process.suspend()
    try:
        yield
    finally:
        process.resume()


def test_without_a_stack_every_command_says_so_in_one_line() -> None:
    with temporary_home() as empty:
        for command in (("collections",), ("search", "x", "-c", "y"), ("ingest", __file__, "-c", "y")):
            done = acervo(empty, *command)
            assert done.returncode == 2
            assert "acervo up" in done.stderr
            assert done.stderr.count("\n") == 1


def test_doctor_finds_nothing_that_keeps_acervo_from_running(home: Path) -> None:
    checks = {check["name"]: check for check in answer(home, "doctor")["checks"]}
    assert "fail" not in {check["verdict"] for check in checks.values()}
    assert "pgvector" in checks["postgresql"]["detail"]
    services = {name for name in checks if name.startswith("service ")}
    assert services == {f"service {name}" for name in ALL}


def test_doctor_says_which_service_does_not_serve(home: Path) -> None:
    with _suspended(home, "sync"):
        checks = {check["name"]: check for check in answer(home, "doctor", status=1)["checks"]}
    failed = {name: check["detail"] for name, check in checks.items() if check["verdict"] == "fail"}
    assert failed == {"service sync": "does not answer"}


def test_the_version_is_told(home: Path) -> None:
    assert acervo(home, "--version").stdout == f"acervo {version('acervo')}\n"
