"""The body of a request, as it comes."""

import asyncio
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.errors import AcervoError

PATIENCE_SECONDS: Final = 30.0
MIN_BYTES_PER_SECOND: Final = 1024


class Body:
    """An asynchronous iterator over the bytes. A read that is cancelled loses none of them.

    Raises AcervoError (REQUEST_TOO_SLOW) once nothing came for `PATIENCE_SECONDS`, or less than
    `MIN_BYTES_PER_SECOND` over a longer time; only the time spent waiting for the client counts. Raises
    ClientDisconnect where the client went.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._size = 0
        self._waited = 0.0
        self._over = False

    def __aiter__(self) -> "Body":
        return self

    async def __anext__(self) -> bytes:
        while not self._over:
            if part := await self._next():
                return part
        raise StopAsyncIteration

    async def _next(self) -> bytes:
        loop = asyncio.get_running_loop()
        since = loop.time()
        credit = PATIENCE_SECONDS + self._size / MIN_BYTES_PER_SECOND - self._waited
        try:
            async with asyncio.timeout(min(credit, PATIENCE_SECONDS)):
                message = await self._receive()
        except TimeoutError:
            self._over = True
            raise AcervoError(pb.ERROR_REASON_REQUEST_TOO_SLOW) from None
        finally:
            self._waited += loop.time() - since
        if message["type"] == "http.disconnect":
            self._over = True
            raise ClientDisconnect
        self._over = not message.get("more_body", False)
        part: bytes = message.get("body", b"")
        self._size += len(part)
        return part
