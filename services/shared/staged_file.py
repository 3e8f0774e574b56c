"""A file that is written off the event loop and appears, whole, under its name at the end."""

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

_BATCH_BYTES = 1024 * 1024


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

    async def finish(self) -> None:
        """Write what is gathered and close the file."""
        await self._written()
        await asyncio.to_thread(self._close)

    async def abandon(self) -> None:
        """Wait for the write that is under way, whatever becomes of it, and close the file."""
        with contextlib.suppress(OSError, ValueError):
            await self._written()
        with contextlib.suppress(OSError):
            self._file.close()

    async def _written(self) -> None:
        if self._writing is not None:
            await asyncio.shield(self._writing)
            self._writing = None

    def _close(self) -> None:
        self._file.writelines(self._gathered)
        self._file.close()


@contextlib.asynccontextmanager
async def staged_file(target: Path) -> AsyncIterator[StagedFile]:
    """Yield a writer of `target`, which appears when the block ends without an error and never otherwise.

    Until then the bytes are in `<target>#<number>` beside it, which a killed process leaves behind.
    """
    staged = target.with_name(f"{target.name}#{secrets.randbelow(10**9)}")
    target.parent.mkdir(parents=True, exist_ok=True)
    writer = StagedFile(staged.open("wb"))
    try:
        yield writer
        await writer.finish()
        await asyncio.to_thread(os.replace, staged, target)
    except BaseException:
        await asyncio.shield(writer.abandon())
        staged.unlink(missing_ok=True)
        raise
