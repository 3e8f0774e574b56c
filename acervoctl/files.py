"""Which files a command line means."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path


def find_files(paths: Iterable[Path], *, recursive: bool) -> list[Path]:
    """The files named and those in the directories named, each once, in a fixed order.

    Hidden entries of directories are left out, and links to directories; a link to a file counts as the file.
    What is no regular file, is not there or cannot be looked at is among the answers: whoever opens it learns why.
    """
    found: dict[Path, None] = {}
    for path in paths:
        found.update(dict.fromkeys(_inside(path, recursive) if _is_folder(path) else [path]))
    return list(found)


def _inside(directory: Path, recursive: bool) -> Iterator[Path]:
    try:
        with os.scandir(directory) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError:
        yield directory
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        path = directory / entry.name
        if not _is_folder(entry):
            yield path
        elif recursive and not entry.is_symlink():
            yield from _inside(path, recursive)


def _is_folder(entry: "Path | os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
