"""The servicers of search and of what is stored: authorise, validate, call, encode."""

from collections.abc import Sequence
from uuid import UUID

from acervo.access.v1.access_pb2 import PERMISSION_VIEW, Target
from acervo.access.v1.knowledge_bases_pb2 import EmbeddingSettings, KnowledgeBase
from acervo.vectorstore.v1 import collections_pb2, search_pb2
from acervo.vectorstore.v1.collections_pb2_grpc import CollectionServiceServicer
from acervo.vectorstore.v1.search_pb2_grpc import SearchServiceServicer
from services.shared import auth
from services.shared.client import Peers
from services.shared.db import Pool
from services.shared.fields import Fields
from services.shared.interceptors import CallContext, Callers
from services.shared.reach import resolve
from services.vectorstore import contents
from services.vectorstore.models import DEFAULT_MODEL, installed
from services.vectorstore.search import Base, Legs, Passage, Query, Searcher
from services.vectorstore.serving import space_of

CALLERS = {
    "/acervo.vectorstore.v1.SearchService/Search": Callers.ANY,
    "/acervo.vectorstore.v1.SearchService/ListEmbeddingModels": Callers.ANY,
    "/acervo.vectorstore.v1.CollectionService/GetCollectionStats": Callers.ANY,
}

MAX_TARGETS = 100
MAX_QUERY = 8192
MAX_TOP_K = 100
_DEFAULT_TOP_K = 10

_LEGS = {
    search_pb2.SEARCH_MODE_UNSPECIFIED: Legs.BOTH,
    search_pb2.SEARCH_MODE_HYBRID: Legs.BOTH,
    search_pb2.SEARCH_MODE_VECTOR: Legs.VECTOR,
    search_pb2.SEARCH_MODE_LEXICAL: Legs.LEXICAL,
}


class SearchService(SearchServiceServicer):
    """Finds passages in the bases that the caller may read."""

    def __init__(self, peers: Peers, searcher: Searcher) -> None:
        self._peers = peers
        self._searcher = searcher

    async def Search(  # noqa: N802
        self, request: search_pb2.SearchRequest, context: CallContext
    ) -> search_pb2.SearchResponse:
        """Answer the passages that fit best, for all targets or for none."""
        targets = [Target(knowledge_base_id=text) for text in request.knowledge_base_ids]
        targets += [Target(collection_name=name) for name in request.collection_names]
        bases = await _readable(self._peers, targets)
        with Fields() as fields:
            if not request.query.strip() or len(request.query) > MAX_QUERY:
                fields.refuse("query", f"This must be 1 to {MAX_QUERY} characters, not all of them blank.")
            limit = fields.within("top_k", request.top_k or _DEFAULT_TOP_K, 1, MAX_TOP_K)
            legs = fields.choice("mode", request.mode, _LEGS, Legs.BOTH)
        query = Query(
            text=request.query,
            bases=[Base(UUID(base.id), base.collection_name, space_of(base)) for base in bases],
            limit=limit,
            legs=legs,
            caller=auth.current().id,
        )
        passages = await self._searcher.search(query)
        return search_pb2.SearchResponse(passages=map(_passage_to_proto, passages))

    async def ListEmbeddingModels(  # noqa: N802
        self, request: search_pb2.ListEmbeddingModelsRequest, context: CallContext
    ) -> search_pb2.ListEmbeddingModelsResponse:
        """Answer the models that are installed here. They are the same for everybody."""
        return search_pb2.ListEmbeddingModelsResponse(
            models=[
                search_pb2.EmbeddingModel(
                    settings=EmbeddingSettings(model=spec.name, width=spec.width),
                    description=spec.description,
                    default_model=spec.name == DEFAULT_MODEL,
                )
                for spec in installed()
            ]
        )


class CollectionService(CollectionServiceServicer):
    """Tells what is stored."""

    def __init__(self, peers: Peers, pool: Pool) -> None:
        self._peers = peers
        self._pool = pool

    async def GetCollectionStats(  # noqa: N802
        self, request: collections_pb2.GetCollectionStatsRequest, context: CallContext
    ) -> collections_pb2.GetCollectionStatsResponse:
        """Count what bases hold."""
        asked = request.knowledge_base_ids
        await _readable(self._peers, [Target(knowledge_base_id=text) for text in asked])
        counts = await contents.count(self._pool, [UUID(text) for text in asked])
        return collections_pb2.GetCollectionStatsResponse(
            stats=[
                collections_pb2.CollectionStats(
                    knowledge_base_id=str(base_id),
                    document_count=counts[base_id].documents,
                    chunk_count=counts[base_id].chunks,
                )
                for base_id in map(UUID, asked)
            ]
        )


async def _readable(peers: Peers, targets: Sequence[Target]) -> list[KnowledgeBase]:
    with Fields() as fields:
        fields.count("knowledge_base_ids", targets, MAX_TARGETS)
    return await resolve(peers, targets, PERMISSION_VIEW)


def _passage_to_proto(passage: Passage) -> search_pb2.Passage:
    return search_pb2.Passage(
        document_id=str(passage.document_id),
        knowledge_base_id=str(passage.knowledge_base_id),
        collection_name=passage.collection,
        filename=passage.filename,
        page=passage.page,
        ordinal=passage.ordinal,
        start=passage.start,
        end=passage.end,
        text=passage.text,
        excerpt=passage.excerpt,
        scores=search_pb2.Scores(
            fused=passage.fused,
            vector=passage.vector,
            lexical=passage.lexical,
            lexical_coverage=passage.coverage,
        ),
    )
