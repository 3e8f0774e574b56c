"""The changes of a document as server-sent events."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from acervo.ingest.v1.documents_pb2 import WatchDocumentsRequest, WatchDocumentsResponse
from services.gateway import decode, encode, errors
from services.shared.client import Stubs, call_options

_KEEP_ALIVE_SECONDS: Final = 15.0


class Events:
    """GET /api/v1/documents/{id}/events: the document as it is, and again at each change.

    Events are `document`, `deleted` and `error`. A stream ends with the document's work, after `seconds`,
    and when `draining` is set; clients that want more reconnect.
    """

    def __init__(self, stubs: Stubs, seconds: float, draining: asyncio.Event) -> None:
        self._stubs = stubs
        self._seconds = seconds
        self._draining = draining

    async def watch(self, request: Request) -> Response:
        """Answer with the stream, or with an error where the caller may not see the document."""
        options = call_options(decode.token(request), self._seconds)
        asked = WatchDocumentsRequest(document_ids=[request.path_params["document_id"]])
        changes = aiter(self._stubs.ingest().WatchDocuments(asked, **options))
        first = await anext(changes, None)
        return StreamingResponse(
            self._events(first, changes), media_type="text/event-stream", headers={"x-accel-buffering": "no"}
        )

    async def _events(
        self, first: WatchDocumentsResponse | None, changes: AsyncIterator[WatchDocumentsResponse]
    ) -> AsyncIterator[str]:
        change = first
        while change is not None:
            yield _event(change)
            following = asyncio.ensure_future(anext(changes, None))
            try:
                async for comment in self._pause(following):
                    yield comment
                if self._draining.is_set():
                    return
                change = await following
            except Exception as error:  # noqa: BLE001 - the status line is sent: an event says what went wrong
                yield _line("error", errors.body(errors.told(error)))
                return
            finally:
                following.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await following

    async def _pause(self, following: "asyncio.Future[WatchDocumentsResponse | None]") -> AsyncIterator[str]:
        """Wait for the next change or the drain, with a comment now and then that keeps the line."""
        drained = asyncio.ensure_future(self._draining.wait())
        try:
            while not following.done() and not drained.done():
                await asyncio.wait(
                    (following, drained),
                    timeout=_KEEP_ALIVE_SECONDS,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if not following.done() and not drained.done():
                    yield ": still here\n\n"
        finally:
            drained.cancel()


def _event(change: WatchDocumentsResponse) -> str:
    if change.deleted:
        return _line("deleted", {"id": change.document.id})
    return _line("document", encode.document(change.document))


def _line(name: str, data: dict[str, object]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
