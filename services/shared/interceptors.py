"""What happens around every call: an id, a caller, a row in the table of callers, a typed answer."""

import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from enum import Enum
from typing import Any, Final, TypeAlias
from uuid import uuid4

import grpc
from grpc.aio import AbortError, AioRpcError, ServicerContext

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared import auth, client, telemetry
from services.shared.auth import Principal, PrincipalKind, TokenVerifier
from services.shared.errors import AcervoError, ServicesOnly, Unauthenticated, reason_name
from services.shared.rpc_status import DETAILS_KEY, encode, short_message, status_code, translate

log = logging.getLogger("services.calls")

# What every method of a servicer is given beside the request.
CallContext: TypeAlias = "ServicerContext[Any, Any]"
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET: Final = ("/grpc.health.", "/grpc.reflection.")


class Callers(Enum):
    """Who may call a method. Which things the caller may reach is decided later, by access."""

    PUBLIC = "public"
    """Everybody, without a token."""
    ANY = "any"
    """People, agents and services."""
    PEOPLE = "people"
    """People and their agents."""
    SERVICES = "services"
    """Acervo's own services."""


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Wraps each call of one server. Tokens are checked by `verifier`, callers by the row of the method."""

    def __init__(self, verifier: TokenVerifier, callers: Mapping[str, Callers]) -> None:
        self._verifier = verifier
        self._callers = callers

    async def intercept_service(
        self,
        continuation: "Callable[[grpc.HandlerCallDetails], Awaitable[_Handler | None]]",
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "_Handler | None":
        """Called by gRPC for each call; an unknown method stays unknown."""
        handler: Any = await continuation(handler_call_details)
        if handler is None:
            return None  # gRPC itself answers UNIMPLEMENTED
        shape = "stream" if handler.request_streaming else "unary"
        name = f"{shape}_{'stream' if handler.response_streaming else 'unary'}"
        wrap = self._wrap_stream if handler.response_streaming else self._wrap_unary
        wrapped = wrap(handler_call_details.method, getattr(handler, name))
        return handler._replace(**{name: wrapped})  # type: ignore[no-any-return]

    def _wrap_unary(self, method: str, behavior: Callable[..., Any]) -> Callable[..., Any]:
        async def call(request: object, context: CallContext) -> object:
            async with self._call(method, context):
                return await behavior(request, context)

        return call

    def _wrap_stream(self, method: str, behavior: Callable[..., Any]) -> Callable[..., Any]:
        async def call(request: object, context: CallContext) -> AsyncIterator[object]:
            async with self._call(method, context):
                answers = behavior(request, context)
                if not hasattr(answers, "__aiter__"):
                    await answers
                    return
                async for answer in answers:
                    yield answer

        return call

    @asynccontextmanager
    async def _call(self, method: str, context: CallContext) -> AsyncIterator[None]:
        started = time.perf_counter()
        metadata = {
            key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)
        }
        request_id = _request_id(metadata)
        telemetry.request_id.set(request_id)
        client.enter(context.time_remaining())
        context.set_trailing_metadata(((client.REQUEST_ID_KEY, request_id),))
        outcome, caller = "CANCELLED", None
        try:
            caller = await self._authenticate(method, metadata)
            yield
            outcome = "OK"
        except AbortError:
            outcome = "ABORTED"
            raise
        except Exception as error:  # noqa: BLE001 - the one place where every failure becomes an answer
            told = translate(error)
            outcome = reason_name(told.reason)
            _log_failure(error, told)
            await context.abort(status_code(told), short_message(told), _trailing(error, told, request_id))
        finally:
            _log_call(method, outcome, caller, time.perf_counter() - started)

    async def _authenticate(self, method: str, metadata: Mapping[str, str]) -> Principal | None:
        callers = self._callers[method]
        if callers is Callers.PUBLIC:
            return None
        scheme, _, token = metadata.get(client.AUTHORIZATION_KEY, "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated
        principal = await self._verifier.verify(token)
        is_service = principal.kind is PrincipalKind.SERVICE
        if callers is Callers.SERVICES and not is_service:
            raise ServicesOnly
        if callers is Callers.PEOPLE and is_service:
            raise Unauthenticated
        auth.enter(principal)
        return principal


def _request_id(metadata: Mapping[str, str]) -> str:
    given = metadata.get(client.REQUEST_ID_KEY, "")
    return given if _REQUEST_ID.fullmatch(given) else uuid4().hex


def _trailing(error: Exception, told: AcervoError, request_id: str) -> tuple[tuple[str, str | bytes], ...]:
    pairs: list[tuple[str, str | bytes]] = [(client.REQUEST_ID_KEY, request_id), (DETAILS_KEY, encode(told))]
    if isinstance(error, AioRpcError):
        # The peer was called several times already; callers further out would multiply that.
        pairs.append(("grpc-retry-pushback-ms", "-1"))
    return tuple(pairs)


def _log_failure(error: Exception, told: AcervoError) -> None:
    if told.reason == pb.ERROR_REASON_INTERNAL:
        log.error("call failed", exc_info=error)
    elif told is not error and told.reason == pb.ERROR_REASON_UNAVAILABLE:
        why = error.details() if isinstance(error, AioRpcError) else f"{type(error).__name__}: {error}"
        log.warning("call failed", extra={"why": why})


def _log_call(method: str, outcome: str, caller: Principal | None, seconds: float) -> None:
    level = logging.DEBUG if method.startswith(_QUIET) else logging.INFO
    if log.isEnabledFor(level):
        who = None if caller is None else caller.service or str(caller.user_id)
        fields = {"method": method, "outcome": outcome, "caller": who, "ms": round(seconds * 1000, 1)}
        log.log(level, "call", extra=fields)
