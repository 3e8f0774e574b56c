"""The parent's side of a model's child process."""

import asyncio
import contextlib
import json
import os
import sys
from typing import Any

import numpy as np

from services.vectorstore.models import ModelSpec, Vectors
from services.vectorstore.models.host import LENGTH, SINGLE_THREADED

# Loading a model from a cold disk and embedding the first batch.
_ANSWER_SECONDS = 120.0


class ChildDied(Exception):
    """The process ended, or did not answer in time and was ended. The next request starts another."""


class ModelChild:
    """One model in one child process, started by the first request. One request at a time."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        self._process: asyncio.subprocess.Process | None = None

    async def ask(self, request: dict[str, Any]) -> Vectors:
        """Return the vectors of a request (`host`), one row each.

        Raises:
            ChildDied: there is no answer.
        """
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                process = self._process = self._process or await self._start()
                data = await _exchange(process, json.dumps(request).encode())
        except BaseException as error:
            await self.close()
            if isinstance(error, TimeoutError | OSError | asyncio.IncompleteReadError):
                raise ChildDied from error
            raise
        return np.frombuffer(data, "<f4").reshape(-1, self._spec.width)

    async def _start(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "services.vectorstore.models.host", self._spec.name),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, **SINGLE_THREADED},
        )

    async def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _exchange(process: asyncio.subprocess.Process, request: bytes) -> bytes:
    if process.stdin is None or process.stdout is None:
        raise ChildDied
    process.stdin.write(LENGTH.pack(len(request)) + request)
    await process.stdin.drain()
    (size,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
    return await process.stdout.readexactly(size)
