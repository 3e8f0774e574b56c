"""Errors as HTTP answers, chosen by their reason."""

import logging
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared import telemetry
from services.shared.errors import AcervoError, NotFound, meaning, reason_name
from services.shared.translation import translate

log = logging.getLogger(__name__)

METHOD_NOT_ALLOWED: Final = 405
_RETRY: Final = frozenset(
    {pb.ERROR_REASON_UNAVAILABLE, pb.ERROR_REASON_OVERLOADED, pb.ERROR_REASON_TRY_AGAIN}
)


def body(error: AcervoError) -> dict[str, object]:
    """What a client reads: reason, message, advice, the request's id, and which fields are meant."""
    fields = [{"path": violation.path, "message": violation.message} for violation in error.fields]
    return {
        "error": {
            "reason": reason_name(error.reason),
            "message": error.message,
            "advice": meaning(error.reason).advice,
            "request_id": telemetry.request_id.get(),
            "details": {"fields": fields},
        }
    }


def told(error: Exception) -> AcervoError:
    """What a client is told of an exception; what nobody foresaw goes to the log."""
    known = translate(error)
    if known.reason == pb.ERROR_REASON_INTERNAL and not isinstance(error, AcervoError):
        log.error("request failed", exc_info=error)
    return known


def answer(error: AcervoError, status: int | None = None) -> Response:
    """The HTTP answer to an error: `status`, or what its reason means."""
    headers = {}
    if error.reason == pb.ERROR_REASON_TOKEN_INVALID:
        headers["www-authenticate"] = "Bearer"
    if error.reason in _RETRY:
        headers["retry-after"] = "1"
    return JSONResponse(body(error), status or meaning(error.reason).http, headers)


async def on_error(_: Request, error: Exception) -> Response:
    """Starlette's handler of every exception that a route raises."""
    return answer(told(error))


async def on_disconnect(_: Request, error: Exception) -> Response:
    """Starlette's handler of clients that went before they had sent everything: nobody reads this answer."""
    return Response(status_code=499)


async def on_http_error(_: Request, error: Exception) -> Response:
    """Starlette's handler of its own refusals: no such path, no such method."""
    if isinstance(error, HTTPException) and error.status_code == METHOD_NOT_ALLOWED:
        refusal = answer(AcervoError(pb.ERROR_REASON_METHOD_NOT_ALLOWED))
        refusal.headers.update(error.headers or {})
        return refusal
    return answer(NotFound("path"))
