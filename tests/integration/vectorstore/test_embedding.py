"""Models in child processes: questions first, deaths survived, nothing computed twice."""

import asyncio
import operator
import os
import signal
from collections.abc import Awaitable, Callable

import numpy as np
import psutil
import pytest

from services.shared.db import Pool
from services.shared.errors import Overloaded
from services.vectorstore.embedding import Embedders, EmbeddingCache, EmbeddingFailed, Urgency
from services.vectorstore.models import DEFAULT_MODEL, ModelSpec, Space, Vectors, installed
from services.vectorstore.spelling import bounded

SPACE = Space(DEFAULT_MODEL, 512)
LONG = "The lighthouse keeper counts the ships that pass at night. " * 12


def children() -> list[psutil.Process]:
    """The processes that host models for this one."""
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if child.status() != psutil.STATUS_ZOMBIE and "services.vectorstore.models.host" in child.cmdline()
    ]


async def test_questions_go_before_documents_and_people_before_folders(embedders: Embedders) -> None:
    await embedders.embed_query(SPACE, "loaded", "ann")
    order: list[str] = []

    async def note(name: str, work: Awaitable[Vectors]) -> None:
        await work
        order.append(name)

    first = asyncio.create_task(
        note("under way", embedders.embed_documents(SPACE, [LONG], Urgency.BULK, "ann"))
    )
    await asyncio.sleep(0)
    others = [
        note("bulk", embedders.embed_documents(SPACE, [LONG], Urgency.BULK, "ann")),
        note("interactive", embedders.embed_documents(SPACE, [LONG], Urgency.INTERACTIVE, "ann")),
        note("question", embedders.embed_query(SPACE, "ships", "ann")),
    ]
    await asyncio.gather(first, *others)
    assert order == ["under way", "question", "interactive", "bulk"]


async def test_question_does_not_wait_for_a_long_document(embedders: Embedders) -> None:
    document = asyncio.create_task(embedders.embed_documents(SPACE, [LONG] * 40, Urgency.BULK, "ann"))
    await embedders.embed_query(SPACE, "ships", "ann")
    assert not document.done()
    assert (await document).shape == (40, 512)


@pytest.mark.parametrize("urgency", [Urgency.INTERACTIVE, Urgency.BULK])
async def test_nobodys_endless_work_stops_what_is_less_urgent(embedders: Embedders, urgency: Urgency) -> None:
    await embedders.embed_query(SPACE, "loaded", "ann")

    async def flood() -> None:
        while True:
            if urgency is Urgency.INTERACTIVE:
                await embedders.embed_query(SPACE, "ships", "mallory")
            else:
                await embedders.embed_documents(SPACE, ["ships"], Urgency.INTERACTIVE, "mallory")

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        flooding = [group.create_task(flood()) for _ in range(4)]
        vectors = await embedders.embed_documents(SPACE, ["one", "two"] * 40, urgency, "bob")
        for task in flooding:
            task.cancel()
    assert vectors.shape == (80, 512)


async def test_model_that_dies_fails_its_batch_and_is_started_again_until_closed() -> None:
    embedders = Embedders()
    await embedders.embed_query(SPACE, "loaded", "ann")
    (child,) = children()
    work = asyncio.create_task(embedders.embed_documents(SPACE, [LONG] * 100, Urgency.BULK, "ann"))
    await asyncio.sleep(0)
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(EmbeddingFailed):
        await work
    assert (await embedders.embed_query(SPACE, "again", "ann")).shape == (512,)
    await embedders.close()
    assert not children()


async def test_batches_that_succeeded_are_kept_when_a_later_one_fails(
    pool: Pool, embedders: Embedders, eventually: Callable[..., Awaitable[None]]
) -> None:
    cache = EmbeddingCache(pool, embedders)
    texts = [f"text number {n}" for n in range(200)]
    work = asyncio.create_task(cache.embed_documents(SPACE, texts, Urgency.BULK, "ann"))
    await eventually(lambda: pool.fetchval("SELECT count(*) FROM embedding_cache"))
    (child,) = children()
    child.kill()
    with pytest.raises(EmbeddingFailed):
        await work
    kept = await pool.fetchval("SELECT count(*) FROM embedding_cache")
    assert 0 < kept < len(texts)
    vectors = await cache.embed_documents(SPACE, texts, Urgency.BULK, "ann")
    assert vectors.shape == (200, 512)


async def test_cheap_models_are_not_cached(pool: Pool, embedders: Embedders) -> None:
    cache = EmbeddingCache(pool, embedders)
    await cache.embed_documents(Space("hashing-256", 256), ["one", "two"], Urgency.BULK, "ann")
    assert not await pool.fetchval("SELECT count(*) FROM embedding_cache")


async def test_each_text_gets_its_own_vector_in_order_though_it_stands_twice(
    pool: Pool, embedders: Embedders
) -> None:
    texts = [f"text number {n % 50}" for n in range(90)]
    vectors = await EmbeddingCache(pool, embedders).embed_documents(SPACE, texts, Urgency.BULK, "ann")
    assert np.array_equal(vectors[:40], vectors[50:])
    alone = np.stack([await embedders.embed_query(SPACE, text, "ann") for text in texts[:5]])
    assert np.allclose(vectors[:5], alone, atol=1e-4)


@pytest.mark.parametrize("spec", installed(), ids=operator.attrgetter("name"))
@pytest.mark.parametrize("text", ["\ufdfa" * 8192, "ships " * 1365])
async def test_a_model_reads_no_more_of_a_question_than_its_window_holds(
    embedders: Embedders, spec: ModelSpec, text: str
) -> None:
    space = Space(spec.name, spec.width)
    whole = await embedders.embed_query(space, text, "ann")
    assert np.array_equal(whole, await embedders.embed_query(space, bounded(text, spec.window), "ann"))


@pytest.mark.parametrize("spec", installed(), ids=operator.attrgetter("name"))
async def test_no_document_ends_a_model(embedders: Embedders, spec: ModelSpec) -> None:
    space = Space(spec.name, spec.width)
    texts = ["ships", "\ufdfa" * 600, "e\u0301" * 600, "\ud800", "ships"]
    vectors = await embedders.embed_documents(space, texts, Urgency.BULK, "ann")
    assert np.allclose(vectors[0], vectors[-1], atol=1e-4)


async def test_one_caller_cannot_fill_the_queue_of_questions(embedders: Embedders) -> None:
    await embedders.embed_query(SPACE, "loaded", "ann")
    several = [embedders.embed_query(SPACE, f"question {n}", "ann") for n in range(20)]
    outcomes = await asyncio.gather(
        *several, embedders.embed_query(SPACE, "question", "bob"), return_exceptions=True
    )
    assert [isinstance(outcome, Overloaded) for outcome in outcomes] == [False] * 8 + [True] * 12 + [False]
    assert (await embedders.embed_query(SPACE, "later", "ann")).shape == (512,)
