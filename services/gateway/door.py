"""What happens around every request: an id, room for it, a few headers, a line in the log."""

import logging
import re
import time
from typing import Final
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway import errors
from services.gateway.connections import MAX_HEAD_BYTES, head_too_long
from services.shared import telemetry
from services.shared.errors import Overloaded

log = logging.getLogger("services.requests")

MAX_REQUESTS: Final = 1024

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEALTH = frozenset({"/healthz", "/readyz"})


class Door:
    """ASGI middleware. Health is let in whatever else is under way, and logged at DEBUG alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._running = 0

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

        app = self._refusal(scope) or self._app
        self._running += 1
        try:
            await app(scope, receive, answer)
        finally:
            self._running -= 1
            _log_request(scope, status, time.perf_counter() - started)

    def _refusal(self, scope: Scope) -> Response | None:
        if _head_size(scope) > MAX_HEAD_BYTES:
            return errors.answer(head_too_long(), 431)
        if self._running >= MAX_REQUESTS and scope["path"] not in _HEALTH:
            return errors.answer(Overloaded())
        return None


def _head_size(scope: Scope) -> int:
    line = len(scope["raw_path"]) + len(scope["query_string"])
    return line + sum(len(name) + len(value) + 4 for name, value in scope["headers"])


def _log_request(scope: Scope, status: int, seconds: float) -> None:
    path = scope["path"]
    level = logging.DEBUG if path in _HEALTH else logging.INFO
    if log.isEnabledFor(level):
        fields = {"method": scope["method"], "path": path, "status": status, "ms": round(seconds * 1000, 1)}
        log.log(level, "request", extra=fields)
