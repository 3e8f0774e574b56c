"""upload on a real database, blob storage and gRPC, with an ingest that tests can tell what to do."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from grpc.aio import AioRpcError

from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.common.v1 import ingestion_config_pb2
from acervo.ingest.v1 import documents_pb2
from acervo.ingest.v1.documents_pb2_grpc import DocumentServiceServicer, add_DocumentServiceServicer_to_server
from acervo.upload.v1 import upload_pb2 as pb
from acervo.upload.v1.upload_pb2_grpc import add_UploadServiceServicer_to_server
from services.shared import auth
from services.shared.blobs import BlobStore, Collector
from services.shared.client import Peers, call_options, from_rpc_error
from services.shared.db import Pool, open_pool
from services.shared.errors import NotFound
from services.shared.ids import uuid7
from services.shared.server import CallContext, Callers, build_server
from services.shared.settings import ServiceSettings
from services.upload import rpc
from services.upload.limits import Limits, Pace
from services.upload.reception import Reception
from services.upload.rpc import UploadService
from services.upload.tracking import Tracking
from tests.signing import Trust

BASE = UUID("0197f3a0-0000-7000-8000-00000000000b")
MAX_SIZE = 8 << 20
LIMITS = Limits(slots=8, slots_per_caller=8, pace=Pace(idle_seconds=20, bytes_per_second=1))
_METHODS = (
    *("CheckUpload", "CreateDocument", "GetDocument", "ListDocuments"),
    *("WatchDocuments", "DeleteDocument", "RetryDocument"),
)
INGEST_CALLERS = {f"/acervo.ingest.v1.DocumentService/{method}": Callers.ANY for method in _METHODS}


class Ingest(DocumentServiceServicer):
    """Tracks documents in memory as ingest would; `failures` are raised first, one for each creation."""

    def __init__(self) -> None:
        self.checked: list[tuple[str, documents_pb2.CheckUploadRequest]] = []
        self.created: list[tuple[str | None, documents_pb2.CreateDocumentRequest]] = []
        self.documents: dict[str, documents_pb2.Document] = {}
        self.failures: list[Exception] = []
        self.answering = asyncio.Event()
        self.answering.set()
        self.present: documents_pb2.Document | None = None

    async def CheckUpload(  # noqa: N802
        self, request: documents_pb2.CheckUploadRequest, context: CallContext
    ) -> documents_pb2.CheckUploadResponse:
        caller = auth.current()
        self.checked.append((caller.service or caller.subject, request))
        if request.knowledge_base_id != str(BASE):
            raise NotFound("knowledge base")
        return documents_pb2.CheckUploadResponse(
            knowledge_base_id=str(BASE),
            collection_name="handbook",
            ingestion_config=ingestion_config_pb2.IngestionConfig(
                parser=ingestion_config_pb2.PARSER_PYMUPDF,
                chunk_size=2500,
                chunk_overlap=200,
                chunking_strategy=ingestion_config_pb2.CHUNKING_STRATEGY_RECURSIVE,
            ),
            kind=request.filename.rpartition(".")[2],
            max_size=MAX_SIZE,
        )

    async def CreateDocument(  # noqa: N802
        self, request: documents_pb2.CreateDocumentRequest, context: CallContext
    ) -> documents_pb2.CreateDocumentResponse:
        self.created.append((auth.current().service, request))
        if self.failures:
            raise self.failures.pop(0)
        await self.answering.wait()
        if self.present is not None:
            return documents_pb2.CreateDocumentResponse(document=self.present, already_present=True)
        document = self.documents.get(request.file_id)
        if document is None:
            document = documents_pb2.Document(id=str(uuid7()), filename=request.filename)
            self.documents[request.file_id] = document
        return documents_pb2.CreateDocumentResponse(document=document)

    async def GetDocument(  # noqa: N802
        self, request: documents_pb2.GetDocumentRequest, context: CallContext
    ) -> documents_pb2.GetDocumentResponse:
        for document in (*self.documents.values(), self.present):
            if document is not None and document.id == request.document_id:
                return documents_pb2.GetDocumentResponse(document=document)
        raise NotFound("document")


class Stack:
    """upload, as a person or a service meets it, and what it keeps."""

    def __init__(self, trust: Trust, peers: Peers, pool: Pool, blobs: BlobStore, ingest: Ingest) -> None:
        self.trust = trust
        self.peers = peers
        self.pool = pool
        self.blobs = blobs
        self.ingest = ingest
        self.tracking = Tracking(pool, peers, answer_seconds=0, reconcile_seconds=0.05)
        self.caller: Peers
        self.service: UploadService

    async def upload(
        self, parts: list[bytes], *, as_service: str = "", person: str = "ana", **header: Any
    ) -> pb.UploadDocumentResponse:
        """Upload a file as ana, or as somebody else."""
        return await self.send(messages(parts, **header), as_service=as_service, person=person)

    async def send(
        self, stream: Any, *, as_service: str = "", person: str = "ana"
    ) -> pb.UploadDocumentResponse:
        """Send a stream of messages, right or wrong."""
        token = self.trust.service(as_service, "upload") if as_service else self.trust.person(person)
        answer: pb.UploadDocumentResponse = await self.caller.upload().UploadDocument(
            stream, **call_options(token, 20)
        )
        return answer

    async def files(self) -> dict[str, str]:
        """State of each file by id."""
        return {str(row["id"]): row["state"] for row in await self.pool.fetch("SELECT id, state FROM files")}

    async def live_blobs(self) -> set[str]:
        """Keys of the blobs that are wanted."""
        rows = await self.pool.fetch("SELECT key FROM blobs WHERE state = 'live'")
        return {row["key"] for row in rows}

    async def stored(self) -> set[str]:
        """Keys of what lies in blob storage once the collector has passed."""
        await Collector(self.pool, self.blobs, 30).collect()
        return {key async for key in self.blobs.list_keys()}

    async def expire(self) -> None:
        """Let the time of all pending blobs run out."""
        await self.pool.execute("UPDATE blobs SET expires_at = now() WHERE state = 'pending'")


def messages(parts: list[bytes], **header: Any) -> Iterator[pb.UploadDocumentRequest]:
    """A header and the parts of a file."""
    given = {"knowledge_base_id": str(BASE), "filename": "notes.md", **header}
    yield pb.UploadDocumentRequest(header=pb.UploadDocumentHeader(**given))
    for part in parts:
        yield pb.UploadDocumentRequest(data=part)


def sha256(parts: list[bytes]) -> bytes:
    """The hash of a file."""
    return hashlib.sha256(b"".join(parts)).digest()


def settings(trust: Trust, **changes: str) -> ServiceSettings:
    """The settings of a service that tests build by hand."""
    given = {"database_url": "", "nats_url": "", "blob_url": "", "issuers": str(trust.issuers)}
    return ServiceSettings.model_validate({**given, "service_tokens": str(trust.directory), **changes})


@asynccontextmanager
async def running(
    directory: Path, database_url: str, blob_url: str, limits: Limits = LIMITS
) -> AsyncIterator[Stack]:
    """Run upload beside an ingest of the test's own."""
    trust = Trust(directory)
    ingest = Ingest()  # type: ignore[abstract]  # upload calls no other methods
    ingest_server = await build_server(
        settings(trust),
        trust.verifier("ingest"),
        [(add_DocumentServiceServicer_to_server, ingest)],
        INGEST_CALLERS,
    )
    await ingest_server.start()
    pool = await open_pool(database_url, size=8, application="upload")
    peers = Peers(
        settings(trust, ingest_address=ingest_server.address), trust.service_tokens("upload", "ingest")
    )
    stack = Stack(trust, peers, pool, BlobStore.open(blob_url), ingest)
    service = UploadService(
        pool,
        peers,
        Reception(pool, stack.blobs, answer_seconds=0, pending_seconds=600),
        stack.tracking,
        limits,
    )
    server = await build_server(
        settings(trust),
        trust.verifier("upload"),
        [(add_UploadServiceServicer_to_server, service)],
        rpc.CALLERS,
    )
    await server.start()
    stack.service = service
    stack.caller = Peers(settings(trust, upload_address=server.address), trust.service_tokens("gateway"))
    try:
        yield stack
    finally:
        await stack.caller.close()
        await server.stop(0)
        await peers.close()
        await ingest_server.stop(0)
        await pool.close()


@asynccontextmanager
async def refused(reason: reasons.ErrorReason) -> AsyncIterator[None]:
    with pytest.raises(AioRpcError) as refusal:
        yield
    assert from_rpc_error(refusal.value).reason == reason
