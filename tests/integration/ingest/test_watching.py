"""What a watcher is sent, and when its stream ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from grpc.aio import AioRpcError

from acervo.ingest.v1 import documents_pb2 as pb
from services.ingest.documents import Document
from services.ingest.watch import MOST_OF_ONE_CALLER
from services.shared.errors import reason_name, reason_of
from services.shared.ids import uuid7
from services.shared.rpc_status import from_rpc_error
from tests.integration.ingest.calls import Calls, base_id
from tests.integration.ingest.steps import Steps

Eventually = Callable[..., Awaitable[None]]


def _watch(
    calls: Calls, *documents: Document, person: str = "ana"
) -> AsyncIterator[pb.WatchDocumentsResponse]:
    request = pb.WatchDocumentsRequest(document_ids=[str(document.id) for document in documents])
    return aiter(calls.stub.WatchDocuments(request, **calls.person(person)))


async def test_a_watcher_is_sent_the_state_then_each_change_and_the_end(calls: Calls, steps: Steps) -> None:
    document = await steps.create(base_id(calls.base()))
    answers = _watch(calls, document)
    assert (await anext(answers)).document.stage == pb.DOCUMENT_STAGE_QUEUED
    await steps.parse(document)
    last = await anext(answers)
    while last.document.stage != pb.DOCUMENT_STAGE_EMBEDDING:
        last = await anext(answers)
    assert last.document.chunk_count == 2, "how many chunks are being embedded"
    await steps.index(document)
    (done,) = [answer async for answer in answers]
    assert done.document.state == pb.DOCUMENT_STATE_DONE


async def test_a_stream_ends_at_once_when_all_have_ended_and_names_those_that_are_gone(
    calls: Calls, steps: Steps
) -> None:
    base = base_id(calls.base())
    failed, deleted = [await steps.create(base, filename=f"{n}.md") for n in range(2)]
    await steps.fail(failed, reason_of("NO_TEXT"))
    (only,) = [answer async for answer in _watch(calls, failed)]
    assert only.document.failure.reason == reason_of("NO_TEXT")
    answers = _watch(calls, failed, deleted)
    first = {(await anext(answers)).document.id for _ in range(2)}
    assert first == {str(failed.id), str(deleted.id)}
    await steps.delete(deleted)
    (gone,) = [answer async for answer in answers]
    assert (gone.deleted, gone.document) == (True, pb.Document(id=str(deleted.id)))


async def test_many_watchers_of_many_documents_each_see_all_of_them_end(calls: Calls, steps: Steps) -> None:
    base = base_id(calls.base())
    documents = [await steps.create(base, filename=f"{n}.md") for n in range(20)]
    streams = [_watch(calls, *documents) for _ in range(5)]
    for stream in streams:
        await anext(stream)
    for document in documents:
        await steps.fail(document, reason_of("NO_TEXT"))

    async def ended(stream: AsyncIterator[pb.WatchDocumentsResponse]) -> set[str]:
        failed = pb.DOCUMENT_STATE_ERROR
        return {answer.document.id async for answer in stream if answer.document.state == failed}

    everything = {str(document.id) for document in documents}
    for seen in await asyncio.gather(*map(ended, streams)):
        assert seen == everything


async def test_nobody_takes_all_the_places_of_watchers(
    calls: Calls, steps: Steps, eventually: Eventually
) -> None:
    mine = await steps.create(base_id(calls.base()))
    hers = await steps.create(base_id(calls.base("eve")))
    streams = [_watch(calls, mine) for _ in range(MOST_OF_ONE_CALLER)]
    for stream in streams:
        await anext(stream)
    with pytest.raises(AioRpcError) as refusal:
        await anext(_watch(calls, mine))
    refused = from_rpc_error(refusal.value)
    assert reason_name(refused.reason) == "OVERLOADED"
    assert "end another" in refused.message
    assert await anext(_watch(calls, hers, person="eve"))
    await steps.fail(mine, reason_of("NO_TEXT"))
    for stream in streams:
        assert [answer async for answer in stream]
    assert await anext(_watch(calls, mine))


async def test_whoever_loses_access_loses_the_stream(calls: Calls, steps: Steps) -> None:
    base = calls.base()
    answers = _watch(calls, await steps.create(base_id(base)))
    await anext(answers)
    calls.access.revoke("ana", base)
    with pytest.raises(AioRpcError) as refusal:
        await anext(answers)
    assert reason_name(from_rpc_error(refusal.value).reason) == "NOT_FOUND"


async def test_a_stream_with_one_document_out_of_reach_shows_none(calls: Calls, steps: Steps) -> None:
    mine = await steps.create(base_id(calls.base()))
    hers = await steps.create(base_id(calls.base("eve")))
    for request in (
        pb.WatchDocumentsRequest(document_ids=[str(mine.id), str(hers.id)]),
        pb.WatchDocumentsRequest(document_ids=[str(mine.id), str(uuid7())]),
    ):
        with pytest.raises(AioRpcError) as refusal:
            await anext(aiter(calls.stub.WatchDocuments(request, **calls.person())))
        assert reason_name(from_rpc_error(refusal.value).reason) == "NOT_FOUND"


async def test_changes_are_told_after_the_listening_connection_broke(
    calls: Calls, steps: Steps, eventually: Eventually
) -> None:
    document = await steps.create(base_id(calls.base()))
    answers = _watch(calls, document)
    await anext(answers)
    listeners = "FROM pg_stat_activity WHERE query ILIKE 'LISTEN%' AND datname = current_database()"

    async def listening() -> bool:
        return bool(await steps.pool.fetchval(f"SELECT count(*) {listeners}"))

    await eventually(listening)
    await steps.pool.execute(f"SELECT pg_terminate_backend(pid) {listeners}")
    await steps.fail(document, reason_of("NO_TEXT"))
    (failed,) = [answer async for answer in answers]
    assert failed.document.state == pb.DOCUMENT_STATE_ERROR
