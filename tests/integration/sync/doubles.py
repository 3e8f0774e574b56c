"""Doubles of the services that sync calls, behind real servers with real tokens.

They keep just the promises that sync relies on: access refuses what it does not know, upload answers a repeated
request id with the same document, a replacement retires the document of the same address once it is indexed.
"""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import UUID

from google.protobuf.message import Message

from acervo.access.v1 import access_pb2, knowledge_bases_pb2
from acervo.access.v1.access_pb2_grpc import AccessServiceServicer
from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.events.v1.facts_pb2 import DocumentDeleted, DocumentFinished
from acervo.ingest.v1 import documents_pb2 as ingest_pb
from acervo.ingest.v1.documents_pb2_grpc import DocumentServiceServicer
from acervo.upload.v1 import upload_pb2 as upload_pb
from acervo.upload.v1.upload_pb2_grpc import UploadServiceServicer
from services.shared import auth, bus
from services.shared.auth import PrincipalKind
from services.shared.broker import Broker, Outgoing
from services.shared.errors import AcervoError, NotFound, Overloaded, Unavailable
from services.shared.ids import uuid7
from services.shared.server import CallContext

FAILING = b"FAIL"
"""Content that cannot be indexed starts with this."""


class AccessDouble(AccessServiceServicer):
    """Knows who may view and edit which base, and who is the deployment's admin."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.admins: set[UUID] = set()
        self.viewers: set[tuple[UUID, UUID]] = set()
        self.editors: set[tuple[UUID, UUID]] = set()
        self.calls: list[str] = []

    async def WhoAmI(  # noqa: N802
        self, request: access_pb2.WhoAmIRequest, context: CallContext
    ) -> access_pb2.WhoAmIResponse:
        self.calls.append("WhoAmI")
        return access_pb2.WhoAmIResponse(deployment_admin=_person(request.actor_user_id) in self.admins)

    async def Resolve(  # noqa: N802
        self, request: access_pb2.ResolveRequest, context: CallContext
    ) -> access_pb2.ResolveResponse:
        self.calls.append("Resolve")
        person = _person(request.actor_user_id)
        edit = request.permission == access_pb2.PERMISSION_EDIT
        allowed = self.editors if edit else self.editors | self.viewers
        bases = [target.knowledge_base_id for target in request.targets]
        if any((person, UUID(base)) not in allowed for base in bases):
            raise NotFound("knowledge base")
        return access_pb2.ResolveResponse(
            knowledge_bases=[
                knowledge_bases_pb2.KnowledgeBase(id=base, organization_id=str(uuid7())) for base in bases
            ]
        )


def _person(actor: str) -> UUID | None:
    caller = auth.current()
    if actor:
        assert caller.kind is PrincipalKind.SERVICE
        return UUID(actor)
    return caller.user_id


@dataclass
class Stored:
    """A document of the double."""

    id: UUID
    base: UUID
    filename: str
    path: str
    content: bytes
    state: ingest_pb.DocumentState = ingest_pb.DOCUMENT_STATE_PROCESSING

    def to_proto(self) -> ingest_pb.Document:
        document = ingest_pb.Document(
            id=str(self.id),
            knowledge_base_id=str(self.base),
            filename=self.filename,
            state=self.state,
            source=ingest_pb.DOCUMENT_SOURCE_LOCAL if self.path else ingest_pb.DOCUMENT_SOURCE_UPLOAD,
            source_path=self.path,
        )
        if self.state == ingest_pb.DOCUMENT_STATE_ERROR:
            document.failure.reason = reasons.ERROR_REASON_FILE_CORRUPT
            document.failure.message = "The file is damaged."
        return document


class DocumentsDouble:
    """What upload and ingest hold together."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.forget()

    def forget(self) -> None:
        self.finishing = True
        """Whether documents end as soon as they are tracked."""
        self.telling = True
        """Whether facts are published."""
        self.down = False
        self.busy: dict[str, int] = {}
        """How often a path is turned away before it is taken."""
        self.refused: dict[str, AcervoError] = {}
        self.documents: dict[UUID, Stored] = {}
        self.requests: dict[str, UUID] = {}
        self.headers: list[upload_pb.UploadDocumentHeader] = []

    def held(self) -> dict[str, bytes]:
        """The content of what is indexed, by path."""
        done = ingest_pb.DOCUMENT_STATE_DONE
        return {stored.path: stored.content for stored in self.documents.values() if stored.state == done}

    async def take(self, header: upload_pb.UploadDocumentHeader, content: bytes) -> tuple[Stored, bool]:
        if self.down:
            raise Unavailable
        if self.busy.get(header.source_path, 0) > 0:
            self.busy[header.source_path] -= 1
            raise Overloaded
        if header.source_path in self.refused:
            raise self.refused[header.source_path]
        assert hashlib.sha256(content).digest() == header.sha256
        assert len(content) == header.size
        self.headers.append(header)
        if (before := self._already(header, content)) is not None:
            return before, True
        stored = Stored(uuid7(), UUID(header.knowledge_base_id), header.filename, header.source_path, content)
        self.documents[stored.id] = stored
        self.requests[header.request_id] = stored.id
        if self.finishing:
            await self.finish(stored)
        return stored, False

    def _already(self, header: upload_pb.UploadDocumentHeader, content: bytes) -> Stored | None:
        if (known := self.requests.get(header.request_id)) is not None:
            return self.documents[known]
        for stored in self.documents.values():
            same = (stored.path, stored.content) == (header.source_path, content)
            if same and stored.state != ingest_pb.DOCUMENT_STATE_ERROR:
                return stored
        return None

    async def finish(self, stored: Stored) -> None:
        """End a document, and retire what it replaces."""
        done = not stored.content.startswith(FAILING)
        stored.state = ingest_pb.DOCUMENT_STATE_DONE if done else ingest_pb.DOCUMENT_STATE_ERROR
        reason = reasons.ERROR_REASON_UNSPECIFIED if done else reasons.ERROR_REASON_FILE_CORRUPT
        fact = DocumentFinished(document_id=str(stored.id), attempt=1, done=done, reason=reason)
        await self.tell(bus.DOCUMENT_FINISHED, fact)
        for older in [other for other in self.documents.values() if done and self._replaced(other, stored)]:
            await self.remove(older.id)

    def _replaced(self, older: Stored, newer: Stored) -> bool:
        return (older.path, older.base) == (newer.path, newer.base) and older.id < newer.id

    async def remove(self, document_id: UUID) -> None:
        stored = self.documents.pop(document_id)
        fact = DocumentDeleted(document_id=str(document_id), knowledge_base_id=str(stored.base))
        await self.tell(bus.DOCUMENT_DELETED, fact)

    async def tell(self, subject: str, fact: Message) -> None:
        """Publish a fact as ingest."""
        if self.telling:
            await self._broker.publish([Outgoing(uuid7(), subject, fact.SerializeToString())])


class UploadDouble(UploadServiceServicer):
    """Takes files for `DocumentsDouble`."""

    def __init__(self, documents: DocumentsDouble) -> None:
        self._documents = documents

    async def UploadDocument(  # noqa: N802
        self, request_iterator: AsyncIterator[upload_pb.UploadDocumentRequest], context: CallContext
    ) -> upload_pb.UploadDocumentResponse:
        header, content = upload_pb.UploadDocumentHeader(), b""
        async for request in request_iterator:
            if request.WhichOneof("part") == "header":
                header = request.header
            content += request.data
        stored, present = await self._documents.take(header, content)
        return upload_pb.UploadDocumentResponse(document=stored.to_proto(), already_present=present)


class IngestDouble(DocumentServiceServicer):
    """Answers for the documents of `DocumentsDouble`. Of the other methods it has what was generated: UNIMPLEMENTED."""

    def __init__(self, documents: DocumentsDouble) -> None:
        self._documents = documents

    async def GetDocument(  # noqa: N802
        self, request: ingest_pb.GetDocumentRequest, context: CallContext
    ) -> ingest_pb.GetDocumentResponse:
        stored = self._documents.documents.get(UUID(request.document_id))
        if stored is None:
            raise NotFound("document")
        return ingest_pb.GetDocumentResponse(document=stored.to_proto())

    async def DeleteDocument(  # noqa: N802
        self, request: ingest_pb.DeleteDocumentRequest, context: CallContext
    ) -> ingest_pb.DeleteDocumentResponse:
        document_id = UUID(request.document_id)
        if document_id not in self._documents.documents:
            raise NotFound("document")
        await self._documents.remove(document_id)
        return ingest_pb.DeleteDocumentResponse()
