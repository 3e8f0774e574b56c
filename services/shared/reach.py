"""What access lets our caller reach. Asked anew for every call: nothing is remembered, and no answer refuses."""

from collections.abc import Sequence
from typing import Final, Protocol
from uuid import UUID

from acervo.access.v1.access_pb2 import Permission, ResolveRequest, Target
from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervo.common.v1.error_reason_pb2 import ERROR_REASON_NOT_FOUND
from services.shared.client import Peers, refusals
from services.shared.errors import AcervoError, NotFound
from services.shared.fields import Fields

NO_BASE: Final = UUID(int=0)
"""No base has it: asking for it is how an absent thing is refused as one out of reach is."""

_MOST_TARGETS = 100


class NamesBase(Protocol):
    """A request for one base, by its id or by the name of its collection."""

    @property
    def knowledge_base_id(self) -> str: ...
    @property
    def collection_name(self) -> str: ...


def target_of(request: NamesBase) -> Target:
    """Read which base a request means. Raises FieldsInvalid."""
    with Fields() as fields:
        if bool(request.knowledge_base_id) == bool(request.collection_name):
            fields.refuse("knowledge_base_id", "Give this or collection_name, one of the two.")
        base_id = fields.optional_uuid("knowledge_base_id", request.knowledge_base_id)
    return Target(collection_name=request.collection_name) if base_id is None else target(base_id)


def target(base_id: UUID) -> Target:
    """Name a base by its id."""
    return Target(knowledge_base_id=str(base_id))


async def resolve(
    peers: Peers, targets: Sequence[Target], permission: Permission, *, kind: str = "knowledge base"
) -> list[KnowledgeBase]:
    """Return the bases that the targets name, each once, for whoever calls us.

    Raises:
        NotFound: of a `kind` of thing, where one of the targets reaches nothing.
        AcervoError: COLLECTION_AMBIGUOUS where a write names several; whatever else access refuses with.
    """
    bases: dict[str, KnowledgeBase] = {}
    try:
        for start in range(0, len(targets), _MOST_TARGETS):
            request = ResolveRequest(targets=targets[start : start + _MOST_TARGETS], permission=permission)
            with refusals():
                answer = await peers.access().Resolve(request, **peers.forward("access"))
            bases |= {base.id: base for base in answer.knowledge_bases}
    except AcervoError as refusal:
        if refusal.reason == ERROR_REASON_NOT_FOUND:
            raise NotFound(kind) from None
        raise
    return list(bases.values())
