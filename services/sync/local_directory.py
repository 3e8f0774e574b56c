"""The connector for a directory of the server.

Every path is opened component by component without following a symbolic link, so that nothing that is put into
the directory, at any moment, leads out of it. Links, hidden names (leading dot) and special files are left out.
"""

import asyncio
import errno
import os
import stat
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.pathtext import path_of, path_text
from services.sync.connector import Connector, Entry, SourceForbidden, SourceUnreadable, Unreadable

BLOCK = 256 * 1024
"""Bytes that are read at once."""
SETTLED_SECONDS = 2.0
"""How old a change must be for its time to tell it from the next one, on file systems with coarse clocks."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class LocalDirectory:
    """A source's configuration: an absolute path without links, and whether its folders are read too."""

    path: str
    recursive: bool


def admit(path: str, roots: Sequence[Path]) -> str:
    """The path that a new source keeps: `path` with its links resolved, once it is known to be allowed.

    Raises:
        SourceForbidden: if it lies outside `roots`. What lies there is not looked at, so that a refusal tells nothing.
        SourceUnreadable: if it is no directory that can be listed.
    """
    try:
        resolved = Path(path).resolve()
    except (OSError, RuntimeError):
        raise SourceForbidden from None
    _check_allowed(resolved, roots)
    with _beneath(str(resolved), _FOLDER) as folder:
        _listed(folder)
    return str(resolved)


@asynccontextmanager
async def open_directory(config: LocalDirectory, roots: Sequence[Path]) -> AsyncIterator[Connector]:
    """Open the directory for a run. Raises as `admit`, whose answer may have changed since."""
    _check_allowed(Path(config.path), roots)
    with _beneath(config.path, _FOLDER) as root:
        yield _Directory(config, root)


def _check_allowed(path: Path, roots: Sequence[Path]) -> None:
    if not any(path.is_relative_to(root.resolve()) for root in roots):
        raise SourceForbidden


class _Directory:
    """An open directory. `root` is its descriptor: what takes its place under the same path is not read."""

    def __init__(self, config: LocalDirectory, root: int) -> None:
        self._config = config
        self._root = root

    async def entries(self) -> AsyncGenerator[Entry | Unreadable, None]:
        """List folder by folder, each in the order of its names."""
        waiting = [PurePosixPath()]
        while waiting:
            relative = waiting.pop()
            try:
                files, folders = await asyncio.to_thread(self._read_folder, relative)
            except SourceUnreadable:
                if relative == PurePosixPath():
                    raise
                yield self._unreadable(relative, hides_others=True)
                continue
            for found in files:
                yield found
            if self._config.recursive:
                waiting.extend(reversed(folders))

    def _read_folder(self, relative: PurePosixPath) -> tuple[list[Entry | Unreadable], list[PurePosixPath]]:
        files: list[Entry | Unreadable] = []
        folders: list[PurePosixPath] = []
        with _beneath(str(relative), _FOLDER, start=self._root) as folder:
            for name in _listed(folder):
                if name.startswith("."):
                    continue
                try:
                    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                except FileNotFoundError:
                    continue
                except OSError:
                    files.append(self._unreadable(relative / name, hides_others=True))
                    continue
                if stat.S_ISDIR(status.st_mode):
                    folders.append(relative / name)
                elif stat.S_ISREG(status.st_mode):
                    files.append(self._entry(relative / name, status))
        return files, folders

    def _entry(self, relative: PurePosixPath, status: os.stat_result) -> Entry:
        signal = _signal(status, time.time())
        return Entry(self._address(relative), path_text(relative.name), status.st_size, signal)

    def _unreadable(self, relative: PurePosixPath, *, hides_others: bool) -> Unreadable:
        return Unreadable(self._address(relative), pb.ERROR_REASON_SOURCE_UNREADABLE, hides_others)

    def _address(self, relative: PurePosixPath) -> str:
        return path_text(str(PurePosixPath(self._config.path) / relative))

    def _relative(self, address: str) -> str:
        return str(PurePosixPath(path_of(address)).relative_to(self._config.path))

    async def fetch(self, entry: Entry) -> AsyncGenerator[bytes, None]:
        """Yield the file's bytes, block by block."""
        with _beneath(self._relative(entry.path), _FILE, start=self._root) as file:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise SourceUnreadable
            while block := await asyncio.to_thread(_read, file):
                yield block

    async def gone(self, path: str) -> bool:
        """Whether no file, link or folder of that name is there, while the directory itself still is."""
        return await asyncio.to_thread(self._gone, self._relative(path))

    def _gone(self, relative: str) -> bool:
        if os.fstat(self._root).st_nlink == 0:
            return False
        *folders, name = PurePosixPath(relative).parts
        folder = os.dup(self._root)
        try:
            for part in folders:
                status = os.stat(part, dir_fd=folder, follow_symlinks=False)
                if not stat.S_ISDIR(status.st_mode):
                    return not stat.S_ISLNK(status.st_mode)
                folder = _descend(folder, part, _FOLDER)
            os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        finally:
            os.close(folder)
        return False


def _signal(status: os.stat_result, now: float) -> str:
    """What changes with the bytes: which file it is, its size and its times. Empty for what has just changed.

    The status-change time cannot be set back, unlike the modification time.
    """
    if now - status.st_ctime < SETTLED_SECONDS:
        return ""
    return f"{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"


def _listed(folder: int) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        raise SourceUnreadable from None


def _read(file: int) -> bytes:
    try:
        return os.read(file, BLOCK)
    except OSError:
        raise SourceUnreadable from None


@contextmanager
def _beneath(path: str, flags: int, *, start: int | None = None) -> Iterator[int]:
    """Open `path` below the folder `start` (or, absolute, below `/`), refusing links in every component.

    Raises SourceUnreadable where that is not possible.
    """
    try:
        descriptor = _open(path, flags, start)
    except OSError:
        raise SourceUnreadable from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open(path: str, flags: int, start: int | None) -> int:
    parts = [part for part in PurePosixPath(path).parts if part != "/"]
    if ".." in parts:
        raise OSError(errno.EINVAL, "a path that climbs")
    descriptor = os.open("/", _FOLDER) if start is None else os.dup(start)
    try:
        for position, part in enumerate(parts, start=1):
            descriptor = _descend(descriptor, part, flags if position == len(parts) else _FOLDER)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _descend(folder: int, name: str, flags: int) -> int:
    """Open `name` in `folder`, and close `folder` in exchange; where opening fails, `folder` stays open."""
    descriptor = os.open(name, flags, dir_fd=folder)
    os.close(folder)
    return descriptor
