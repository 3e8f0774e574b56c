"""A file that is written off the event loop and appears under its name at the end: whole, and on the disk."""

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

from services.shared.endings import to_the_end

_BATCH_BYTES = 1024 * 1024


class StagedFileGone(Exception):
    """Somebody removed what was being written."""


class StagedFile:
    """Takes bytes in order; about 1 MiB is written while the next is gathered, so at most two are held."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
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
        await asyncio.to_thread(self._appear, target)

    async def abandon(self) -> None:
        """Wait for the write that is under way, whatever becomes of it, and remove the file."""
        with contextlib.suppress(OSError, ValueError):
            await self._written()
        await asyncio.to_thread(self._remove)

    async def _written(self) -> None:
        if self._writing is not None:
            await asyncio.shield(self._writing)
            self._writing = None

    def _appear(self, target: Path) -> None:
        with self._file:
            self._file.writelines(self._gathered)
            self._file.flush()
            os.fsync(self._file.fileno())
        try:
            Path(self._file.name).replace(target)
            _sync_folder(target.parent)
        except FileNotFoundError:
            raise StagedFileGone from None

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
        Path(self._file.name).unlink(missing_ok=True)


@contextlib.asynccontextmanager
async def staged_file(target: Path) -> AsyncIterator[StagedFile]:
    """Yield a writer of `target`, which appears when the block ends without an error: whole, and for good.

    It does not appear when the block raises; a cancellation that comes while it appears is raised once it has. Until
    then the bytes are in `<target>#<number>` beside it, which a killed process leaves behind.

    Raises:
        StagedFileGone: if that was removed meanwhile.
    """
    staged = target.with_name(f"{target.name}#{secrets.randbelow(10**9)}")
    try:
        file = await to_the_end(asyncio.to_thread(_open, staged))
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    writer = StagedFile(file)
    try:
        yield writer
        await to_the_end(writer.finish(target))
    except BaseException:
        await to_the_end(writer.abandon())
        raise


def _open(path: Path, tries: int = 3) -> BinaryIO:
    try:
        _make_folder(path.parent)
        return path.open("wb")
    except FileNotFoundError:  # the folder was empty, and was removed, in between
        if tries == 1:
            raise
        return _open(path, tries - 1)


def _make_folder(folder: Path) -> None:
    """Make a folder, and those above it, such that a power cut takes none of them back."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
