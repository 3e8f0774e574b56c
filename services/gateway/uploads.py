"""Uploads: the body of a request, sent on to upload as it comes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from grpc.aio import AioRpcError, StreamUnaryCall
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from acervo.upload.v1.upload_pb2 import UploadDocumentHeader, UploadDocumentRequest, UploadDocumentResponse
from services.gateway import decode, encode
from services.gateway.body import Body
from services.gateway.decode import UploadFields
from services.gateway.forms import read_form
from services.gateway.places import Places
from services.shared import auth
from services.shared.client import Stubs, call_options

MESSAGE_BYTES: Final = 256 * 1024
MAX_UPLOADS: Final = 200
MAX_UPLOADS_EACH: Final = 32
# What curl says of every body unless it is told: says nothing of the file.
_UNDECLARED: Final = "application/x-www-form-urlencoded"


class Uploads:
    """POST /api/v1/documents: a raw body described by the query, or a form with its file last."""

    def __init__(self, stubs: Stubs, seconds: float) -> None:
        self._stubs = stubs
        self._seconds = seconds
        self._places = Places("uploads", MAX_UPLOADS, MAX_UPLOADS_EACH)

    async def create(self, request: Request) -> Response:
        """Store one file; 201 with its document, or 200 where the base held it already."""
        caller = auth.current()
        with self._places.take(caller):
            answer = await self._upload(request, caller.token)
        content = {
            "document": encode.document(answer.document),
            "already_present": answer.already_present,
        }
        return JSONResponse(content, 200 if answer.already_present else 201)

    async def _upload(self, request: Request, token: str) -> UploadDocumentResponse:
        """Begin the call before the body is read: whoever is refused is told so whatever they send."""
        call = self._stubs.upload().UploadDocument(**call_options(token, self._seconds))
        answer = asyncio.ensure_future(_answer(call))
        sending = asyncio.ensure_future(_send(call, request))
        try:
            await asyncio.wait((answer, sending), return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                await sending
            return await answer
        finally:
            call.cancel()
            sending.cancel()
            await asyncio.gather(answer, sending, return_exceptions=True)


async def _answer(
    call: "StreamUnaryCall[UploadDocumentRequest, UploadDocumentResponse]",
) -> UploadDocumentResponse:
    return await call


async def _send(
    call: "StreamUnaryCall[UploadDocumentRequest, UploadDocumentResponse]", request: Request
) -> None:
    header, file = await _read(request, Body(request.receive))
    try:
        await call.write(UploadDocumentRequest(header=header))
        async for block in _blocks(file):
            await call.write(UploadDocumentRequest(data=block))
        await call.done_writing()
    except (asyncio.InvalidStateError, AioRpcError):
        pass  # answered before the end: the answer says why


async def _read(request: Request, body: Body) -> tuple[UploadDocumentHeader, AsyncIterator[bytes]]:
    given: dict[str, Any] = dict(request.query_params)
    content_type = request.headers.get("content-type", "")
    kind = content_type.partition(";")[0].strip().lower()
    file: AsyncIterator[bytes] = body
    if kind == "multipart/form-data":
        form = await read_form(content_type, body)
        named = {"filename": form.filename, "media_type": form.media_type}
        given = {**given, **named, **form.fields}
        file = form.file
    else:
        media_type = "" if kind == _UNDECLARED else content_type
        given = {"media_type": media_type, "size": request.headers.get("content-length", "0"), **given}
    if key := request.headers.get("idempotency-key"):
        given.setdefault("request_id", key)
    return decode.fields(UploadFields, given).header(), file


async def _blocks(file: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The bytes in messages of the size that serves best."""
    held = bytearray()
    async for chunk in file:
        held += chunk
        while len(held) >= MESSAGE_BYTES:
            yield bytes(held[:MESSAGE_BYTES])
            del held[:MESSAGE_BYTES]
    if held:
        yield bytes(held)
