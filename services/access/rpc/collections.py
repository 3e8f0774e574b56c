"""What is held under collections' names without belonging to anybody."""

from collections.abc import Mapping
from typing import Final

from acervo.access.v1 import collections_pb2, collections_pb2_grpc
from services.access.bases import creation, dropping, unowned
from services.access.bases.claims import Embedding
from services.access.callers import Callers
from services.access.messages import decode, encode
from services.shared import server
from services.shared.db import Connection, Pool
from services.shared.fields import read_optional_uuid
from services.shared.idempotency import Call, once
from services.shared.ids import uuid7
from services.shared.names import check_collection_name
from services.shared.server import CallContext

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.CollectionService/OpenOperatorBase": server.Callers.PEOPLE,
    "/acervo.access.v1.CollectionService/InspectProvenance": server.Callers.PEOPLE,
    "/acervo.access.v1.CollectionService/ConfirmProvenance": server.Callers.PEOPLE,
    "/acervo.access.v1.CollectionService/DropCollection": server.Callers.PEOPLE,
}


class CollectionServicer(collections_pb2_grpc.CollectionServiceServicer):
    """Keeps what nobody owns."""

    def __init__(self, pool: Pool, callers: Callers, default_embedding: Embedding) -> None:
        self._pool = pool
        self._callers = callers
        self._default_embedding = default_embedding

    async def OpenOperatorBase(  # noqa: N802
        self, request: collections_pb2.OpenOperatorBaseRequest, context: CallContext
    ) -> collections_pb2.OpenOperatorBaseResponse:
        """The operators' base of a name."""
        caller = self._callers.current()
        call = Call.of(request)
        name, wanted = decode.operator_base(request)

        async def work(connection: Connection) -> collections_pb2.OpenOperatorBaseResponse:
            await creation.wait_a_second(connection)
            base = await unowned.open_base(
                connection, caller, name, wanted, default=self._default_embedding, base_id=uuid7()
            )
            return collections_pb2.OpenOperatorBaseResponse(knowledge_base=encode.knowledge_base(base))

        return await once(self._pool, call, collections_pb2.OpenOperatorBaseResponse, work)

    async def InspectProvenance(  # noqa: N802
        self, request: collections_pb2.InspectProvenanceRequest, context: CallContext
    ) -> collections_pb2.InspectProvenanceResponse:
        """How many bases of which kind hold a name."""
        caller = self._callers.current()
        check_collection_name(request.collection_name)
        return encode.provenance(await unowned.inspect(self._pool, caller, request.collection_name))

    async def ConfirmProvenance(  # noqa: N802
        self, request: collections_pb2.ConfirmProvenanceRequest, context: CallContext
    ) -> collections_pb2.ConfirmProvenanceResponse:
        """Content of unknown origin that is an operator's."""
        caller = self._callers.current()
        call = Call.of(request)
        check_collection_name(request.collection_name)

        async def work(connection: Connection) -> collections_pb2.ConfirmProvenanceResponse:
            count = await unowned.confirm(connection, caller, request.collection_name)
            return collections_pb2.ConfirmProvenanceResponse(confirmed_count=count)

        return await once(self._pool, call, collections_pb2.ConfirmProvenanceResponse, work)

    async def DropCollection(  # noqa: N802
        self, request: collections_pb2.DropCollectionRequest, context: CallContext
    ) -> collections_pb2.DropCollectionResponse:
        """A collection without content."""
        caller = self._callers.current()
        call = Call.of(request)
        chosen = read_optional_uuid("knowledge_base_id", request.knowledge_base_id)
        check_collection_name(request.collection_name)

        async def work(connection: Connection) -> collections_pb2.DropCollectionResponse:
            done = await dropping.drop(connection, caller, request.collection_name, chosen, uuid7)
            return collections_pb2.DropCollectionResponse(
                emptied_knowledge_base_id=str(done.emptied or ""),
                deleted_knowledge_base_ids=map(str, done.deleted),
            )

        return await once(self._pool, call, collections_pb2.DropCollectionResponse, work)
