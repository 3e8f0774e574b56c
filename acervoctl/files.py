"""Which files a command line means."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from acervoctl.errors import CommandError


def find_files(paths: Iterable[Path], *, recursive: bool) -> list[Path]:
    """The files named and those in the directories named, each once, in a fixed order.

    Hidden entries of directories are left out, and everything that is no regular file; a link to a file
    counts as the file, a link to a directory is not followed. What cannot be looked at is among the answers:
    whoever opens it learns why. Raises `CommandError` for what is named and not there.
    """
    found: dict[Path, None] = {}
    for path in paths:
        try:
            mode = path.stat().st_mode
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}") from None
        if S_ISDIR(mode):
            found.update(dict.fromkeys(_inside(path, recursive)))
        elif S_ISREG(mode):
            found[path] = None
        else:
            raise CommandError(f"{path} is neither a file nor a directory")
    return list(found)


def address(path: Path) -> str:
    """The absolute path of a file as it was named: links are not resolved, so a link keeps its address."""
    return os.path.normpath(path.absolute())


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
        try:
            if entry.is_file():
                yield path
            elif recursive and entry.is_dir(follow_symlinks=False):
                yield from _inside(path, recursive)
        except OSError:
            yield path
