"""Uploads: the body of a request, sent on to upload as it comes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from grpc.aio import AioRpcError, StreamUnaryCall
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from acervo.upload.v1.upload_pb2 import UploadDocumentHeader, UploadDocumentRequest, UploadDocumentResponse
from services.gateway import decode, encode, errors
from services.gateway.decode import UploadFields
from services.gateway.forms import read_form
from services.shared.client import Stubs, call_options

MESSAGE_BYTES: Final = 256 * 1024
_DISCARD_BYTES: Final = 64 << 20
_DISCARD_SECONDS: Final = 10.0


class Uploads:
    """POST /api/v1/documents: a raw body described by the query, or a form with its file last."""

    def __init__(self, stubs: Stubs, seconds: float) -> None:
        self._stubs = stubs
        self._seconds = seconds

    async def create(self, request: Request) -> Response:
        """Store one file; 201 with its document, or 200 where the base held it already."""
        body = request.stream()
        try:
            return await self._create(request, body)
        except ClientDisconnect:
            raise
        except Exception as error:  # noqa: BLE001 - answered here, so that the rest of the body can be passed over
            refusal = errors.answer(errors.told(error))
            await _discard(body)
            return refusal

    async def _create(self, request: Request, body: AsyncIterator[bytes]) -> Response:
        options = call_options(decode.token(request), self._seconds)
        header, file = await _read(request, body)
        call = self._stubs.upload().UploadDocument(**options)
        answer = await _send(call, header, file)
        content = {
            "document": encode.document(answer.document),
            "already_present": answer.already_present,
        }
        return JSONResponse(content, 200 if answer.already_present else 201)


async def _read(
    request: Request, body: AsyncIterator[bytes]
) -> tuple[UploadDocumentHeader, AsyncIterator[bytes]]:
    given: dict[str, Any] = dict(request.query_params)
    content_type = request.headers.get("content-type", "")
    file = body
    if content_type.lower().startswith("multipart/form-data"):
        form = await read_form(content_type, body)
        named = {"filename": form.filename, "media_type": form.media_type}
        given = {**given, **named, **form.fields}
        file = form.file
    else:
        given = {"media_type": content_type, "size": request.headers.get("content-length", "0"), **given}
    if key := request.headers.get("idempotency-key"):
        given.setdefault("request_id", key)
    return decode.fields(UploadFields, given).header(), file


async def _send(
    call: "StreamUnaryCall[UploadDocumentRequest, UploadDocumentResponse]",
    header: UploadDocumentHeader,
    file: AsyncIterator[bytes],
) -> UploadDocumentResponse:
    try:
        await call.write(UploadDocumentRequest(header=header))
        async for block in _blocks(file):
            await call.write(UploadDocumentRequest(data=block))
        await call.done_writing()
    except (asyncio.InvalidStateError, AioRpcError):
        pass  # answered before the end: the answer says why
    except BaseException:
        call.cancel()
        raise
    return await call


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


async def _discard(body: AsyncIterator[bytes]) -> None:
    """Pass over what the client still sends, within bounds: many read no answer before they have sent all."""
    passed = 0
    try:
        async with asyncio.timeout(_DISCARD_SECONDS):
            async for chunk in body:
                passed += len(chunk)
                if passed > _DISCARD_BYTES:
                    return
    except (TimeoutError, ClientDisconnect):
        return
