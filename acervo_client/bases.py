"""Knowledge bases."""

from collections.abc import AsyncIterator
from uuid import uuid4

from google.protobuf.field_mask_pb2 import FieldMask

from acervo.access.v1 import knowledge_bases_pb2
from acervo.access.v1.knowledge_bases_pb2_grpc import KnowledgeBaseServiceStub
from acervo.common.v1.ingestion_config_pb2 import IngestionConfig
from acervo_client.connection import Connection, typed_errors

_PAGE_SIZE = 500


class KnowledgeBases:
    """The bases that the caller may reach. Every method raises `AcervoError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stub = KnowledgeBaseServiceStub(connection.channel("access"))

    async def create(
        self,
        display_name: str,
        *,
        collection_name: str = "",
        scope: knowledge_bases_pb2.Scope = knowledge_bases_pb2.SCOPE_PERSONAL,
        organization_id: str = "",
        visibility: knowledge_bases_pb2.Visibility = knowledge_bases_pb2.VISIBILITY_UNSPECIFIED,
        team_id: str = "",
        embedding: knowledge_bases_pb2.EmbeddingSettings | None = None,
        ingestion_config: IngestionConfig | None = None,
        embedding_provider: str = "",
        embedding_secret_id: str = "",
        embedding_endpoint_id: str = "",
        embedding_base_url: str = "",
    ) -> knowledge_bases_pb2.KnowledgeBase:
        """Make a base. Without a collection name, one is derived from the display name."""
        request = knowledge_bases_pb2.CreateKnowledgeBaseRequest(
            request_id=str(uuid4()),
            display_name=display_name,
            collection_name=collection_name,
            scope=scope,
            organization_id=organization_id,
            visibility=visibility,
            team_id=team_id,
            embedding=embedding,
            ingestion_config=ingestion_config,
            embedding_provider=embedding_provider,
            embedding_secret_id=embedding_secret_id,
            embedding_endpoint_id=embedding_endpoint_id,
            embedding_base_url=embedding_base_url,
        )
        async with typed_errors():
            return (await self._stub.CreateKnowledgeBase(request, **self._connection.call())).knowledge_base

    async def get(self, knowledge_base_id: str) -> knowledge_bases_pb2.KnowledgeBase:
        """One base."""
        request = knowledge_bases_pb2.GetKnowledgeBaseRequest(knowledge_base_id=knowledge_base_id)
        async with typed_errors():
            return (await self._stub.GetKnowledgeBase(request, **self._connection.call())).knowledge_base

    async def list(
        self, *, collection_name: str = "", organization_id: str = ""
    ) -> AsyncIterator[knowledge_bases_pb2.KnowledgeBase]:
        """The bases that the caller may view, oldest first."""
        request = knowledge_bases_pb2.ListKnowledgeBasesRequest(
            collection_name=collection_name, organization_id=organization_id, page_size=_PAGE_SIZE
        )
        while True:
            async with typed_errors():
                page = await self._stub.ListKnowledgeBases(request, **self._connection.call())
            for base in page.knowledge_bases:
                yield base
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def update(
        self,
        knowledge_base_id: str,
        *,
        display_name: str | None = None,
        visibility: knowledge_bases_pb2.Visibility | None = None,
        team_id: str = "",
        ingestion_config: IngestionConfig | None = None,
        embedding_provider: str | None = None,
        embedding_secret_id: str | None = None,
        embedding_endpoint_id: str | None = None,
        embedding_base_url: str | None = None,
    ) -> knowledge_bases_pb2.KnowledgeBase:
        """Change a base; what is left out stays, what is empty is cleared."""
        given = {
            "display_name": display_name,
            "visibility": visibility,
            "ingestion_config": ingestion_config,
            "embedding_provider": embedding_provider,
            "embedding_secret_id": embedding_secret_id,
            "embedding_endpoint_id": embedding_endpoint_id,
            "embedding_base_url": embedding_base_url,
        }
        request = knowledge_bases_pb2.UpdateKnowledgeBaseRequest(
            request_id=str(uuid4()),
            knowledge_base_id=knowledge_base_id,
            display_name=display_name or "",
            visibility=visibility or knowledge_bases_pb2.VISIBILITY_UNSPECIFIED,
            team_id=team_id,
            ingestion_config=ingestion_config,
            embedding_provider=embedding_provider or "",
            embedding_secret_id=embedding_secret_id or "",
            embedding_endpoint_id=embedding_endpoint_id or "",
            embedding_base_url=embedding_base_url or "",
            update_mask=FieldMask(paths=[path for path, value in given.items() if value is not None]),
        )
        async with typed_errors():
            return (await self._stub.UpdateKnowledgeBase(request, **self._connection.call())).knowledge_base

    async def delete(self, knowledge_base_id: str) -> None:
        """Delete a base with all that it holds; the removal goes on in the background."""
        request = knowledge_bases_pb2.DeleteKnowledgeBaseRequest(
            request_id=str(uuid4()), knowledge_base_id=knowledge_base_id
        )
        async with typed_errors():
            await self._stub.DeleteKnowledgeBase(request, **self._connection.call())
