"""The gateway over real HTTP, in front of real gRPC servers that do as tests tell them."""

import asyncio
import hashlib
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import httpx
from google.protobuf import descriptor_pool

from acervo.access.v1 import knowledge_bases_pb2 as bases_pb
from acervo.access.v1.knowledge_bases_pb2_grpc import (
    KnowledgeBaseServiceServicer,
    add_KnowledgeBaseServiceServicer_to_server,
)
from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.ingest.v1 import documents_pb2
from acervo.ingest.v1.documents_pb2_grpc import DocumentServiceServicer, add_DocumentServiceServicer_to_server
from acervo.upload.v1 import upload_pb2
from acervo.upload.v1.upload_pb2_grpc import UploadServiceServicer, add_UploadServiceServicer_to_server
from acervo.vectorstore.v1 import search_pb2
from acervo.vectorstore.v1.search_pb2_grpc import SearchServiceServicer, add_SearchServiceServicer_to_server
from services.gateway.app import Gateway
from services.gateway.settings import GatewaySettings
from services.shared import auth, identity
from services.shared.errors import AcervoError, FieldsInvalid, FieldViolation, NotFound
from services.shared.server import CallContext, Callers, Server, Servicer, build_server
from services.shared.settings import ServiceSettings
from tests.signing import Trust

SILENT = "https://silent.example"
DOCUMENT_ID = "0197f3a0-0000-7000-8000-000000000001"
DOCUMENT = documents_pb2.Document(
    id=DOCUMENT_ID,
    filename="notes.md",
    sha256=b"\xab" * 32,
    state=documents_pb2.DOCUMENT_STATE_PROCESSING,
    stage=documents_pb2.DOCUMENT_STAGE_PARSING,
)
DONE = documents_pb2.Document(id=DOCUMENT_ID, state=documents_pb2.DOCUMENT_STATE_DONE, chunk_count=3)


class Backend(
    DocumentServiceServicer, UploadServiceServicer, SearchServiceServicer, KnowledgeBaseServiceServicer
):
    """All services at once. `failure` is raised by every call; calls are kept with their caller."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.calls: list[tuple[str, object]] = []
        self.received: list[bytes] = []
        self.changes: asyncio.Queue[documents_pb2.WatchDocumentsResponse | None] = asyncio.Queue()
        self.watched = asyncio.Event()
        self.left = asyncio.Event()
        self.watching = 0
        self.present = False

    def _note(self, request: object) -> None:
        self.calls.append((auth.current().subject, request))
        if self.failure is not None:
            raise self.failure

    async def UploadDocument(  # noqa: N802
        self, request_iterator: AsyncIterator[upload_pb2.UploadDocumentRequest], context: CallContext
    ) -> upload_pb2.UploadDocumentResponse:
        first = await anext(request_iterator)
        self._note(first.header)
        self.received = []
        try:
            async for message in request_iterator:
                self.received.append(message.data)
        finally:
            self.left.set()
        document = documents_pb2.Document(id=DOCUMENT_ID, filename=first.header.filename)
        document.sha256 = hashlib.sha256(b"".join(self.received)).digest()
        return upload_pb2.UploadDocumentResponse(document=document, already_present=self.present)

    async def GetDocument(  # noqa: N802
        self, request: documents_pb2.GetDocumentRequest, context: CallContext
    ) -> documents_pb2.GetDocumentResponse:
        self._note(request)
        if request.document_id != DOCUMENT_ID:
            raise NotFound("document")
        return documents_pb2.GetDocumentResponse(document=DOCUMENT)

    async def ListDocuments(  # noqa: N802
        self, request: documents_pb2.ListDocumentsRequest, context: CallContext
    ) -> documents_pb2.ListDocumentsResponse:
        self._note(request)
        counts = documents_pb2.DocumentCounts(processing=1)
        return documents_pb2.ListDocumentsResponse(
            documents=[DOCUMENT], next_page_token="next", counts=counts
        )

    async def WatchDocuments(  # noqa: N802
        self, request: documents_pb2.WatchDocumentsRequest, context: CallContext
    ) -> AsyncIterator[documents_pb2.WatchDocumentsResponse]:
        self._note(request)
        self.watching += 1
        try:
            yield documents_pb2.WatchDocumentsResponse(document=DOCUMENT)
            self.watched.set()
            while (change := await self.changes.get()) is not None:
                if change.document.id == "lost":
                    raise NotFound("document")
                yield change
        finally:
            self.watching -= 1
            self.left.set()

    async def Search(  # noqa: N802
        self, request: search_pb2.SearchRequest, context: CallContext
    ) -> search_pb2.SearchResponse:
        self._note(request)
        if not request.query:
            raise FieldsInvalid([FieldViolation("query", "is empty.")])
        passage = search_pb2.Passage(document_id=DOCUMENT_ID, filename="notes.md", page=2, text="found")
        passage.scores.fused = 0.5
        return search_pb2.SearchResponse(passages=[passage])

    async def ListKnowledgeBases(  # noqa: N802
        self, request: bases_pb.ListKnowledgeBasesRequest, context: CallContext
    ) -> bases_pb.ListKnowledgeBasesResponse:
        self._note(request)
        base = bases_pb.KnowledgeBase(id="b", display_name="Handbook", scope=bases_pb.SCOPE_PERSONAL)
        return bases_pb.ListKnowledgeBasesResponse(knowledge_bases=[base])


_ADDERS = (
    add_UploadServiceServicer_to_server,
    add_DocumentServiceServicer_to_server,
    add_SearchServiceServicer_to_server,
    add_KnowledgeBaseServiceServicer_to_server,
)
_SERVICES = (
    "acervo.upload.v1.UploadService",
    "acervo.ingest.v1.DocumentService",
    "acervo.vectorstore.v1.SearchService",
    "acervo.access.v1.KnowledgeBaseService",
)
CALLERS = {
    f"/{service}/{method}": Callers.ANY
    for service in _SERVICES
    for method in descriptor_pool.Default().FindServiceByName(service).methods_by_name
}


class Stack:
    """The gateway, its backend, and ana's HTTP client."""

    def __init__(
        self, gateway: Gateway, backend: Backend, server: Server, client: httpx.AsyncClient, trust: Trust
    ) -> None:
        self.gateway = gateway
        self.backend = backend
        self.server = server
        self.client = client
        self.trust = trust


@asynccontextmanager
async def running(directory: Path, silent: socket.socket | None = None) -> AsyncIterator[Stack]:
    """Run the gateway in front of one server that is all services. Keys of the issuer `SILENT` are at `silent`."""
    trust = Trust(directory)
    if silent is not None:
        where = f"https://127.0.0.1:{silent.getsockname()[1]}/jwks"
        issuer = {"issuer": SILENT, "audience": identity.AUDIENCE, "kind": "users", "jwks": where}
        trust.issuers.write_text(json.dumps([*json.loads(trust.issuers.read_text()), issuer]))
    backend = Backend()  # type: ignore[abstract]  # the gateway calls no other methods
    settings = ServiceSettings.model_validate(
        {
            "database_url": "",
            "nats_url": "",
            "blob_url": "",
            "issuers": str(trust.issuers),
            "service_tokens": str(directory),
        }
    )
    servicers: list[Servicer] = [(add, backend) for add in _ADDERS]
    server = await build_server(settings, trust.verifier("upload"), servicers, CALLERS)
    await server.start()
    names = ("access", "upload", "ingest", "vectorstore", "sync")
    addresses = {f"{name}_address": server.address for name in names}
    gateway = Gateway(
        GatewaySettings.model_validate({**addresses, "issuers": trust.issuers, "drain_seconds": 5})
    )
    running = asyncio.create_task(gateway.run())
    headers = {"authorization": f"Bearer {trust.person('ana')}"}
    try:
        async with httpx.AsyncClient(
            base_url=f"http://{gateway.address}", headers=headers, timeout=20
        ) as client:
            yield Stack(gateway, backend, server, client, trust)
    finally:
        gateway.stop()
        await running
        await server.stop(0)


def overloaded() -> AcervoError:
    """What a service that has no room says."""
    return AcervoError(reasons.ERROR_REASON_OVERLOADED)


def spellings(stack: Stack) -> list[str]:
    """One person's tokens: each another one, or written in another way, or an agent's of theirs."""
    ana = stack.trust.person("ana")
    later = stack.trust.people.sign(sub="ana", iat=1)
    agent = stack.trust.people.sign(sub="ana", **{identity.AGENT_CLAIM: str(uuid4())})
    return [ana, f"{ana}==", later, agent]
