"""The same client for code that does not use asyncio."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervo.ingest.v1.documents_pb2 import Document, WatchDocumentsResponse
from acervo.upload.v1.upload_pb2 import UploadDocumentResponse
from acervo.vectorstore.v1.search_pb2 import Passage
from acervo_client.client import AcervoClient
from acervo_client.connection import Token
from acervo_client.local import ADMIN, local_access
from acervo_client.uploads import NO_OPTIONS, UploadOptions

T = TypeVar("T")


class BlockingClient:
    """A thin wrapper of `AcervoClient`, for one thread at a time. Methods mean what they mean there."""

    def __init__(self, addresses: Mapping[str, str], token: Token, *, timeout_seconds: float = 30) -> None:
        self._runner = asyncio.Runner()
        self._client = AcervoClient(addresses, token, timeout_seconds=timeout_seconds)

    @classmethod
    def local(cls, home: Path | None = None, user: str = ADMIN) -> Self:
        """A client of the stack that `acervo up` runs on this machine, as one of its local people."""
        return cls(*local_access(home, user))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect."""
        self._run(lambda: self._client.close())
        self._runner.close()

    def create_knowledge_base(self, display_name: str, *, collection_name: str = "") -> KnowledgeBase:
        """Make a personal base."""
        return self._run(lambda: self._client.bases.create(display_name, collection_name=collection_name))

    def knowledge_bases(self) -> Iterator[KnowledgeBase]:
        """The bases that the caller may view."""
        return self._iterate(lambda: self._client.bases.list())

    def upload(
        self,
        path: Path,
        *,
        collection_name: str = "",
        knowledge_base_id: str = "",
        options: UploadOptions = NO_OPTIONS,
    ) -> UploadDocumentResponse:
        """Send a file into a base."""
        return self._run(
            lambda: self._client.documents.upload(
                path,
                collection_name=collection_name,
                knowledge_base_id=knowledge_base_id,
                options=options,
            )
        )

    def documents(self, *, collection_name: str = "", knowledge_base_id: str = "") -> Iterator[Document]:
        """The documents of a base or collection."""
        return self._iterate(
            lambda: self._client.documents.list(
                collection_name=collection_name, knowledge_base_id=knowledge_base_id
            )
        )

    def watch(self, document_ids: Sequence[str]) -> Iterator[WatchDocumentsResponse]:
        """Documents as they are and at each change, until all are at their end."""
        return self._iterate(lambda: self._client.documents.watch(document_ids))

    def delete_document(self, document_id: str) -> None:
        """Remove a document."""
        self._run(lambda: self._client.documents.delete(document_id))

    def search(
        self, query: str, *, collection_names: Sequence[str] = (), top_k: int = 10
    ) -> Sequence[Passage]:
        """The passages that fit a question best."""
        return self._run(lambda: self._client.search(query, collection_names=collection_names, top_k=top_k))

    def _run(self, call: Callable[[], Awaitable[T]]) -> T:
        async def within() -> T:
            return await call()  # channels belong to the loop in which they are made

        return self._runner.run(within())

    def _iterate(self, call: Callable[[], AsyncIterator[T]]) -> Iterator[T]:
        async def start() -> AsyncIterator[T]:
            return call()

        iterator = self._run(start)

        async def step() -> tuple[T, ...]:
            try:
                return (await anext(iterator),)
            except StopAsyncIteration:
                return ()

        while found := self._run(step):
            yield found[0]
