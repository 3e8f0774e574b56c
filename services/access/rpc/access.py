"""Who may reach what, and who asks."""

from collections.abc import Mapping
from typing import Final

from acervo.access.v1 import access_pb2, access_pb2_grpc
from services.access.bases import knowledge_bases
from services.access.callers import Callers
from services.access.messages import decode, encode
from services.access.reach import CallerKind, Settlement, Want, settle
from services.access.refusals import BaseNotFound, CollectionAmbiguous
from services.shared import server
from services.shared.db import Pool
from services.shared.fields import read_optional_uuid
from services.shared.server import CallContext

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.AccessService/Resolve": server.Callers.ANY,
    "/acervo.access.v1.AccessService/WhoAmI": server.Callers.ANY,
}


class AccessServicer(access_pb2_grpc.AccessServiceServicer):
    """Answers who may reach what."""

    def __init__(self, pool: Pool, callers: Callers) -> None:
        self._pool = pool
        self._callers = callers

    async def Resolve(  # noqa: N802
        self, request: access_pb2.ResolveRequest, context: CallContext
    ) -> access_pb2.ResolveResponse:
        """The bases that the targets name, or a refusal of them all."""
        caller = self._callers.acting_for(read_optional_uuid("actor_user_id", request.actor_user_id))
        targets, want = decode.targets(request)
        reached = await knowledge_bases.resolve(self._pool, caller, targets, want)
        settlement = settle(targets, [(base.id, base.collection_name) for base in reached], want)
        if settlement is Settlement.NOT_FOUND:
            raise BaseNotFound
        if settlement is Settlement.AMBIGUOUS:
            raise CollectionAmbiguous
        key = want is Want.EDIT or caller.kind is CallerKind.SERVICE
        return access_pb2.ResolveResponse(
            knowledge_bases=[encode.knowledge_base(base, key=key) for base in reached]
        )

    async def WhoAmI(  # noqa: N802
        self, request: access_pb2.WhoAmIRequest, context: CallContext
    ) -> access_pb2.WhoAmIResponse:
        """What the deployment knows of the caller."""
        caller = self._callers.acting_for(read_optional_uuid("actor_user_id", request.actor_user_id))
        return encode.who(caller)
