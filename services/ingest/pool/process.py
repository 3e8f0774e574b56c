"""One parser process as its parent sees it."""

import asyncio
import logging
import mmap
import os
import shutil
import signal
import sys
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self, cast

from services.ingest.pool.isolation import Isolation
from services.ingest.pool.job import (
    CUT,
    READY,
    REFUSED,
    STARTED,
    Cut,
    Job,
    Outcome,
    Refused,
    Written,
    decode_counts,
    decode_refusal,
    encode_job,
    frame_size,
    unpack,
)
from services.shared.reasons import meaning

_log = logging.getLogger(__name__)
_COPY_BLOCK = 1024 * 1024
_HELD_BYTES = 1024 * 1024
_LOG_TAIL = 2000
_START_SECONDS = 60
_PREFIX = 4


class ChildLost(Exception):
    """The process died or talked nonsense. `during_job` says whether a file may be to blame."""

    def __init__(self, *, during_job: bool) -> None:
        self.during_job = during_job
        super().__init__("during a job" if during_job else "outside a job")


@dataclass(frozen=True, slots=True)
class _Exchange:
    """Files without a name that parent and child share. Nothing is left of them once both are gone."""

    original: IO[bytes]
    pages: IO[bytes]
    chunks: IO[bytes]
    log: IO[bytes]

    def stage(self, source: Path | bytes) -> None:
        """Put the original where the child reads it. Blocks."""
        self.original.seek(0)
        self.original.truncate()
        if isinstance(source, bytes):
            self.original.write(source)
        else:
            with source.open("rb") as file:
                shutil.copyfileobj(file, self.original, _COPY_BLOCK)
        self.original.flush()

    def results(self) -> tuple[Written, Written]:
        """The page file and the chunks that the child wrote, apart from what it writes next. Blocks."""
        return _copied(self.pages), _copied(self.chunks)

    def last_words(self) -> str:
        """The end of what the child printed."""
        size = self.log.seek(0, os.SEEK_END)
        self.log.seek(max(0, size - _LOG_TAIL))
        return self.log.read().decode("utf-8", "replace").strip()


class Child:
    """A parser process that takes one job at a time. Made by `start`, ended by `end`."""

    def __init__(self, process: asyncio.subprocess.Process, exchange: _Exchange, files: ExitStack) -> None:
        self._process = process
        self._requests = cast("asyncio.StreamWriter", process.stdin)
        self._replies = cast("asyncio.StreamReader", process.stdout)
        self._exchange = exchange
        self._files = files
        self.jobs = 0
        self.isolation = Isolation("none", "none")

    @classmethod
    async def start(cls, memory: int) -> Self:
        """Start a process whose files may take `memory` bytes, and wait until it can take a job.

        Raises:
            ChildLost: if it dies or is not ready in time.
        """
        with ExitStack() as stack:
            opened = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(4))
            exchange = _Exchange(*opened)
            shared = (exchange.original.fileno(), exchange.pages.fileno(), exchange.chunks.fileno())
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-X", "faulthandler", "-m", "services.ingest.pool.child"),
                *(str(number) for number in (os.getpid(), memory, *shared)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=exchange.log,
                pass_fds=shared,
                start_new_session=True,
                env=_environment(),
                cwd="/",
            )
            child = cls(process, exchange, stack.pop_all())
        try:
            async with asyncio.timeout(_START_SECONDS):
                network, files = await child._expect(READY, during_job=False)
            child.isolation = Isolation(network.decode(), files.decode())
        except (TimeoutError, ValueError) as error:
            await child.end()
            raise ChildLost(during_job=False) from error
        except BaseException:
            await child.end()
            raise
        return child

    async def run(self, job: Job, seconds: float) -> Outcome:
        """Read and cut one file within `seconds`. After anything but a return the process must be ended.

        Raises:
            ChildLost: if the process dies.
            OSError: if the original cannot be read.
        """
        self.jobs += 1
        await asyncio.to_thread(self._exchange.stage, job.source)
        with suppress(ConnectionError):
            self._requests.write(encode_job(job))
            await self._requests.drain()
        async with asyncio.timeout(seconds):
            await self._expect(STARTED, during_job=False)
            return await self._outcome()

    async def _outcome(self) -> Outcome:
        try:
            word, *strings = await self._frame(during_job=True)
            if word == REFUSED:
                refused = decode_refusal(strings)
                return Refused(refused.reason, refused.message or meaning(refused.reason).message)
            if word != CUT:
                raise ValueError("not an outcome")
            counts = decode_counts(strings)
        except ValueError as error:
            raise ChildLost(during_job=True) from error
        pages, chunks = await asyncio.to_thread(self._exchange.results)
        return Cut(pages, chunks, counts.page_count, counts.chunk_count, counts.warnings)

    async def _expect(self, word: bytes, *, during_job: bool) -> list[bytes]:
        said, *strings = await self._frame(during_job=during_job)
        if said != word:
            raise ChildLost(during_job=during_job)
        return strings

    async def _frame(self, *, during_job: bool) -> list[bytes]:
        try:
            size = frame_size(await self._replies.readexactly(_PREFIX))
            strings = unpack(await self._replies.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError, ValueError) as error:
            raise ChildLost(during_job=during_job) from error
        if not strings:
            raise ChildLost(during_job=during_job)
        return strings

    async def end(self) -> None:
        """Kill the process with all that it started, and free what it held. May be called at any time."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        self._requests.close()
        if words := self._exchange.last_words():
            _log.warning("a parser process printed before it ended: %s", words)
        self._files.close()


def _copied(file: IO[bytes]) -> Written:
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size <= _HELD_BYTES:
        return file.read()
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(file, copy, _COPY_BLOCK)
        copy.flush()
        return mmap.mmap(copy.fileno(), 0, prot=mmap.PROT_READ)


def _environment() -> dict[str, str]:
    """What a child gets to know of its parent's environment: where modules and libraries are, and no secrets."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "PATH") if name in os.environ}
    paths = [str(Path(path).resolve()) for path in sys.path]
    return kept | {"PYTHONPATH": os.pathsep.join(paths), "LC_ALL": "C.UTF-8"}
