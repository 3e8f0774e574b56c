"""The servicer of documents: authorise, validate, call, encode."""

import time
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from grpc.aio import ServicerContext

from acervo.access.v1.access_pb2 import PERMISSION_EDIT, PERMISSION_VIEW, Permission
from acervo.common.v1.error_reason_pb2 import ERROR_REASON_FILE_TOO_LARGE
from acervo.ingest.v1 import documents_pb2 as pb
from acervo.ingest.v1.documents_pb2_grpc import DocumentServiceServicer
from services.ingest import decode, rows, tracking
from services.ingest.codec import document_to_proto
from services.ingest.documents import Document, State
from services.ingest.reach import Reach
from services.ingest.watch import Hub, View
from services.shared import auth, kinds
from services.shared.db import Connection, Pool
from services.shared.errors import AcervoError, NotFound
from services.shared.fields import read_uuid
from services.shared.idempotency import Call, answered, once
from services.shared.ids import uuid7
from services.shared.ingestion_config import merge
from services.shared.ingestion_config_codec import config_to_proto, override_from_proto
from services.shared.reach import NO_BASE, target_of
from services.shared.server import Callers

SERVICE = "/acervo.ingest.v1.DocumentService"
CALLERS = {
    f"{SERVICE}/CheckUpload": Callers.ANY,
    f"{SERVICE}/CreateDocument": Callers.SERVICES,
    f"{SERVICE}/GetDocument": Callers.ANY,
    f"{SERVICE}/ListDocuments": Callers.ANY,
    f"{SERVICE}/WatchDocuments": Callers.ANY,
    f"{SERVICE}/DeleteDocument": Callers.ANY,
    f"{SERVICE}/RetryDocument": Callers.ANY,
}

AUTHORISE_SECONDS = 30.0

Context = ServicerContext[Any, Any]


class DocumentService(DocumentServiceServicer):
    """Answers for documents. Everything is allowed or refused by access, at the time of the call."""

    def __init__(
        self, pool: Pool, reach: Reach, hub: Hub, authorise_seconds: float = AUTHORISE_SECONDS
    ) -> None:
        self._pool = pool
        self._reach = reach
        self._hub = hub
        self._authorise_seconds = authorise_seconds

    async def CheckUpload(self, request: pb.CheckUploadRequest, context: Context) -> pb.CheckUploadResponse:  # noqa: N802
        """Refuse what UploadDocument would refuse, or say what the file would become."""
        (base,) = await self._reach.bases(target_of(request), PERMISSION_EDIT)
        decode.check_upload(request)
        kind = kinds.declared(request.filename, request.media_type)
        if request.size > kind.document_limit:
            raise _too_large(kind.document_limit)
        config = merge(base.config, override_from_proto(request.ingestion_config))
        return pb.CheckUploadResponse(
            knowledge_base_id=str(base.id),
            collection_name=base.collection_name,
            organization_id=str(base.organization_id or ""),
            ingestion_config=config_to_proto(config),
            kind=kind.name,
            max_size=kind.document_limit,
        )

    async def CreateDocument(  # noqa: N802
        self, request: pb.CreateDocumentRequest, context: Context
    ) -> pb.CreateDocumentResponse:
        """Track a stored file."""
        tracked = await tracking.create(self._pool, decode.new_document(uuid7(), request))
        return pb.CreateDocumentResponse(
            document=document_to_proto(tracked.document), already_present=tracked.already_present
        )

    async def GetDocument(self, request: pb.GetDocumentRequest, context: Context) -> pb.GetDocumentResponse:  # noqa: N802
        """Answer one document."""
        document = await self._reached(read_uuid("document_id", request.document_id), PERMISSION_VIEW)
        return pb.GetDocumentResponse(document=document_to_proto(document))

    async def ListDocuments(  # noqa: N802
        self, request: pb.ListDocumentsRequest, context: Context
    ) -> pb.ListDocumentsResponse:
        """Answer a page of documents, newest first, and how many there are."""
        bases = await self._reach.bases(target_of(request), PERMISSION_VIEW)
        states, wanted = decode.listing(request)
        base_ids = [base.id for base in bases]
        async with self._pool.acquire() as connection:
            page = await rows.page(connection, base_ids, states, wanted)
            counts = await rows.count(connection, base_ids)
        return pb.ListDocumentsResponse(
            documents=map(document_to_proto, page.rows),
            next_page_token=page.next_page_token,
            counts=pb.DocumentCounts(
                processing=counts[State.PROCESSING], done=counts[State.DONE], error=counts[State.ERROR]
            ),
        )

    async def WatchDocuments(  # noqa: N802
        self, request: pb.WatchDocumentsRequest, context: Context
    ) -> AsyncIterator[pb.WatchDocumentsResponse]:
        """Send documents as they are and as they change, as long as the caller may see them."""
        ids = decode.watched(request)
        await self._all_reached(ids)
        with self._hub.subscribe(ids, auth.current().id) as subscription:
            view = View(ids)
            checked = time.monotonic()
            while not view.over:
                left = checked + self._authorise_seconds - time.monotonic()
                changes = await subscription.take(max(0.0, left))
                if time.monotonic() - checked >= self._authorise_seconds:
                    await self._reach.documents_of(view.base_ids, PERMISSION_VIEW)
                    checked = time.monotonic()
                for document_id, document in view.news(changes).items():
                    yield _watched(document_id, document)

    async def DeleteDocument(  # noqa: N802
        self, request: pb.DeleteDocumentRequest, context: Context
    ) -> pb.DeleteDocumentResponse:
        """Remove a document, in any state."""
        document_id = read_uuid("document_id", request.document_id)
        call = Call.of(request)
        if (before := await answered(self._pool, call, pb.DeleteDocumentResponse)) is not None:
            return before
        await self._reached(document_id, PERMISSION_EDIT)

        async def delete(connection: Connection) -> pb.DeleteDocumentResponse:
            await tracking.delete(connection, document_id)
            return pb.DeleteDocumentResponse()

        return await once(self._pool, call, pb.DeleteDocumentResponse, delete)

    async def RetryDocument(  # noqa: N802
        self, request: pb.RetryDocumentRequest, context: Context
    ) -> pb.RetryDocumentResponse:
        """Start a failed document again."""
        call = Call.of(request)
        document = await self._reached(read_uuid("document_id", request.document_id), PERMISSION_EDIT)

        async def retry(connection: Connection) -> pb.RetryDocumentResponse:
            retried = await tracking.retry(connection, document)
            return pb.RetryDocumentResponse(document=document_to_proto(retried))

        return await once(self._pool, call, pb.RetryDocumentResponse, retry)

    async def _reached(self, document_id: UUID, permission: Permission) -> Document:
        """Return a document; absent ones and those out of reach are refused alike, by the same calls."""
        async with self._pool.acquire() as connection:
            found = await rows.get(connection, [document_id])
        await self._reach.documents_of([found[0].knowledge_base_id if found else NO_BASE], permission)
        if not found:
            raise NotFound("document")
        return found[0]

    async def _all_reached(self, ids: list[UUID]) -> None:
        async with self._pool.acquire() as connection:
            found = await rows.get(connection, ids)
        base_ids = {document.knowledge_base_id for document in found}
        complete = len(found) == len(ids)
        await self._reach.documents_of(base_ids if complete else base_ids | {NO_BASE}, PERMISSION_VIEW)
        if not complete:
            raise NotFound("document")


def _too_large(limit: int) -> AcervoError:
    """What a file above its kind's limit is refused with."""
    return AcervoError(
        ERROR_REASON_FILE_TOO_LARGE,
        f"The file is larger than {limit // (1024 * 1024)} MiB.",
        metadata={"max_size": str(limit)},
    )


def _watched(document_id: UUID, document: Document | None) -> pb.WatchDocumentsResponse:
    if document is None:
        return pb.WatchDocumentsResponse(document=pb.Document(id=str(document_id)), deleted=True)
    return pb.WatchDocumentsResponse(document=document_to_proto(document))
