"""How a base is embedded, and by whom."""

from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.embedding_providers import Provider
from services.shared.errors import AcervoError
from services.vectorstore.models import Space


class ProviderUnavailable(AcervoError):
    """The base is served by a provider that nobody here calls: a model of this process would not be what was chosen."""

    def __init__(self, provider: str) -> None:
        super().__init__(pb.ERROR_REASON_EMBEDDING_PROVIDER_UNAVAILABLE, metadata={"provider": provider})


def space_of(base: KnowledgeBase) -> Space:
    """The space of a base that installed models serve. Raises ProviderUnavailable for others."""
    if base.embedding_provider != Provider.LOCAL:
        raise ProviderUnavailable(base.embedding_provider)
    return Space(base.embedding.model, base.embedding.width)
