"""A file that is written off the event loop and appears under its name at the end: whole, and on the disk."""

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from services.shared.endings import to_the_end

_BATCH_BYTES = 1024 * 1024


class StagedFileGone(Exception):
    """Somebody removed what was being written."""


class StagedFile:
    """Takes bytes in order; about 1 MiB is written while the next is gathered, so at most two are held."""

    def __init__(self, opened: "_Opened") -> None:
        self._opened = opened
        self._file = opened.file
        self._gathered: list[bytes] = []
        self._size = 0
        self._writing: asyncio.Future[None] | None = None

    async def write(self, data: bytes, /) -> None:
        """Take the next bytes. Raises OSError once an earlier write has failed."""
        self._gathered.append(data)
        self._size += len(data)
        if self._size >= _BATCH_BYTES:
            await self._written()
            self._writing = asyncio.ensure_future(asyncio.to_thread(self._file.writelines, self._gathered))
            self._gathered, self._size = [], 0

    async def finish(self, target: Path) -> None:
        """Write what is gathered and give the file its name; return once a power cut would not undo that.

        Raises:
            StagedFileGone: if it was removed meanwhile.
        """
        await self._written()
        await asyncio.to_thread(_finish, self._opened, self._gathered, target)

    async def abandon(self) -> None:
        """Wait for the write that is under way, whatever becomes of it, and remove the file."""
        with contextlib.suppress(OSError, ValueError):
            await self._written()
        await asyncio.to_thread(_remove, self._file)

    async def _written(self) -> None:
        if self._writing is not None:
            await asyncio.shield(self._writing)
            self._writing = None


@contextlib.asynccontextmanager
async def staged_file(target: Path) -> AsyncIterator[StagedFile]:
    """Yield a writer of `target`, which appears when the block ends without an error: whole, and for good.

    It does not appear when the block raises; a cancellation that comes while it appears is raised once it has. Until
    then the bytes are in `<target>#<number>` beside it, which a killed process leaves behind.

    Raises:
        StagedFileGone: if that was removed meanwhile.
    """
    staged = _staged_name(target)
    try:
        opened = await to_the_end(asyncio.to_thread(_open, staged))
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    writer = StagedFile(opened)
    try:
        yield writer
        await to_the_end(writer.finish(target))
    except BaseException:
        await to_the_end(writer.abandon())
        raise


def write_file(target: Path, data: bytes) -> None:
    """Write a whole file at once, in a thread of the caller's, as `staged_file` does."""
    opened = _open(_staged_name(target))
    try:
        _finish(opened, [data], target)
    except BaseException:
        _remove(opened.file)
        raise


def _staged_name(target: Path) -> Path:
    return target.with_name(f"{target.name}#{secrets.randbelow(10**9)}")


@dataclass(frozen=True, slots=True)
class _Opened:
    """A new file, and the folders whose entries a power cut must leave: its own first, then those above new ones."""

    file: BinaryIO
    folders: Sequence[Path]


def _open(path: Path, tries: int = 3) -> _Opened:
    try:
        above = [new.parent for new in _make_folder(path.parent)]
        return _Opened(path.open("wb"), [path.parent, *above])
    except FileNotFoundError:  # the folder was empty, and was removed, in between
        if tries == 1:
            raise
        return _open(path, tries - 1)


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder and return what was made, the innermost first."""
    if folder.is_dir():
        return []
    above = _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    return [folder, *above]


def _finish(opened: _Opened, rest: list[bytes], target: Path) -> None:
    with opened.file as file:
        file.writelines(rest)
        file.flush()
        os.fsync(file.fileno())
    try:
        Path(file.name).replace(target)
        for folder in opened.folders:  # after the first one there is seldom anything left to write
            _sync_folder(folder)
    except FileNotFoundError:
        raise StagedFileGone from None


def _remove(file: BinaryIO) -> None:
    with contextlib.suppress(OSError):
        file.close()
    Path(file.name).unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
