"""The servicer of uploads: authorise, validate, call, encode."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any
from uuid import UUID

from grpc.aio import ServicerContext

from acervo.common.v1 import error_reason_pb2
from acervo.ingest.v1.documents_pb2 import CheckUploadRequest, CheckUploadResponse, GetDocumentRequest
from acervo.upload.v1 import upload_pb2 as pb
from acervo.upload.v1.upload_pb2_grpc import UploadServiceServicer
from services.shared import auth
from services.shared.auth import Principal, PrincipalKind
from services.shared.bus import Lane
from services.shared.client import Peers
from services.shared.db import Pool
from services.shared.errors import AcervoError, Overloaded, TryAgain
from services.shared.idempotency import Call
from services.shared.ids import uuid7
from services.shared.ingestion_config_codec import config_from_proto
from services.shared.interceptors import Callers
from services.shared.kinds import label
from services.upload import decode, files, requests
from services.upload.files import File, Source
from services.upload.intake import Content, Declared, Intake, UploadMalformed
from services.upload.reception import Reception, Repeated
from services.upload.requests import Made
from services.upload.tracking import LANES, SOURCES, Tracking

CALLERS = {"/acervo.upload.v1.UploadService/UploadDocument": Callers.ANY}

_LANES = {code: lane for lane, code in LANES.items()}
_SOURCES = {code: source for source, code in SOURCES.items()}

Messages = AsyncIterator[pb.UploadDocumentRequest]
Context = ServicerContext[Any, Any]


class UploadService(UploadServiceServicer):
    """Takes files. `slots` at a time; a caller may pause for `idle_seconds` between two messages."""

    def __init__(
        self,
        pool: Pool,
        peers: Peers,
        reception: Reception,
        tracking: Tracking,
        *,
        slots: int,
        idle_seconds: float,
    ) -> None:
        self._pool = pool
        self._peers = peers
        self._reception = reception
        self._tracking = tracking
        self._slots = asyncio.Semaphore(slots)
        self._idle_seconds = idle_seconds

    async def UploadDocument(  # noqa: N802
        self, request_iterator: Messages, context: Context
    ) -> pb.UploadDocumentResponse:
        """Store one file and have a document made of it."""
        if self._slots.locked():
            raise Overloaded
        async with self._slots:
            header = await self._header(request_iterator)
            checked = await self._peers.ingest().CheckUpload(_check(header), **self._peers.forward("ingest"))
            decode.check_header(header, by_service=auth.current().kind is PrincipalKind.SERVICE)
            call = Call.of(header)
            if (made := await requests.find(self._pool, call)) is not None:
                return await self._again(call, made)
            try:
                file = await self._receive(request_iterator, header, checked, call)
            except Repeated as repeated:
                return await self._again(call, repeated.made)
            return await self._track(file)

    async def _receive(
        self,
        messages: Messages,
        header: pb.UploadDocumentHeader,
        checked: CheckUploadResponse,
        call: Call,
    ) -> File:
        file_id = uuid7()
        caller = auth.current()
        declared = Declared(header.filename, header.media_type, header.size, header.sha256, checked.max_size)

        def describe(content: Content) -> File:
            return _file(file_id, caller, header, checked, content)

        async with aclosing(self._parts(messages)) as parts:
            return await self._reception.receive(file_id, parts, Intake(declared), describe, call)

    async def _again(self, call: Call, made: Made) -> pb.UploadDocumentResponse:
        """Answer a request that was made before with the document that it has led to."""
        if made.document_id is None:
            file = await files.received(self._pool, made.file_id)
            if file is not None:
                return await self._track(file)
            answered = await requests.find(self._pool, call)
            if answered is None or answered.document_id is None:
                raise TryAgain  # refused at this very moment
            made = answered
        asked = GetDocumentRequest(document_id=str(made.document_id))
        found = await self._peers.ingest().GetDocument(asked, **self._peers.forward("ingest"))
        return pb.UploadDocumentResponse(document=found.document, already_present=made.already_present)

    async def _track(self, file: File) -> pb.UploadDocumentResponse:
        tracked = await self._tracking.track(file)
        return pb.UploadDocumentResponse(document=tracked.document, already_present=tracked.already_present)

    async def _header(self, messages: Messages) -> pb.UploadDocumentHeader:
        first = await self._next(messages)
        if first is None or first.WhichOneof("part") != "header":
            raise UploadMalformed("The first message is the header.")
        return first.header

    async def _parts(self, messages: Messages) -> AsyncGenerator[bytes, None]:
        while (message := await self._next(messages)) is not None:
            if message.WhichOneof("part") != "data":
                raise UploadMalformed("After the header come bytes.")
            yield message.data

    async def _next(self, messages: Messages) -> pb.UploadDocumentRequest | None:
        try:
            async with asyncio.timeout(self._idle_seconds):
                return await anext(messages, None)
        except TimeoutError:
            raise AcervoError(
                error_reason_pb2.ERROR_REASON_DEADLINE_EXCEEDED,
                f"No message came for {self._idle_seconds:g} seconds.",
            ) from None


def _check(header: pb.UploadDocumentHeader) -> CheckUploadRequest:
    return CheckUploadRequest(
        knowledge_base_id=header.knowledge_base_id,
        collection_name=header.collection_name,
        filename=header.filename,
        media_type=header.media_type,
        size=header.size,
        ingestion_config=header.ingestion_config,
    )


def _file(
    file_id: UUID,
    caller: Principal,
    header: pb.UploadDocumentHeader,
    checked: CheckUploadResponse,
    content: Content,
) -> File:
    actor = caller.user_id or (UUID(header.actor_user_id) if header.actor_user_id else None)
    default_lane = Lane.BULK if caller.kind is PrincipalKind.SERVICE else Lane.INTERACTIVE
    return File(
        id=file_id,
        knowledge_base_id=UUID(checked.knowledge_base_id),
        collection_name=checked.collection_name,
        organization_id=UUID(checked.organization_id) if checked.organization_id else None,
        actor_user_id=actor,
        filename=label(header.filename),
        kind=content.kind,
        size=content.size,
        sha256=content.sha256,
        ingestion_config=config_from_proto(checked.ingestion_config),
        replaces=header.replace,
        lane=_LANES.get(header.lane, default_lane),
        source=_SOURCES.get(header.source, Source.UPLOAD),
        source_path=header.source_path,
        discard_original=header.discard_original,
    )
