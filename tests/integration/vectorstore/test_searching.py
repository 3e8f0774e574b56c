"""What search finds, and what it must never find."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from grpc.aio import AioRpcError

from acervo.access.v1.access_pb2 import PERMISSION_VIEW
from acervo.vectorstore.v1 import search_pb2 as pb
from acervo.vectorstore.v1.collections_pb2 import GetCollectionStatsRequest
from acervo.vectorstore.v1.collections_pb2_grpc import (
    CollectionServiceStub,
    add_CollectionServiceServicer_to_server,
)
from acervo.vectorstore.v1.search_pb2_grpc import SearchServiceStub, add_SearchServiceServicer_to_server
from services.shared.client import CallOptions, Peers, call_options, open_channel
from services.shared.errors import reason_name
from services.shared.ids import uuid7
from services.shared.rpc_status import from_rpc_error
from services.shared.server import Servicer, build_server
from services.vectorstore.excerpts import EXCERPT
from services.vectorstore.rpc import CALLERS, CollectionService, SearchService
from services.vectorstore.search import Legs
from tests.integration.vectorstore.conftest import settings
from tests.integration.vectorstore.stage import Document, Stage
from tests.signing import Trust

TEXTS = [
    "The lighthouse keeper counts the ships that pass at night.",
    "Bread needs flour, water, salt and patience.",
    "A harbour pilot boards each vessel before it enters the port.",
]


async def test_passages_say_where_they_stand_and_why(stage: Stage) -> None:
    document = Document(stage.base(), TEXTS)
    await stage.index(document)
    found = await stage.search("flour and salt", document.base)
    best = found[0]
    assert best.text == TEXTS[1]
    assert (best.document_id, best.knowledge_base_id) == (document.id, UUID(document.base.id))
    assert (best.filename, best.page, best.ordinal) == (f"{document.id}.md", 2, 1)
    assert (best.start, best.end) == (100, 100 + len(TEXTS[1]))
    assert best.lexical > 0
    assert 0 < best.vector <= 1
    assert 0 < best.coverage <= 1
    assert [passage.fused for passage in found] == sorted((p.fused for p in found), reverse=True)


async def test_a_passage_tells_where_the_words_of_the_question_stand(stage: Stage) -> None:
    filler = "The water in the harbour is deep and the quay is long. " * 30
    document = Document(stage.base(), [f"{filler}{TEXTS[1]} {filler}", TEXTS[0]])
    await stage.index(document)
    long, short = sorted(await stage.search("breads with salt", document.base), key=lambda one: one.ordinal)
    assert TEXTS[1] in long.excerpt
    assert len(long.excerpt) <= EXCERPT
    assert short.excerpt == TEXTS[0]


@pytest.mark.parametrize("length", [40, 900])
async def test_a_passage_is_cited_by_the_page_on_which_the_words_of_the_question_stand(
    stage: Stage, length: int
) -> None:
    filler = "the quay is deep and wide " * 40
    pages = [f"{filler[:length]}\n{text}\n" for text in TEXTS]
    starts = [sum(map(len, pages[:place])) for place in range(len(pages))]
    document = Document(stage.base(), ["".join(pages)], page_starts=starts)
    await stage.index(document)
    questions = ["lighthouse keepers", "flour and salt", "which pilot boards a vessel"]
    found = [(await stage.search(question, document.base))[0].page for question in questions]
    assert found == [1, 2, 3]


async def test_a_later_chunk_is_cited_by_the_pages_of_the_whole_document(stage: Stage) -> None:
    document = Document(stage.base(), [*TEXTS, "Tugs. " * 5], page_starts=[0, 0, 90, 130, 140, 290, 310])
    await stage.index(document)
    questions = ["lighthouse", "flour", "patience", "harbour pilot", "tugs"]
    found = [(await stage.search(question, document.base))[0].page for question in questions]
    assert found == [2, 3, 4, 5, 6]


async def test_inflected_words_are_found_in_each_chunks_own_language(stage: Stage) -> None:
    document = Document(
        stage.base(),
        [
            "Die Häuser in der Straße sind alt und werden von der Stadt gekauft.",
            "Los barcos que llegan al puerto son de la compañía.",
            "The ships that were sailing to the harbours are gone.",
        ],
    )
    await stage.index(document)
    for question, expected in (("Haus kaufen", 0), ("el barco llega", 1), ("ship sailed harbour", 2)):
        found = await stage.search(question, document.base, legs=Legs.LEXICAL)
        assert found[0].ordinal == expected, question


async def test_a_base_never_sees_chunks_of_another_under_the_same_name(stage: Stage) -> None:
    mine, theirs = Document(stage.base(), TEXTS[:1]), Document(stage.base(), TEXTS[1:])
    for document in (mine, theirs):
        await stage.index(document)
    for legs in Legs:
        for question in TEXTS:
            found = await stage.search(question, mine.base, limit=100, legs=legs)
            assert {passage.knowledge_base_id for passage in found} <= {UUID(mine.base.id)}, (legs, question)


async def test_words_of_another_base_of_the_name_do_not_move_scores(stage: Stage) -> None:
    mine = Document(stage.base(), TEXTS)
    await stage.index(mine)
    before = await stage.search("lighthouse ships", mine.base)
    for _ in range(5):
        await stage.index(Document(stage.base(), ["lighthouse ships " * 5] * 5))
    assert await stage.search("lighthouse ships", mine.base) == before


async def test_several_collections_are_searched_as_one(stage: Stage) -> None:
    first, second = Document(stage.base("ports"), TEXTS[:2]), Document(stage.base("sea"), TEXTS[2:])
    for document in (first, second):
        await stage.index(document)
    found = await stage.search("harbour pilot ships", first.base, second.base)
    assert found[0].text == TEXTS[2]
    assert {passage.collection for passage in found} == {"ports", "sea"}


async def test_limit_is_kept_over_all_collections(stage: Stage) -> None:
    documents = [Document(stage.base(name), ["same words here"] * 4) for name in ("one", "two")]
    for document in documents:
        await stage.index(document)
    assert len(await stage.search("same words", *(d.base for d in documents), limit=5)) == 5


async def test_collection_that_nothing_was_stored_in_is_empty(stage: Stage) -> None:
    assert await stage.search("anything", stage.base("nothing_yet")) == []


@pytest.mark.parametrize("question", ["???", "zzzunknown", "the", "a" * 8000, "\U0001f600", "word " * 1600])
async def test_no_question_breaks_a_search(stage: Stage, question: str) -> None:
    document = Document(stage.base(), TEXTS)
    await stage.index(document)
    for legs in Legs:
        await stage.search(question, document.base, legs=legs)


async def test_default_model_answers_across_languages(stage: Stage) -> None:
    document = Document(stage.base(space=("use-multilingual-v3", 512)), TEXTS)
    await stage.index(document)
    found = await stage.search("¿Qué se necesita para hacer pan?", document.base)
    assert found[0].text == TEXTS[1]


async def test_texts_that_come_again_are_not_embedded_again(stage: Stage) -> None:
    space = ("use-multilingual-v3", 512)
    for _ in range(2):
        await stage.index(Document(stage.base(space=space), TEXTS))
    assert await stage.pool.fetchval("SELECT count(*) FROM embedding_cache") == len(TEXTS)


class Calls:
    """Stubs of vectorstore, and tokens to call it with."""

    def __init__(self, address: str, trust: Trust) -> None:
        self.channel = open_channel(address)
        self.search = SearchServiceStub(self.channel)
        self.collections = CollectionServiceStub(self.channel)
        self._trust = trust

    def ana(self) -> CallOptions:
        return call_options(self._trust.person("ana"))


@pytest.fixture
async def calls(stage: Stage, peers: Peers, trust: Trust) -> AsyncIterator[Calls]:
    servicers: list[Servicer] = [
        (add_SearchServiceServicer_to_server, SearchService(peers, stage.searcher)),
        (add_CollectionServiceServicer_to_server, CollectionService(peers, stage.pool)),
    ]
    server = await build_server(settings(trust, ""), trust.verifier("vectorstore"), servicers, CALLERS)
    await server.start()
    calls = Calls(server.address, trust)
    yield calls
    await calls.channel.close()
    await server.stop(0)


async def test_search_answers_for_all_targets_or_for_none(stage: Stage, calls: Calls) -> None:
    mine, theirs = Document(stage.base("mine"), TEXTS), Document(stage.base("theirs"), TEXTS)
    for document in (mine, theirs):
        await stage.index(document)
    stage.access.grant("ana", mine.base, PERMISSION_VIEW)
    request = pb.SearchRequest(query="ships", collection_names=["mine"], top_k=2)
    answer = await calls.search.Search(request, **calls.ana())
    assert [passage.collection_name for passage in answer.passages] == ["mine", "mine"]
    refusals = []
    for target in (theirs.base.id, str(uuid7())):
        request = pb.SearchRequest(query="ships", knowledge_base_ids=[mine.base.id, target])
        with pytest.raises(AioRpcError) as refusal:
            await calls.search.Search(request, **calls.ana())
        refusals.append(
            (refusal.value.code(), refusal.value.details(), from_rpc_error(refusal.value).metadata)
        )
    assert refusals[0] == refusals[1]


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        (pb.SearchRequest(query="", collection_names=["mine"]), "query"),
        (pb.SearchRequest(query="x" * 8193, collection_names=["mine"]), "query"),
        (pb.SearchRequest(query="x", collection_names=["mine"], top_k=101), "top_k"),
        (pb.SearchRequest(query="x", collection_names=["mine"], top_k=-1), "top_k"),
        (pb.SearchRequest(query="x", collection_names=["mine"], mode=99), "mode"),  # type: ignore[arg-type]
        (pb.SearchRequest(query="x"), "knowledge_base_ids"),
        (pb.SearchRequest(query="x", collection_names=["mine"] * 101), "knowledge_base_ids"),
    ],
)
async def test_wrong_questions_are_refused_by_field(
    stage: Stage, calls: Calls, request_: pb.SearchRequest, path: str
) -> None:
    stage.access.grant("ana", stage.base("mine"), PERMISSION_VIEW)
    with pytest.raises(AioRpcError) as refusal:
        await calls.search.Search(request_, **calls.ana())
    error = from_rpc_error(refusal.value)
    assert reason_name(error.reason) == "FIELD_INVALID"
    assert [violation.path for violation in error.fields] == [path]


async def test_stats_count_each_base_by_itself(stage: Stage, calls: Calls) -> None:
    full, empty = stage.base(), stage.base()
    for texts in (TEXTS, TEXTS[:1]):
        await stage.index(Document(full, texts))
    for base in (full, empty):
        stage.access.grant("ana", base, PERMISSION_VIEW)
    request = GetCollectionStatsRequest(knowledge_base_ids=[empty.id, full.id])
    answer = await calls.collections.GetCollectionStats(request, **calls.ana())
    assert [(s.knowledge_base_id, s.document_count, s.chunk_count) for s in answer.stats] == [
        (empty.id, 0, 0),
        (full.id, 2, 4),
    ]


async def test_models_that_are_installed_are_listed_the_default_first(calls: Calls) -> None:
    answer = await calls.search.ListEmbeddingModels(pb.ListEmbeddingModelsRequest(), **calls.ana())
    assert answer.models[0].settings.model == "use-multilingual-v3"
    assert [model.default_model for model in answer.models] == [True] + [False] * (len(answer.models) - 1)
    assert "hashing-256" in {model.settings.model for model in answer.models}
