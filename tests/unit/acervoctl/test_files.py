"""Which files a command line means."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acervo_client.uploads import address
from acervoctl.files import find_files
from acervoctl.ingesting import refusal


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("b.txt", "a.txt", ".hidden.txt", "deep/c.txt", ".git/d.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    return tmp_path


def names(found: list[Path], below: Path) -> list[str]:
    return [str(path.relative_to(below)) for path in found]


def test_a_folder_gives_its_own_files_in_order_without_hidden_ones(tree: Path) -> None:
    assert names(find_files([tree], recursive=False), tree) == ["a.txt", "b.txt"]


def test_folders_of_folders_are_read_when_asked(tree: Path) -> None:
    assert names(find_files([tree], recursive=True), tree) == ["a.txt", "b.txt", "deep/c.txt"]


def test_a_file_named_twice_is_taken_once_and_hidden_ones_when_named(tree: Path) -> None:
    found = find_files([tree / "a.txt", tree, tree / ".hidden.txt"], recursive=False)
    assert names(found, tree) == ["a.txt", "b.txt", ".hidden.txt"]


def test_a_link_to_a_folder_is_not_followed_so_that_circles_end(tree: Path) -> None:
    (tree / "deep" / "circle").symlink_to(tree)
    assert names(find_files([tree], recursive=True), tree) == ["a.txt", "b.txt", "deep/c.txt"]


@pytest.mark.parametrize("name", ["nothing.txt", "circle.txt", "x" * 300, "pipe.txt", "a.txt/below"])
@pytest.mark.parametrize("named", [True, False])
def test_what_cannot_be_read_is_refused_by_name_and_ends_nothing(tree: Path, name: str, named: bool) -> None:
    (tree / "circle.txt").symlink_to("circle.txt")
    os.mkfifo(tree / "pipe.txt")
    found = find_files([tree / name, tree] if named else [tree], recursive=False)
    assert tree / "a.txt" in found
    for path in {tree / name}.intersection(found):
        refused = refusal(path)
        assert refused is not None
        assert (refused.reason, bool(refused.message), bool(refused.advice)) == (
            "FILE_UNREADABLE",
            True,
            True,
        )
    assert (tree / name in found) is (named or name in ("circle.txt", "pipe.txt"))


def test_what_cannot_be_looked_at_in_a_folder_is_answered_and_ends_nothing(tree: Path) -> None:
    """The path of a folder that lies too deep fails in every call, whoever runs the test."""
    (tree / "circle.txt").symlink_to("circle.txt")
    top = tree / "a-deep"
    below = os.open(tree, os.O_RDONLY)
    for name in ("a-deep", *["x" * 200] * 25):
        os.mkdir(name, dir_fd=below)
        upper, below = below, os.open(name, os.O_RDONLY, dir_fd=below)
        os.close(upper)
    os.close(below)
    deep, *others = find_files([tree], recursive=True)
    assert deep.is_relative_to(top)
    assert names(others, tree) == ["a.txt", "b.txt", "circle.txt", "deep/c.txt"]
    for unreadable in (deep, tree / "circle.txt"):
        refused = refusal(unreadable)
        assert refused is not None
        assert refused.reason == "FILE_UNREADABLE"


TWINS = [
    *(b"caf\xe9.txt", b"caf\xe8.txt", b"caf%E9.txt", b"caf%25E9.txt", "caf\ufffd.txt".encode()),
    *("caf\u00e9.txt".encode(), "cafe\u0301.txt".encode(), b"CAF.txt", b"caf.txt"),
    *(
        b"a.txt ",
        b"a\x01.txt",
        b"a\n.txt",
        b"a\r.txt",
        b"a\\.txt",
        b"a\x7f.txt",
        b"\xff/a.txt",
        b"\xfe/a.txt",
    ),
]


def test_different_files_never_share_an_address_and_theirs_is_text(tree: Path) -> None:
    for name in TWINS:
        path = tree / os.fsdecode(name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name)
    found = find_files([tree], recursive=True)
    assert len(found) == len(TWINS) + 3
    addresses = {address(path) for path in found}
    assert len(addresses) == len(found)
    assert all(path.encode("utf-8") for path in addresses)


@given(
    st.sets(
        st.binary(min_size=1, max_size=8).map(lambda name: name.translate(None, b"/\0") + b"x"), max_size=20
    )
)
def test_no_two_names_of_a_directory_share_an_address(names: set[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            (Path(folder) / os.fsdecode(name)).touch()
        paths = [Path(entry) for entry in os.scandir(folder)]
        assert len({address(path).encode("utf-8") for path in paths}) == len(paths) == len(names)


def test_a_step_up_behind_a_link_leads_where_the_system_leads(tree: Path) -> None:
    (tree / "other" / "sub").mkdir(parents=True)
    (tree / "other" / "a.txt").write_text("another")
    (tree / "link").symlink_to(tree / "other" / "sub")
    behind = tree / "link" / ".." / "a.txt"
    assert behind.read_text() == "another"
    assert address(behind) == str(tree.resolve() / "other" / "a.txt")
    assert address(tree / "deep" / ".." / "a.txt") == str(tree / "a.txt")


def test_a_link_keeps_its_own_address_whatever_it_points_at(tree: Path) -> None:
    link = tree / "latest.txt"
    link.symlink_to(tree / "a.txt")
    assert address(tree / "deep" / ".." / "latest.txt") == str(link)
