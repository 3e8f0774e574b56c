"""Knowledge bases."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from acervo.access.v1 import knowledge_bases_pb2 as bases_pb2
from acervo.access.v1 import knowledge_bases_pb2_grpc as bases_pb2_grpc
from services.access.bases import creation, deletion, knowledge_bases, updating
from services.access.bases.claims import Embedding
from services.access.bases.creation import Fresh
from services.access.bases.embedding_settings import ServingEdit
from services.access.callers import Callers
from services.access.messages import base_changes, decode, encode
from services.access.outward import check_outward
from services.access.reach import Caller, Want
from services.access.refusals import BaseNotFound
from services.shared import server
from services.shared.db import Connection, Pool
from services.shared.egress import Allowed
from services.shared.fields import read_uuid
from services.shared.idempotency import Call, answered, once
from services.shared.ids import uuid7
from services.shared.server import CallContext

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.KnowledgeBaseService/CreateKnowledgeBase": server.Callers.PEOPLE,
    "/acervo.access.v1.KnowledgeBaseService/GetKnowledgeBase": server.Callers.PEOPLE,
    "/acervo.access.v1.KnowledgeBaseService/ListKnowledgeBases": server.Callers.PEOPLE,
    "/acervo.access.v1.KnowledgeBaseService/UpdateKnowledgeBase": server.Callers.PEOPLE,
    "/acervo.access.v1.KnowledgeBaseService/DeleteKnowledgeBase": server.Callers.PEOPLE,
}


class KnowledgeBaseServicer(bases_pb2_grpc.KnowledgeBaseServiceServicer):
    """Keeps knowledge bases."""

    def __init__(self, pool: Pool, callers: Callers, default_embedding: Embedding, allowed: Allowed) -> None:
        self._pool = pool
        self._callers = callers
        self._default_embedding = default_embedding
        self._allowed = allowed

    async def _check_address(self, serving: ServingEdit) -> None:
        """Before a transaction begins, and for nobody who may not: asking for a host's addresses may take long."""
        if serving.to.base_url:
            await check_outward("embedding_base_url", serving.to.base_url, self._allowed)

    async def _edits(self, caller: Caller, base_id: UUID) -> bool:
        return await knowledge_bases.find(self._pool, caller, base_id, Want.EDIT) is not None

    async def CreateKnowledgeBase(  # noqa: N802
        self, request: bases_pb2.CreateKnowledgeBaseRequest, context: CallContext
    ) -> bases_pb2.CreateKnowledgeBaseResponse:
        """A base on a name that the caller may have."""
        caller = self._callers.current()
        call = Call.of(request)
        wish = decode.wish(request)
        if (before := await answered(self._pool, call, bases_pb2.CreateKnowledgeBaseResponse)) is not None:
            return before
        await creation.check_maker(self._pool, caller, wish)
        await self._check_address(wish.serving)

        async def work(connection: Connection) -> bases_pb2.CreateKnowledgeBaseResponse:
            base = await creation.create(connection, caller, wish, Fresh.of(self._default_embedding))
            return bases_pb2.CreateKnowledgeBaseResponse(knowledge_base=encode.knowledge_base(base, key=True))

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
        key = base.serving.secret_id is not None and await self._edits(caller, base_id)
        return bases_pb2.GetKnowledgeBaseResponse(knowledge_base=encode.knowledge_base(base, key=key))

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

    async def UpdateKnowledgeBase(  # noqa: N802
        self, request: bases_pb2.UpdateKnowledgeBaseRequest, context: CallContext
    ) -> bases_pb2.UpdateKnowledgeBaseResponse:
        """A base as it is now."""
        caller = self._callers.current()
        call = Call.of(request)
        base_id, change = base_changes.change(request)
        if (before := await answered(self._pool, call, bases_pb2.UpdateKnowledgeBaseResponse)) is not None:
            return before
        if change.serving is not None:
            if not await self._edits(caller, base_id):
                raise BaseNotFound
            await self._check_address(change.serving)

        async def work(connection: Connection) -> bases_pb2.UpdateKnowledgeBaseResponse:
            base = await updating.update(connection, caller, base_id, change)
            key = Want.EDIT in updating.wants(change)
            return bases_pb2.UpdateKnowledgeBaseResponse(knowledge_base=encode.knowledge_base(base, key=key))

        return await once(self._pool, call, bases_pb2.UpdateKnowledgeBaseResponse, work)

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
