"""Two services that call each other over real connections, doing what tests of servers and clients need."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from acervo.access.v1 import access_pb2
from acervo.access.v1.access_pb2_grpc import AccessServiceServicer, add_AccessServiceServicer_to_server
from acervo.ingest.v1 import documents_pb2
from acervo.ingest.v1.documents_pb2_grpc import DocumentServiceServicer, add_DocumentServiceServicer_to_server
from services.shared import auth, telemetry
from services.shared.client import CallOptions, Peers, call_options
from services.shared.errors import FieldsInvalid, FieldViolation, NotFound
from services.shared.server import CallContext, Callers, Server, build_server
from services.shared.settings import ServiceSettings
from tests.signing import Trust

ACCESS = {
    "/acervo.access.v1.AccessService/Resolve": Callers.ANY,
    "/acervo.access.v1.AccessService/WhoAmI": Callers.SERVICES,
}
DOCUMENTS = {
    f"/acervo.ingest.v1.DocumentService/{method}": Callers.ANY
    for method in (
        *("CheckUpload", "CreateDocument", "GetDocument", "ListDocuments"),
        *("WatchDocuments", "DeleteDocument", "RetryDocument"),
    )
}
DOCUMENTS["/acervo.ingest.v1.DocumentService/CreateDocument"] = Callers.SERVICES
DOCUMENTS["/acervo.ingest.v1.DocumentService/RetryDocument"] = Callers.PEOPLE


class Access(AccessServiceServicer):
    """Says how it was called."""

    def __init__(self) -> None:
        self.calls: list[tuple[str | None, str, float]] = []
        self.failures = 0

    async def Resolve(  # noqa: N802
        self, request: access_pb2.ResolveRequest, context: CallContext
    ) -> access_pb2.ResolveResponse:
        principal = auth.current()
        self.calls.append(
            (principal.service or principal.subject, telemetry.request_id.get(), context.time_remaining())
        )
        if self.failures:
            self.failures -= 1
            raise ConnectionResetError
        return access_pb2.ResolveResponse()

    async def WhoAmI(  # noqa: N802
        self, request: access_pb2.WhoAmIRequest, context: CallContext
    ) -> access_pb2.WhoAmIResponse:
        return access_pb2.WhoAmIResponse(service=auth.current().service)


class Documents(DocumentServiceServicer):
    """Each method does one thing that servers do."""

    def __init__(self, peers: Peers) -> None:
        self.peers = peers
        self.entered = asyncio.Event()
        self.left = asyncio.Event()
        self.held = 0

    async def CheckUpload(  # noqa: N802
        self, request: documents_pb2.CheckUploadRequest, context: CallContext
    ) -> documents_pb2.CheckUploadResponse:
        await self.peers.access().Resolve(access_pb2.ResolveRequest(), **self.peers.forward("access"))
        return documents_pb2.CheckUploadResponse()

    async def CreateDocument(  # noqa: N802
        self, request: documents_pb2.CreateDocumentRequest, context: CallContext
    ) -> documents_pb2.CreateDocumentResponse:
        await self.peers.access().WhoAmI(access_pb2.WhoAmIRequest(), **self.peers.own("access"))
        return documents_pb2.CreateDocumentResponse()

    async def GetDocument(  # noqa: N802
        self, request: documents_pb2.GetDocumentRequest, context: CallContext
    ) -> documents_pb2.GetDocumentResponse:
        match request.document_id:
            case "absent":
                raise NotFound("document")
            case "invalid":
                raise FieldsInvalid([FieldViolation("document_id", "is no UUID")])
            case "endless":
                raise FieldsInvalid([FieldViolation("ñ" * 1000, "ñ" * 1000)] * 1000)
            case "broken":
                raise KeyError("a secret of the database")
            case "slow":
                self.entered.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    self.left.set()
        return documents_pb2.GetDocumentResponse()

    async def ListDocuments(  # noqa: N802
        self, request: documents_pb2.ListDocumentsRequest, context: CallContext
    ) -> documents_pb2.ListDocumentsResponse:
        return documents_pb2.ListDocumentsResponse(next_page_token=auth.current().subject)

    async def WatchDocuments(  # noqa: N802
        self, request: documents_pb2.WatchDocumentsRequest, context: CallContext
    ) -> AsyncIterator[documents_pb2.WatchDocumentsResponse]:
        for document in request.document_ids:
            if document == "absent":
                raise NotFound("document")
            if document == "held":
                self.held += 1
                await asyncio.Event().wait()
            yield documents_pb2.WatchDocumentsResponse(document=documents_pb2.Document(id=document))

    async def DeleteDocument(  # noqa: N802
        self, request: documents_pb2.DeleteDocumentRequest, context: CallContext
    ) -> documents_pb2.DeleteDocumentResponse:
        return documents_pb2.DeleteDocumentResponse()

    async def RetryDocument(  # noqa: N802
        self, request: documents_pb2.RetryDocumentRequest, context: CallContext
    ) -> documents_pb2.RetryDocumentResponse:
        return documents_pb2.RetryDocumentResponse()


def service_settings(trust: Trust, **changes: str) -> ServiceSettings:
    given = {"database_url": "", "nats_url": "", "blob_url": "", "issuers": str(trust.issuers)}
    return ServiceSettings.model_validate({**given, "service_tokens": str(trust.directory), **changes})


class Deployment:
    """access and ingest, each on a port of its own, and people who call them."""

    def __init__(
        self, trust: Trust, access: Access, documents: Documents, servers: Mapping[str, Server]
    ) -> None:
        self.trust = trust
        self.access = access
        self.documents = documents
        self.servers = servers
        address = servers["ingest"].address
        self.caller = Peers(
            service_settings(trust, ingest_address=address),
            trust.service_tokens("gateway", "ingest", "access"),
        )

    def person(self, seconds: float = 10) -> CallOptions:
        return call_options(self.trust.person("ana"), seconds)


@asynccontextmanager
async def running(directory: Path) -> AsyncIterator[Deployment]:
    """Run access and ingest."""
    trust = Trust(directory)
    access = Access()
    access_server = await build_server(
        service_settings(trust),
        trust.verifier("access"),
        [(add_AccessServiceServicer_to_server, access)],
        ACCESS,
    )
    peers = Peers(
        service_settings(trust, access_address=access_server.address),
        trust.service_tokens("ingest", "access"),
    )
    documents = Documents(peers)
    server = await build_server(
        service_settings(trust),
        trust.verifier("ingest"),
        [(add_DocumentServiceServicer_to_server, documents)],
        DOCUMENTS,
    )
    for one in (access_server, server):
        await one.start()
    deployment = Deployment(trust, access, documents, {"access": access_server, "ingest": server})
    yield deployment
    await deployment.caller.close()
    await peers.close()
    for one in (server, access_server):
        await one.stop(0)
