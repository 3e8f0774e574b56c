"""What access lets the caller read. Asked anew for every call: nothing is remembered, and no answer refuses."""

from collections.abc import Sequence

import grpc

from acervo.access.v1.access_pb2 import PERMISSION_VIEW, ResolveRequest, Target
from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from services.shared.client import Peers, from_rpc_error


class Reach:
    """Asks access, in the caller's name."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers

    async def readable(self, targets: Sequence[Target]) -> list[KnowledgeBase]:
        """Return the bases that the targets name, each once.

        Raises:
            NotFound: one of the targets reaches nothing; for the caller it does not exist.
        """
        request = ResolveRequest(targets=targets, permission=PERMISSION_VIEW)
        try:
            response = await self._peers.access().Resolve(request, **self._peers.forward("access"))
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error) from None
        return list(response.knowledge_bases)
