"""The servicer of uploads: authorise, validate, call, encode."""

from contextlib import aclosing, nullcontext
from typing import Any
from uuid import UUID

from grpc.aio import ServicerContext

from acervo.ingest.v1.documents_pb2 import CheckUploadRequest, CheckUploadResponse, GetDocumentRequest
from acervo.upload.v1 import upload_pb2 as pb
from acervo.upload.v1.upload_pb2_grpc import UploadServiceServicer
from services.shared import auth
from services.shared.auth import Principal, PrincipalKind
from services.shared.bus import Lane
from services.shared.client import Peers
from services.shared.db import Pool
from services.shared.errors import TryAgain
from services.shared.idempotency import Call
from services.shared.ids import uuid7
from services.shared.ingestion_config_codec import config_from_proto
from services.shared.interceptors import Callers
from services.shared.kinds import label
from services.upload import decode, files, requests
from services.upload.files import File, Source
from services.upload.intake import Content, Declared, Intake
from services.upload.limits import Limits, Places
from services.upload.reception import Reception, Repeated
from services.upload.requests import Made
from services.upload.stream import Messages, UploadStream
from services.upload.tracking import LANES, SOURCES, Tracking

CALLERS = {"/acervo.upload.v1.UploadService/UploadDocument": Callers.ANY}

_LANES = {code: lane for lane, code in LANES.items()}
_SOURCES = {code: source for source, code in SOURCES.items()}

Context = ServicerContext[Any, Any]


class UploadService(UploadServiceServicer):
    """Takes files, within limits."""

    def __init__(
        self, pool: Pool, peers: Peers, reception: Reception, tracking: Tracking, limits: Limits
    ) -> None:
        self._pool = pool
        self._peers = peers
        self._reception = reception
        self._tracking = tracking
        self._pace = limits.pace
        self._places = Places(limits.slots, "As many files are being taken as there is room for.")
        self._own_places = Places(
            limits.slots_per_caller,
            f"You are sending {limits.slots_per_caller} files, as many as go at once.",
        )

    async def UploadDocument(  # noqa: N802
        self, request_iterator: Messages, context: Context
    ) -> pb.UploadDocumentResponse:
        """Store one file and have a document made of it."""
        caller = auth.current()
        by_service = caller.kind is PrincipalKind.SERVICE
        with nullcontext() if by_service else self._own_places.hold(caller.id):
            stream = UploadStream(request_iterator, self._pace)
            header = await stream.header()
            checked = await self._peers.ingest().CheckUpload(_check(header), **self._peers.forward("ingest"))
            decode.check_header(header, by_service=by_service)
            call = Call.of(header)
            if (made := await requests.find(self._pool, call)) is not None:
                return await self._again(call, made)
            with self._places.hold():
                try:
                    file = await self._receive(stream, header, checked, call)
                except Repeated as repeated:
                    return await self._again(call, repeated.made)
                return await self._track(file)

    async def _receive(
        self,
        stream: UploadStream,
        header: pb.UploadDocumentHeader,
        checked: CheckUploadResponse,
        call: Call,
    ) -> File:
        file_id = uuid7()
        caller = auth.current()
        declared = Declared(header.filename, header.media_type, header.size, header.sha256, checked.max_size)

        def describe(content: Content) -> File:
            return _file(file_id, caller, header, checked, content)

        async with aclosing(stream.parts()) as parts:
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
