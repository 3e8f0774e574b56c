"""What happens around every request: an id, a few headers, a line in the log."""

import logging
import re
import time
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.shared import telemetry

log = logging.getLogger("services.requests")

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET = frozenset({"/healthz", "/readyz"})


class Door:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Called for each request; the server's own events pass through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
        telemetry.request_id.set(request_id)

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = request_id
                headers["cache-control"] = "no-store"
                headers["x-content-type-options"] = "nosniff"
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            level = logging.DEBUG if scope["path"] in _QUIET else logging.INFO
            fields = {"method": scope["method"], "path": scope["path"], "status": status}
            log.log(
                level, "request", extra={**fields, "ms": round((time.perf_counter() - started) * 1000, 1)}
            )
