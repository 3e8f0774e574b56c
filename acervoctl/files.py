"""Which files a command line means."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from acervoctl.errors import CommandError


def find_files(paths: Iterable[Path], *, recursive: bool) -> list[Path]:
    """The files named and those in the directories named, each once, in a fixed order.

    Hidden entries of directories are left out, and everything that is no regular file; a link to a file
    counts as the file, a link to a directory is not followed. Raises `CommandError` for what is not there.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            found.update(dict.fromkeys(_inside(path, recursive)))
        elif path.is_file():
            found[path] = None
        else:
            raise CommandError(f"{path} is not there, or is neither a file nor a directory")
    return list(found)


def address(path: Path) -> str:
    """The absolute path of a file as it was named: links are not resolved, so a link keeps its address."""
    return os.path.normpath(path.absolute())


def _inside(directory: Path, recursive: bool) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except PermissionError:
        raise CommandError(f"{directory} may not be read") from None
    for entry in entries:
        if entry.name.startswith("."):
            continue
        path = directory / entry.name
        if entry.is_file():
            yield path
        elif recursive and entry.is_dir(follow_symlinks=False):
            yield from _inside(path, recursive)
