"""What access lets the caller reach. Asked anew for every call: nothing is remembered, and no answer refuses."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from grpc.aio import AioRpcError

from acervo.access.v1.access_pb2 import Permission, ResolveRequest, Target
from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervo.common.v1.error_reason_pb2 import ERROR_REASON_NOT_FOUND
from services.shared.client import Peers, from_rpc_error
from services.shared.errors import NotFound
from services.shared.ingestion_config import IngestionConfig
from services.shared.ingestion_config_codec import config_from_proto

_MOST_TARGETS = 100


@dataclass(frozen=True, slots=True)
class Base:
    """A knowledge base that the caller may reach."""

    id: UUID
    collection_name: str
    organization_id: UUID | None
    config: IngestionConfig


class Reach:
    """Asks access in the name of whoever calls us."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers

    async def bases(self, target: Target, permission: Permission) -> list[Base]:
        """Return the bases that a target names.

        Raises:
            AcervoError: NOT_FOUND where there are none; COLLECTION_AMBIGUOUS where a write names several.
        """
        return [_base(base) for base in await self._resolve([target], permission)]

    async def documents_of(self, base_ids: Collection[UUID], permission: Permission) -> None:
        """Let pass whoever may reach the documents of all these bases.

        Raises:
            NotFound: of a document, whether it is the base or the right to it that lacks.
        """
        targets = [Target(knowledge_base_id=str(base_id)) for base_id in sorted(base_ids)]
        try:
            for start in range(0, len(targets), _MOST_TARGETS):
                await self._resolve(targets[start : start + _MOST_TARGETS], permission)
        except AioRpcError as error:
            if from_rpc_error(error).reason == ERROR_REASON_NOT_FOUND:
                raise NotFound("document") from None
            raise

    async def _resolve(self, targets: Sequence[Target], permission: Permission) -> Sequence[KnowledgeBase]:
        request = ResolveRequest(targets=targets, permission=permission)
        answer = await self._peers.access().Resolve(request, **self._peers.forward("access"))
        return answer.knowledge_bases


def _base(base: KnowledgeBase) -> Base:
    organization_id = UUID(base.organization_id) if base.organization_id else None
    return Base(
        UUID(base.id), base.collection_name, organization_id, config_from_proto(base.ingestion_config)
    )
