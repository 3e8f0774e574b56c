"""What is held under collections' names without belonging to anybody: for the deployment's admin."""

from uuid import uuid4

from acervo.access.v1 import collections_pb2 as pb
from acervo.access.v1.collections_pb2_grpc import CollectionServiceStub
from acervo.access.v1.knowledge_bases_pb2 import EmbeddingSettings, KnowledgeBase
from acervo_client.connection import Connection, typed_errors


class Collections:
    """Hidden bases, and the names that they hold. Every method raises `AcervoError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stub = CollectionServiceStub(connection.channel("access"))

    async def open_operator_base(
        self, collection_name: str, *, embedding: EmbeddingSettings | None = None
    ) -> KnowledgeBase:
        """The operators' hidden base of a name, made where there is none."""
        request = pb.OpenOperatorBaseRequest(
            request_id=str(uuid4()), collection_name=collection_name, embedding=embedding
        )
        async with typed_errors():
            return (await self._stub.OpenOperatorBase(request, **self._connection.call())).knowledge_base

    async def inspect(self, collection_name: str) -> pb.InspectProvenanceResponse:
        """How many bases of which kind hold a name."""
        request = pb.InspectProvenanceRequest(collection_name=collection_name)
        async with typed_errors():
            return await self._stub.InspectProvenance(request, **self._connection.call())

    async def confirm(self, collection_name: str) -> int:
        """Vouch that what is of unknown origin is the operators'; return how many bases that were."""
        request = pb.ConfirmProvenanceRequest(request_id=str(uuid4()), collection_name=collection_name)
        async with typed_errors():
            return (await self._stub.ConfirmProvenance(request, **self._connection.call())).confirmed_count

    async def drop(self, collection_name: str, *, knowledge_base_id: str = "") -> pb.DropCollectionResponse:
        """Empty the one regular base of a name and delete its hidden ones; or do so to one base alone."""
        request = pb.DropCollectionRequest(
            request_id=str(uuid4()), collection_name=collection_name, knowledge_base_id=knowledge_base_id
        )
        async with typed_errors():
            return await self._stub.DropCollection(request, **self._connection.call())
