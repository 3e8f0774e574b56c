"""HTTP as a client may send it that means harm, or has a bad line: bytes, and whatever comes back."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.integration.gateway.stack import Stack


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def reason(self) -> str:
        error: dict[str, Any] = json.loads(self.body)["error"]
        return str(error["reason"])


class Raw:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    def pause(self) -> None:
        """Read nothing from now on."""
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]  # every socket's transport can

    async def head(self) -> bytes:
        return await asyncio.wait_for(self._reader.readuntil(b"\r\n\r\n"), 20)

    async def answer(self) -> Answer:
        head = await self.head()
        line, *lines = head.decode().strip().split("\r\n")
        headers = dict(header.lower().split(": ", 1) for header in lines)
        body = await self._reader.readexactly(int(headers["content-length"]))
        return Answer(int(line.split()[1]), headers, body)

    async def rest(self) -> bytes:
        """All that comes until the other side ends the connection."""
        try:
            return await asyncio.wait_for(self._reader.read(), 20)
        except ConnectionResetError:
            return b""

    async def closed(self) -> bool:
        return self._reader.at_eof() or self._reader.exception() is not None


@asynccontextmanager
async def connected(stack: Stack) -> AsyncIterator[Raw]:
    """Connect to the gateway."""
    host, _, port = stack.gateway.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 24)
    try:
        yield Raw(reader, writer)
    finally:
        writer.transport.abort()


def request(line: str, *headers: str, token: str = "", body: bytes = b"") -> bytes:
    """A request. Example: `request("GET /healthz")`."""
    lines = [f"{line} HTTP/1.1", "host: x", *headers]
    if token:
        lines.append(f"authorization: Bearer {token}")
    return "\r\n".join([*lines, "", ""]).encode() + body
