"""Knowledge bases."""

from collections.abc import Mapping
from typing import Final

from acervo.access.v1 import knowledge_bases_pb2 as bases_pb2
from acervo.access.v1 import knowledge_bases_pb2_grpc as bases_pb2_grpc
from services.access import creation, decode, deletion, encode, knowledge_bases
from services.access.callers import Callers
from services.access.claims import Embedding
from services.access.creation import Fresh
from services.access.reach import Want
from services.access.refusals import BaseNotFound
from services.shared import server
from services.shared.db import Connection, Pool
from services.shared.fields import read_uuid
from services.shared.idempotency import Call, once
from services.shared.ids import uuid7
from services.shared.server import CallContext

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.KnowledgeBaseService/CreateKnowledgeBase": server.Callers.PEOPLE,
    "/acervo.access.v1.KnowledgeBaseService/GetKnowledgeBase": server.Callers.PEOPLE,
    "/acervo.access.v1.KnowledgeBaseService/ListKnowledgeBases": server.Callers.PEOPLE,
    "/acervo.access.v1.KnowledgeBaseService/DeleteKnowledgeBase": server.Callers.PEOPLE,
}


class KnowledgeBaseServicer(bases_pb2_grpc.KnowledgeBaseServiceServicer):
    """Keeps knowledge bases."""

    def __init__(self, pool: Pool, callers: Callers, default_embedding: Embedding) -> None:
        self._pool = pool
        self._callers = callers
        self._default_embedding = default_embedding

    async def CreateKnowledgeBase(  # noqa: N802
        self, request: bases_pb2.CreateKnowledgeBaseRequest, context: CallContext
    ) -> bases_pb2.CreateKnowledgeBaseResponse:
        """A base on a name that the caller may have."""
        caller = self._callers.current()
        call = Call.of(request)
        wish = decode.wish(request)

        async def work(connection: Connection) -> bases_pb2.CreateKnowledgeBaseResponse:
            base = await creation.create(connection, caller, wish, Fresh.of(self._default_embedding))
            return bases_pb2.CreateKnowledgeBaseResponse(knowledge_base=encode.knowledge_base(base))

        return await once(self._pool, call, bases_pb2.CreateKnowledgeBaseResponse, work)

    async def GetKnowledgeBase(  # noqa: N802
        self, request: bases_pb2.GetKnowledgeBaseRequest, context: CallContext
    ) -> bases_pb2.GetKnowledgeBaseResponse:
        """A base that the caller may view."""
        caller = self._callers.current()
        base_id = read_uuid("knowledge_base_id", request.knowledge_base_id)
        base = await knowledge_bases.find(self._pool, caller, base_id, Want.VIEW)
        if base is None:
            raise BaseNotFound
        return bases_pb2.GetKnowledgeBaseResponse(knowledge_base=encode.knowledge_base(base))

    async def ListKnowledgeBases(  # noqa: N802
        self, request: bases_pb2.ListKnowledgeBasesRequest, context: CallContext
    ) -> bases_pb2.ListKnowledgeBasesResponse:
        """The bases that the caller may view."""
        caller = self._callers.current()
        which, wanted = decode.bases_page(request)
        page = await knowledge_bases.page(self._pool, caller, which, wanted)
        return bases_pb2.ListKnowledgeBasesResponse(
            knowledge_bases=map(encode.knowledge_base, page.rows), next_page_token=page.next_page_token
        )

    async def DeleteKnowledgeBase(  # noqa: N802
        self, request: bases_pb2.DeleteKnowledgeBaseRequest, context: CallContext
    ) -> bases_pb2.DeleteKnowledgeBaseResponse:
        """A base gone, or an organization's default emptied."""
        caller = self._callers.current()
        call = Call.of(request)
        base_id = read_uuid("knowledge_base_id", request.knowledge_base_id)

        async def work(connection: Connection) -> bases_pb2.DeleteKnowledgeBaseResponse:
            await deletion.delete_base(connection, caller, base_id, uuid7)
            return bases_pb2.DeleteKnowledgeBaseResponse()

        return await once(self._pool, call, bases_pb2.DeleteKnowledgeBaseResponse, work)
