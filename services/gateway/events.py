"""The changes of a document as server-sent events."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.ingest.v1.documents_pb2 import WatchDocumentsRequest, WatchDocumentsResponse
from services.gateway import encode, errors
from services.gateway.places import Places
from services.shared import auth
from services.shared.client import DEFAULT_TIMEOUT_SECONDS, Stubs, call_options
from services.shared.errors import AcervoError

# Together fewer than one connection to ingest carries.
MAX_STREAMS: Final = 240
MAX_STREAMS_EACH: Final = 16
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
        self._places = Places("event streams", MAX_STREAMS, MAX_STREAMS_EACH)

    async def watch(self, request: Request) -> Response:
        """Answer with the stream, or with an error where the caller may not see the document."""
        if request.method == "HEAD":
            raise HTTPException(errors.METHOD_NOT_ALLOWED, headers={"allow": "GET"})
        caller = auth.current()
        options = call_options(caller.token, self._seconds)
        asked = WatchDocumentsRequest(document_ids=[request.path_params["document_id"]])
        async with contextlib.AsyncExitStack() as held:
            held.enter_context(self._places.take(caller))
            call = self._stubs.watches().WatchDocuments(asked, **options)
            held.callback(call.cancel)
            changes = aiter(call)
            async with _in_time():
                first = await anext(changes, None)
            holding = held.pop_all()
        return _Stream(self._events(first, changes), holding)

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


class _Stream(StreamingResponse):
    """Gives back what it held, however it ends: one whose client went may never be begun."""

    media_type = "text/event-stream"

    def __init__(self, content: AsyncIterator[str], held: contextlib.AsyncExitStack) -> None:
        super().__init__(content, headers={"x-accel-buffering": "no"})
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._held:
            await super().__call__(scope, receive, send)


@contextlib.asynccontextmanager
async def _in_time() -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(DEFAULT_TIMEOUT_SECONDS):
            yield
    except TimeoutError:
        raise AcervoError(pb.ERROR_REASON_DEADLINE_EXCEEDED) from None


def _event(change: WatchDocumentsResponse) -> str:
    if change.deleted:
        return _line("deleted", {"id": change.document.id})
    return _line("document", encode.document(change.document))


def _line(name: str, data: dict[str, object]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
