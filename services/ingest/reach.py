"""Bases and documents, as far as whoever calls us may reach them."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from acervo.access.v1.access_pb2 import Permission, Target
from services.shared.client import Peers
from services.shared.ingestion_config import IngestionConfig
from services.shared.ingestion_config_codec import config_from_proto
from services.shared.reach import resolve, target


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

    async def bases(self, named: Target, permission: Permission) -> list[Base]:
        """Return the bases that a target names.

        Raises:
            AcervoError: NOT_FOUND where there are none; COLLECTION_AMBIGUOUS where a write names several.
        """
        return [
            Base(
                UUID(base.id),
                base.collection_name,
                UUID(base.organization_id) if base.organization_id else None,
                config_from_proto(base.ingestion_config),
            )
            for base in await resolve(self._peers, [named], permission)
        ]

    async def documents_of(self, base_ids: Collection[UUID], permission: Permission) -> None:
        """Let pass whoever may reach the documents of all these bases.

        Raises:
            NotFound: of a document, whether it is the base or the right to it that lacks.
        """
        await resolve(
            self._peers, [target(base_id) for base_id in sorted(base_ids)], permission, kind="document"
        )
