"""A bare gRPC server that takes a stream of bytes and answers with their number: `python -m bench.sink`.

It prints the port that it listens on, and ends with its standard input.
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import grpc

from acervo_client.uploads import MESSAGE_BYTES

_SERVICE, _METHOD = "bench.Sink", "Take"


async def _take(messages: AsyncIterator[bytes], _context: object) -> bytes:
    size = 0
    async for message in messages:
        size += len(message)
    return str(size).encode()


async def serve() -> None:
    """Listen until standard input ends."""
    server = grpc.aio.server()
    handler: Any = grpc.stream_unary_rpc_method_handler(_take)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, {_METHOD: handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await server.stop(None)


class Sink:
    """The client of a sink in another process."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._take: Any = channel.stream_unary(f"/{_SERVICE}/{_METHOD}")

    async def send(self, path: Path) -> float:
        """Send a file in messages of the same length as uploads', and return the seconds."""
        started = time.perf_counter()
        await self._take(_messages(path))
        return time.perf_counter() - started


def _messages(path: Path) -> Iterator[bytes]:
    with path.open("rb", buffering=0) as file:
        while data := file.read(MESSAGE_BYTES):
            yield data


@contextlib.asynccontextmanager
async def sink() -> AsyncIterator[Sink]:
    """Run a sink in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.sink"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        port = int(await process.stdout.readline())
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield Sink(channel)
    finally:
        process.kill()
        await process.wait()


if __name__ == "__main__":
    asyncio.run(serve())
