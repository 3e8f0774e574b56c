"""What happens around every request: an id, a caller, room for it, a few headers, a line in the log."""

import logging
import re
import time
from contextlib import ExitStack
from typing import Final
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway import decode, errors
from services.gateway.connections import MAX_HEAD_BYTES, head_too_long
from services.gateway.places import Places
from services.shared import auth, telemetry
from services.shared.auth import TokenVerifier
from services.shared.interceptors import Anonymous

log = logging.getLogger("services.requests")

MAX_REQUESTS: Final = 1024
MAX_REQUESTS_EACH: Final = 128

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEALTH = frozenset({"/healthz", "/readyz"})


class Door:
    """ASGI middleware. Health is let in whatever else is under way, and logged at DEBUG alone.

    All others are known before anything of their bodies is read: whoever has no good token holds no place.
    The services judge the token again.
    """

    def __init__(self, app: ASGIApp, verifier: TokenVerifier) -> None:
        self._app = app
        self._verifier = verifier
        self._strangers = Anonymous()
        self._places = Places("requests", MAX_REQUESTS, MAX_REQUESTS_EACH)

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
            with ExitStack() as held:
                app = await self._refusal(scope, held) or self._app
                await app(scope, receive, answer)
        finally:
            _log_request(scope, status, time.perf_counter() - started)

    async def _refusal(self, scope: Scope, held: ExitStack) -> Response | None:
        if _head_size(scope) > MAX_HEAD_BYTES:
            return errors.answer(head_too_long(), 431)
        if scope["path"] in _HEALTH:
            return None
        try:
            token = decode.token(Headers(scope=scope))
            async with self._strangers.room():
                caller = await self._verifier.verify(token)
            held.enter_context(self._places.take(caller))
        except Exception as error:  # noqa: BLE001 - whatever goes wrong here is the answer
            return errors.answer(errors.told(error))
        auth.enter(caller)
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
