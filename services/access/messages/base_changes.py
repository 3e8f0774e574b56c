"""What an update is to change of a base."""

from typing import Final
from uuid import UUID

from acervo.access.v1 import knowledge_bases_pb2 as pb
from services.access.bases.updating import BaseChange
from services.access.messages.decode import VISIBILITIES, read_display_name
from services.access.messages.serving import SERVING, read_serving
from services.access.reach import Visibility
from services.shared.fields import Fields
from services.shared.ingestion_config_codec import override_from_proto

_FIXED: Final = frozenset({"embedding", "embedding.model", "embedding.width"})
_KNOWN: Final = frozenset({"display_name", "visibility", "team_id", "ingestion_config", *SERVING})


def change(request: pb.UpdateKnowledgeBaseRequest) -> tuple[UUID, BaseChange]:
    """What is to change of which base."""
    with Fields() as fields:
        named = _named(fields, request)
        visibility = None
        if "visibility" in named:
            visibility = fields.choice("visibility", request.visibility, VISIBILITIES, Visibility.PRIVATE)
        return fields.uuid("knowledge_base_id", request.knowledge_base_id), BaseChange(
            display_name=read_display_name(fields, request.display_name) if "display_name" in named else None,
            visibility=visibility,
            team_id=_team(fields, request, visibility),
            ingestion_config=(
                override_from_proto(request.ingestion_config) if "ingestion_config" in named else None
            ),
            serving=read_serving(fields, request, named) if named & set(SERVING) else None,
        )


def _named(fields: Fields, request: pb.UpdateKnowledgeBaseRequest) -> frozenset[str]:
    named = frozenset(request.update_mask.paths)
    for path in sorted(named & _FIXED):
        fields.refuse(path, "Model and width are fixed when the collection is made.")
    if not named or named - _KNOWN - _FIXED:
        fields.refuse(
            "update_mask", f"This must name at least one of {', '.join(sorted(_KNOWN))}, and no other."
        )
    return named


def _team(
    fields: Fields, request: pb.UpdateKnowledgeBaseRequest, visibility: Visibility | None
) -> UUID | None:
    if visibility is Visibility.TEAM:
        return fields.uuid("team_id", request.team_id)
    if request.team_id or (visibility is None and "team_id" in request.update_mask.paths):
        fields.refuse("team_id", "This goes with the visibility TEAM.")
    return None
