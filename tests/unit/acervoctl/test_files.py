"""Which files a command line means."""

import os
from pathlib import Path

import pytest

from acervoctl.errors import CommandError
from acervoctl.files import address, find_files
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


@pytest.mark.parametrize("name", ["nothing.txt", "circle", "x" * 300])
def test_what_is_named_and_cannot_be_read_is_said_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(CommandError, match=f"{name} cannot be read"):
        find_files([tmp_path / name], recursive=False)


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


def test_a_link_keeps_its_own_address_whatever_it_points_at(tree: Path) -> None:
    link = tree / "latest.txt"
    link.symlink_to(tree / "a.txt")
    assert address(tree / "deep" / ".." / "latest.txt") == str(link)
