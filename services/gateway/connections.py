"""Connections that cannot hold each other up.

Only whole requests reach the application, so whoever sends half of one would be counted nowhere and wait for ever. Here
a head has its time to arrive, an answer its time to be read, and connections without a request share a bounded room in
which a newcomer takes the place of the one that has waited longest: health can be asked whatever others do.
"""

import asyncio
import socket
import sys
from typing import Any, Final
from uuid import uuid4

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from acervo.common.v1 import error_reason_pb2 as pb
from services.gateway import errors
from services.shared import telemetry
from services.shared.errors import AcervoError

MAX_HEAD_BYTES: Final = 32 * 1024
MAX_WAITING: Final = 512
HEAD_SECONDS: Final = 10.0
UNREAD_SECONDS: Final = 30.0
EVENTS_AT_ONCE: Final = 256
_TOO_LARGE: Final = 431


class Lobby:
    """The connections that have no request under way, each with the moment at which it is too slow."""

    def __init__(self) -> None:
        self._waiting: dict[Connection, asyncio.TimerHandle] = {}

    def enter(self, connection: "Connection") -> None:
        """Wait for a head; whoever waits already goes on waiting, whatever it sends."""
        if connection in self._waiting:
            return
        if len(self._waiting) >= MAX_WAITING:
            longest = next(iter(self._waiting))
            self.leave(longest)
            longest.transport.abort()
        self._waiting[connection] = connection.loop.call_later(HEAD_SECONDS, connection.too_slow)

    def leave(self, connection: "Connection") -> None:
        """Wait no longer."""
        if timer := self._waiting.pop(connection, None):
            timer.cancel()


class _Parser(h11.Connection):
    """Stops when its budget is spent: tiny chunks make thousands of events out of one read."""

    budget = 0

    def next_event(self) -> Any:
        """Called by uvicorn until nothing is left."""
        if not self.budget:
            return h11.NEED_DATA
        self.budget -= 1
        return super().next_event()


class Connection(H11Protocol):
    """uvicorn's connection, with limits."""

    def __init__(self, *, lobby: Lobby, **given: Any) -> None:
        super().__init__(**given)
        self.conn = self._parser = _Parser(h11.SERVER, MAX_HEAD_BYTES)
        self._lobby = lobby
        self._refused = False
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Called by asyncio, which lets small writes wait on sockets that it did not make itself."""
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self._lobby.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncio."""
        self._lobby.leave(self)
        self._read()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Called by asyncio."""
        if not self._refused:
            super().data_received(data)

    def handle_events(self) -> None:
        """Called by uvicorn when bytes came."""
        self._parser.budget = EVENTS_AT_ONCE
        super().handle_events()
        if not self._parser.budget and not self._refused:
            self.transport.pause_reading()
            self.loop.call_soon(self._go_on)
        self._settle()

    def _go_on(self) -> None:
        if self.transport.is_closing() or self._refused:
            return
        if not self.flow.read_paused:
            self.transport.resume_reading()
        self.handle_events()

    def on_response_complete(self) -> None:
        """Called by uvicorn when a request was answered."""
        super().on_response_complete()
        self._settle()

    def pause_writing(self) -> None:
        """Called by asyncio while the other side reads less than is written."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Called by asyncio when the other side reads on."""
        self._read()
        super().resume_writing()

    def too_slow(self) -> None:
        """Called by the lobby when no whole head came in time, or when the connection could not be closed."""
        self._lobby.leave(self)
        sent_nothing = not self.conn.trailing_data[0]
        if self.transport.is_closing() or sent_nothing or self.conn.our_state is not h11.IDLE:
            self.transport.abort()
            return
        self._refuse(AcervoError(pb.ERROR_REASON_REQUEST_TOO_SLOW))
        self._lobby.enter(self)

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn, while it handles h11's exception, for what is no request."""
        if getattr(sys.exception(), "error_status_hint", None) == _TOO_LARGE:
            self._refuse(head_too_long(), _TOO_LARGE)
        else:
            self._refuse(AcervoError(pb.ERROR_REASON_REQUEST_MALFORMED))

    def _settle(self) -> None:
        if self._refused or self.cycle is None or self.cycle.response_complete:
            self._lobby.enter(self)
        else:
            self._lobby.leave(self)

    def _read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _refuse(self, error: AcervoError, status: int | None = None) -> None:
        """Answer, and hear no more. The lobby ends the connection: closed at once, it would lose the answer."""
        self._refused = True
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()  # in the middle of an answer there is no other way to say it
            return
        telemetry.request_id.set(uuid4().hex)
        answer = errors.answer(error, status)
        head = h11.Response(
            status_code=answer.status_code,
            headers=[*answer.raw_headers, (b"connection", b"close")],
            reason=STATUS_PHRASES[answer.status_code],
        )
        for event in (head, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.write_eof()


def head_too_long() -> AcervoError:
    """What a request is refused with whose line and headers are too long; its status is 431."""
    message = f"The request's line and headers are longer than {MAX_HEAD_BYTES} bytes."
    return AcervoError(pb.ERROR_REASON_MESSAGE_TOO_LARGE, message)
