"""The messages of one upload: a header, then bytes, none of them waited for longer than the pace allows."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator

from acervo.common.v1 import error_reason_pb2
from acervo.upload.v1 import upload_pb2 as pb
from services.shared.errors import AcervoError
from services.upload.intake import UploadMalformed
from services.upload.limits import Pace

Messages = AsyncIterator[pb.UploadDocumentRequest]


class UploadStream:
    """Reads what a caller sends. Every method raises AcervoError: UPLOAD_MALFORMED, DEADLINE_EXCEEDED."""

    def __init__(self, messages: Messages, pace: Pace) -> None:
        self._messages = messages
        self._pace = pace
        self._received = 0
        self._waited = 0.0

    async def header(self) -> pb.UploadDocumentHeader:
        """The first message."""
        first = await self._next()
        if first is None or first.WhichOneof("part") != "header":
            raise UploadMalformed("The first message is the header.")
        return first.header

    async def parts(self) -> AsyncGenerator[bytes, None]:
        """The bytes, as they come."""
        while (message := await self._next()) is not None:
            if message.WhichOneof("part") != "data":
                raise UploadMalformed("After the header come bytes.")
            self._received += len(message.data)
            yield message.data

    async def _next(self) -> pb.UploadDocumentRequest | None:
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._pace.patience(self._received, self._waited)):
                return await anext(self._messages, None)
        except TimeoutError:
            raise AcervoError(
                error_reason_pb2.ERROR_REASON_DEADLINE_EXCEEDED,
                f"The file came too slowly: a pause may last {self._pace.idle_seconds:g} seconds, and more in all "
                f"only at {self._pace.bytes_per_second} bytes a second.",
            ) from None
        finally:
            self._waited += time.monotonic() - began
