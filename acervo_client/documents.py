"""Documents: sent, watched, listed, removed."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from pathlib import Path
from uuid import uuid4

from acervo.ingest.v1 import documents_pb2
from acervo.ingest.v1.documents_pb2_grpc import DocumentServiceStub
from acervo.upload.v1 import upload_pb2
from acervo.upload.v1.upload_pb2_grpc import UploadServiceStub
from acervo_client.connection import Connection, typed_errors
from acervo_client.errors import AcervoError
from acervo_client.patience import Patience
from acervo_client.uploads import NO_OPTIONS, FileStream, UploadOptions

_PAGE_SIZE = 500
_WATCHED_TOGETHER = 1000
_UPLOAD_SECONDS = 3600.0
_TERMINAL = (documents_pb2.DOCUMENT_STATE_DONE, documents_pb2.DOCUMENT_STATE_ERROR)


class Documents:
    """The documents of the bases that the caller may reach. Every method raises `AcervoError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stub = DocumentServiceStub(connection.channel("ingest"))
        self._watches = DocumentServiceStub(connection.channel("ingest", lasting=True))
        self._uploads = UploadServiceStub(connection.channel("upload"))

    async def upload(
        self,
        path: Path,
        *,
        knowledge_base_id: str = "",
        collection_name: str = "",
        options: UploadOptions = NO_OPTIONS,
    ) -> upload_pb2.UploadDocumentResponse:
        """Send a file into one base, named by id or by a collection of which the caller may edit just one.

        Answers once the document is tracked; `watch` tells how it goes on. Safe to repeat: while a service
        does not answer, the same upload is sent again. Raises `OSError` where the file cannot be read.
        """
        stream = FileStream(
            path,
            options,
            knowledge_base_id=knowledge_base_id,
            collection_name=collection_name,
            request_id=str(uuid4()),
        )
        patience = Patience(self._connection.patience_seconds)
        while True:
            try:
                async with typed_errors():
                    answer = await self._uploads.UploadDocument(
                        stream.messages(), **self._connection.call(_UPLOAD_SECONDS)
                    )
            except AcervoError as error:
                await patience.wait_after(error)
            except asyncio.CancelledError:
                if stream.failure is None:
                    raise
                raise stream.failure from None
            else:
                break
        if answer.document.sha256 != stream.digest:
            raise AcervoError("CHECKSUM_MISMATCH")
        return answer

    async def get(self, document_id: str) -> documents_pb2.Document:
        """One document."""
        request = documents_pb2.GetDocumentRequest(document_id=document_id)
        async with typed_errors():
            return (await self._stub.GetDocument(request, **self._connection.call())).document

    async def list(
        self,
        *,
        knowledge_base_id: str = "",
        collection_name: str = "",
        states: Iterable[documents_pb2.DocumentState] = (),
    ) -> AsyncIterator[documents_pb2.Document]:
        """The documents of a base, or of all reachable bases of a collection, newest first."""
        request = documents_pb2.ListDocumentsRequest(
            knowledge_base_id=knowledge_base_id,
            collection_name=collection_name,
            states=list(states),
            page_size=_PAGE_SIZE,
        )
        while True:
            async with typed_errors():
                page = await self._stub.ListDocuments(request, **self._connection.call())
            for document in page.documents:
                yield document
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def counts(
        self, *, knowledge_base_id: str = "", collection_name: str = ""
    ) -> documents_pb2.DocumentCounts:
        """How many documents of a base or collection are in each state."""
        request = documents_pb2.ListDocumentsRequest(
            knowledge_base_id=knowledge_base_id, collection_name=collection_name, page_size=1
        )
        async with typed_errors():
            return (await self._stub.ListDocuments(request, **self._connection.call())).counts

    async def watch(
        self, document_ids: Sequence[str]
    ) -> AsyncGenerator[documents_pb2.WatchDocumentsResponse, None]:
        """Up to 1000 documents as they are now and at each change, until all are DONE, ERROR or gone.

        Survives restarts of the service: after one, a document may be told again as it is.
        """
        if not 1 <= len(document_ids) <= _WATCHED_TOGETHER:
            raise ValueError(f"1 to {_WATCHED_TOGETHER} documents can be watched together")
        pending = set(document_ids)
        patience = Patience(self._connection.patience_seconds)
        while pending:
            request = documents_pb2.WatchDocumentsRequest(document_ids=sorted(pending))
            try:
                async with typed_errors():
                    async for change in self._watches.WatchDocuments(request, **self._connection.stream()):
                        patience.renew()
                        if change.deleted or change.document.state in _TERMINAL:
                            pending.discard(change.document.id)
                        yield change
                if pending:
                    raise AcervoError("UNAVAILABLE")
            except AcervoError as error:
                await patience.wait_after(error)

    async def delete(self, document_id: str) -> None:
        """Remove a document in any state."""
        request = documents_pb2.DeleteDocumentRequest(request_id=str(uuid4()), document_id=document_id)
        async with typed_errors():
            await self._stub.DeleteDocument(request, **self._connection.call())

    async def retry(self, document_id: str) -> documents_pb2.Document:
        """Start a failed document again."""
        request = documents_pb2.RetryDocumentRequest(request_id=str(uuid4()), document_id=document_id)
        async with typed_errors():
            return (await self._stub.RetryDocument(request, **self._connection.call())).document
