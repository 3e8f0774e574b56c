"""What happens around every call: an id, a caller, a row in the table of callers, a typed answer."""

import asyncio
import logging
import re
import time
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, TypeAlias
from uuid import uuid4

import grpc
from grpc.aio import AbortError, AioRpcError, ServicerContext

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared import auth, client, telemetry
from services.shared.auth import Principal, PrincipalKind, TokenVerifier
from services.shared.errors import AcervoError, Overloaded, ServicesOnly, Unauthenticated, reason_name
from services.shared.rpc_status import DETAILS_KEY, encode, short_message, status_code
from services.shared.translation import translate

log = logging.getLogger("services.calls")

# What every method of a servicer is given beside the request.
CallContext: TypeAlias = "ServicerContext[Any, Any]"
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"

MAX_ANONYMOUS_CALLS: Final = 64
ANONYMOUS_SECONDS: Final = 10.0
MESSAGE_SECONDS: Final = 30.0
MAX_CALLS_EACH: Final = 300

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


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A call as it came: before any of its messages was read."""

    method: str
    request_id: str
    started: float
    caller: Principal | None = None


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Wraps each call of one server. Tokens are checked by `verifier`, callers by the row of the method.

    That is done before a message is read: only callers who are let in may keep a call open.
    """

    def __init__(self, verifier: TokenVerifier, callers: Mapping[str, Callers]) -> None:
        self._verifier = verifier
        self._callers = callers
        self._anonymous = Anonymous()
        self._crowd = _Crowd()

    async def intercept_service(
        self,
        continuation: "Callable[[grpc.HandlerCallDetails], Awaitable[_Handler | None]]",
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "_Handler | None":
        """Called by gRPC for each call. An unknown method, and one without a row, is unknown."""
        started = time.perf_counter()
        handler = await continuation(handler_call_details)
        callers = self._callers.get(handler_call_details.method)
        if handler is None or callers is None:
            return None  # gRPC itself answers UNIMPLEMENTED
        pairs = handler_call_details.invocation_metadata or ()
        metadata = {key: value for key, value in pairs if isinstance(value, str)}
        arrival = _Arrival(handler_call_details.method, _request_id(metadata), started)
        telemetry.request_id.set(arrival.request_id)
        if callers is Callers.PUBLIC:
            return _public(handler, arrival, self._anonymous)
        try:
            caller = await self._authenticate(callers, metadata)
        except Exception as error:  # noqa: BLE001 - told to the caller once the call can be answered
            return _refusal(arrival, error)
        return _wrapped(handler, replace(arrival, caller=caller), self._crowd)

    async def _authenticate(self, callers: Callers, metadata: Mapping[str, str]) -> Principal:
        scheme, _, token = metadata.get(client.AUTHORIZATION_KEY, "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated
        principal = await self._verifier.verify(token)
        is_service = principal.kind is PrincipalKind.SERVICE
        if callers is Callers.SERVICES and not is_service:
            raise ServicesOnly
        if callers is Callers.PEOPLE and is_service:
            raise Unauthenticated
        return principal


class _Crowd:
    """The calls under way of each person and agent, so that nobody takes all of a server's places."""

    def __init__(self) -> None:
        self._running: Counter[str] = Counter()

    @contextmanager
    def place(self, caller: Principal | None) -> Iterator[None]:
        """Run a block. Raises AcervoError (OVERLOADED) where the caller has enough under way; services never have."""
        if caller is None or caller.kind is PrincipalKind.SERVICE:
            yield
            return
        if self._running[caller.id] >= MAX_CALLS_EACH:
            raise AcervoError(
                pb.ERROR_REASON_OVERLOADED,
                f"You have {MAX_CALLS_EACH} calls under way; wait until some have ended.",
            )
        self._running[caller.id] += 1
        try:
            yield
        finally:
            self._running[caller.id] -= 1
            if not self._running[caller.id]:
                del self._running[caller.id]


class Anonymous:
    """Room for what nobody in particular asks: little at a time, each for a short time.

    A newcomer ends the oldest where there is no room, so that whoever holds many calls open only ends its own.
    """

    def __init__(self) -> None:
        self._running: dict[asyncio.Timeout, None] = {}

    @asynccontextmanager
    async def room(self) -> AsyncIterator[None]:
        """Run a block. Raises Overloaded once its time is over, or its room is wanted."""
        if len(self._running) >= MAX_ANONYMOUS_CALLS:
            oldest = next(iter(self._running))
            del self._running[oldest]
            if not oldest.expired():
                oldest.reschedule(0)
        try:
            async with asyncio.timeout(ANONYMOUS_SECONDS) as limit:
                self._running[limit] = None
                try:
                    yield
                finally:
                    self._running.pop(limit, None)
        except TimeoutError:
            raise Overloaded from None


# Every method is answered as one that takes a stream: for the message of a unary call gRPC itself waits without end.


def _wrapped(handler: "_Handler", arrival: _Arrival, crowd: _Crowd) -> "_Handler":
    behavior = getattr(handler, _shape(handler))

    async def unary(requests: AsyncIterable[object], context: CallContext) -> object:
        async with _answering(arrival, context):
            with crowd.place(arrival.caller):
                return await behavior(await _asked(handler, requests, context), context)

    async def stream(requests: AsyncIterable[object], context: CallContext) -> AsyncIterator[object]:
        async with _answering(arrival, context):
            with crowd.place(arrival.caller):
                async for answer in behavior(await _asked(handler, requests, context), context):
                    yield answer

    coders = (handler.request_deserializer, handler.response_serializer)
    if handler.response_streaming:
        return grpc.stream_stream_rpc_method_handler(stream, *coders)
    return grpc.stream_unary_rpc_method_handler(unary, *coders)


def _public(handler: "_Handler", arrival: _Arrival, anonymous: Anonymous) -> "_Handler":
    """Writes all answers itself, so that its time counts while nobody reads them."""
    behavior = getattr(handler, _shape(handler))

    async def call(requests: AsyncIterable[object], context: CallContext) -> None:
        async with _answering(arrival, context), anonymous.room():
            asked = await _asked(handler, requests, context)
            if handler.response_streaming:
                async for answer in behavior(asked, context):
                    await context.write(answer)
            else:
                await context.write(await behavior(asked, context))

    coders = (handler.request_deserializer, handler.response_serializer)
    return grpc.stream_stream_rpc_method_handler(call, *coders)


async def _asked(handler: "_Handler", requests: AsyncIterable[object], context: CallContext) -> object:
    """What a method is given: its stream, or its one message, which must come in time."""
    if handler.request_streaming:
        return requests
    try:
        async with asyncio.timeout(MESSAGE_SECONDS):
            message = await context.read()
    except TimeoutError:
        raise AcervoError(pb.ERROR_REASON_REQUEST_TOO_SLOW) from None
    if message is grpc.aio.EOF:
        raise AcervoError(pb.ERROR_REASON_REQUEST_MALFORMED)
    return message


def _refusal(arrival: _Arrival, error: Exception) -> "_Handler":
    """Answers at once and reads no message: that of a unary call may never come."""

    async def call(_: AsyncIterable[object], context: CallContext) -> None:
        async with _answering(arrival, context):
            raise error

    return grpc.stream_unary_rpc_method_handler(call)


def _shape(handler: "_Handler") -> str:
    given = "stream" if handler.request_streaming else "unary"
    return f"{given}_{'stream' if handler.response_streaming else 'unary'}"


@asynccontextmanager
async def _answering(arrival: _Arrival, context: CallContext) -> AsyncIterator[None]:
    client.enter(context.time_remaining())
    context.set_trailing_metadata(((client.REQUEST_ID_KEY, arrival.request_id),))
    if arrival.caller is not None:
        auth.enter(arrival.caller)
    outcome = "CANCELLED"
    try:
        yield
        outcome = "OK"
    except AbortError:
        outcome = "ABORTED"
        raise
    except Exception as error:  # noqa: BLE001 - the one place where every failure becomes an answer
        told = translate(error)
        outcome = reason_name(told.reason)
        _log_failure(error, told)
        pairs = _trailing(error, told, arrival.request_id)
        await context.abort(status_code(told), short_message(told), pairs)
    finally:
        _log_call(arrival, outcome)


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


def _log_call(arrival: _Arrival, outcome: str) -> None:
    level = logging.DEBUG if arrival.method.startswith(_QUIET) else logging.INFO
    if log.isEnabledFor(level):
        caller = arrival.caller
        who = None if caller is None else caller.service or str(caller.user_id)
        ms = round((time.perf_counter() - arrival.started) * 1000, 1)
        log.log(level, "call", extra={"method": arrival.method, "outcome": outcome, "caller": who, "ms": ms})
