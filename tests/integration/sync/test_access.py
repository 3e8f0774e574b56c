"""Who may make, see, run and delete sources; and that a refusal tells nothing."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from grpc.aio import AioRpcError

from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.sync.v1 import sources_pb2 as pb
from services.shared.client import from_rpc_error
from services.shared.errors import AcervoError
from services.shared.ids import uuid7
from tests.integration.sync.stage import Stage, counts

pytestmark = pytest.mark.asyncio(loop_scope="module")

Request = Callable[[pb.Source, pb.Run], Any]

WRITES: dict[str, Request] = {
    "StartRun": lambda source, run: pb.StartRunRequest(source_id=source.id),
    "DeleteSource": lambda source, run: pb.DeleteSourceRequest(source_id=source.id),
    "AttachSource": lambda source, run: pb.AttachSourceRequest(
        source_id=source.id, knowledge_base_id=source.knowledge_base_id
    ),
    "CreateSource": lambda source, run: pb.CreateSourceRequest(
        knowledge_base_id=source.knowledge_base_id, local_directory=source.local_directory
    ),
}
READS: dict[str, Request] = {
    "GetSource": lambda source, run: pb.GetSourceRequest(source_id=source.id),
    "ListSources": lambda source, run: pb.ListSourcesRequest(knowledge_base_id=source.knowledge_base_id),
    "GetRun": lambda source, run: pb.GetRunRequest(run_id=run.id),
    "ListRuns": lambda source, run: pb.ListRunsRequest(source_id=source.id),
}


async def refused(stage: Stage, method: str, request: Any, person: str = "ana") -> AcervoError:
    with pytest.raises(AioRpcError) as caught:
        await stage.call(method, request, person)
    return from_rpc_error(caught.value)


async def refusal_and_calls(stage: Stage, method: str, request: Any, person: str) -> tuple[Any, ...]:
    stage.access.calls.clear()
    error = await refused(stage, method, request, person)
    return error.reason, error.message, error.metadata, error.fields, tuple(stage.access.calls)


@pytest_asyncio.fixture(loop_scope="module")
async def made(stage: Stage, base: UUID) -> tuple[pb.Source, pb.Run]:
    stage.write("a.md")
    source = await stage.source(base)
    return source, await stage.run(source)


@pytest.fixture
def nothing() -> tuple[pb.Source, pb.Run]:
    """What was never made."""
    absent = pb.Source(id=str(uuid7()), knowledge_base_id=str(uuid7()))
    absent.local_directory.path = "/srv"
    return absent, pb.Run(id=str(uuid7()))


async def test_a_refusal_reads_and_asks_what_absence_reads_and_asks(
    stage: Stage, base: UUID, made: tuple[pb.Source, pb.Run], nothing: tuple[pb.Source, pb.Run]
) -> None:
    stage.let("stranger", base=uuid7(), admin=False)
    stage.let("admin-elsewhere", base=uuid7())
    stage.let("editor", base=base, admin=False)
    stage.let("viewer", base=base, edit=False, admin=False)
    for people, requests in (
        (("stranger", "admin-elsewhere", "editor", "viewer"), WRITES),
        (("stranger", "admin-elsewhere"), READS),
    ):
        for method, request in requests.items():
            absent = await refusal_and_calls(stage, method, request(*nothing), "ana")
            assert absent[0] == reasons.ERROR_REASON_NOT_FOUND
            for person in people:
                assert await refusal_and_calls(stage, method, request(*made), person) == absent, (
                    method,
                    person,
                )
    assert await stage.pool.fetchval("SELECT count(*) FROM sources") == 1


async def test_whoever_views_the_base_views_its_sources_and_runs(
    stage: Stage, base: UUID, made: tuple[pb.Source, pb.Run]
) -> None:
    stage.let("viewer", base=base, edit=False, admin=False)
    source, run = made
    assert (await stage.call("GetSource", READS["GetSource"](*made), "viewer")).source == source
    assert list((await stage.call("ListSources", READS["ListSources"](*made), "viewer")).sources) == [source]
    assert (await stage.call("GetRun", READS["GetRun"](*made), "viewer")).run == run
    assert [seen.id for seen in (await stage.call("ListRuns", READS["ListRuns"](*made), "viewer")).runs] == [
        run.id
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"display_name": "x" * 201}, "display_name"),
        ({"local_directory": {"path": "relative"}}, "local_directory.path"),
        ({"local_directory": {"path": "/" + "x" * 1024}}, "local_directory.path"),
        ({"mode": 77}, "mode"),
        ({"request_id": "7"}, "request_id"),
        ({"collection_name": "too"}, "knowledge_base_id"),
    ],
)
async def test_a_malformed_source_is_refused_by_field(
    stage: Stage, base: UUID, change: dict[str, Any], field: str
) -> None:
    fields: dict[str, Any] = {"local_directory": {"path": str(stage.root)}, **change}
    error = await refused(
        stage, "CreateSource", pb.CreateSourceRequest(knowledge_base_id=str(base), **fields)
    )
    assert [violation.path for violation in error.fields] == [field]


async def test_a_source_without_a_connector_is_refused_by_field(stage: Stage, base: UUID) -> None:
    error = await refused(stage, "CreateSource", pb.CreateSourceRequest(knowledge_base_id=str(base)))
    assert [violation.path for violation in error.fields] == ["local_directory"]


async def test_a_path_outside_the_allowed_roots_is_refused_by_name(stage: Stage, base: UUID) -> None:
    for path in ("/etc", f"{stage.root}/../..", "/no/such/place"):
        request = pb.CreateSourceRequest(
            knowledge_base_id=str(base), local_directory=pb.LocalDirectory(path=path)
        )
        assert (await refused(stage, "CreateSource", request)).reason == reasons.ERROR_REASON_SOURCE_FORBIDDEN


async def test_the_same_request_id_makes_one_source_and_one_run(stage: Stage, base: UUID) -> None:
    stage.write("a.md")
    request_id = str(uuid7())
    source = await stage.source(base, request_id=request_id)
    assert await stage.source(base, request_id=request_id) == source
    start = pb.StartRunRequest(source_id=source.id, request_id=str(uuid7()))
    first = (await stage.call("StartRun", start)).run
    assert (await stage.call("StartRun", start)).run.id == first.id
    await stage.ended(first)
    assert (await stage.call("StartRun", start)).run.id == first.id
    delete = pb.DeleteSourceRequest(source_id=source.id, request_id=str(uuid7()))
    await stage.call("DeleteSource", delete)
    await stage.call("DeleteSource", delete)


async def test_a_request_id_is_not_taken_for_another_request(stage: Stage, base: UUID) -> None:
    request_id = str(uuid7())
    source = await stage.source(base, request_id=request_id)
    start = pb.StartRunRequest(source_id=source.id, request_id=request_id)
    assert (await refused(stage, "StartRun", start)).reason == reasons.ERROR_REASON_REQUEST_ID_REUSED


async def test_deleting_a_source_ends_its_run_and_keeps_its_documents(stage: Stage, base: UUID) -> None:
    stage.write("a.md")
    source = await stage.source(base)
    await stage.run(source)
    stage.write("b.md")
    stage.documents.finishing = False
    run = await stage.start(source)
    await stage.handed_over(at_least=2)
    await stage.call("DeleteSource", pb.DeleteSourceRequest(source_id=source.id))
    assert (
        await refused(stage, "GetRun", pb.GetRunRequest(run_id=run.id))
    ).reason == reasons.ERROR_REASON_NOT_FOUND
    assert "a.md" in stage.held()
    for table in ("sources", "runs", "run_files", "claims", "jobs"):
        await stage.emptied(table)


async def test_lists_come_in_pages_that_lose_and_repeat_nothing(stage: Stage, base: UUID) -> None:
    stage.write("a.md")
    made = [(await stage.source(base, display_name=f"source {number}")).id for number in range(5)]
    assert (
        await listed(stage, "ListSources", pb.ListSourcesRequest(knowledge_base_id=str(base), page_size=2))
        == made
    )
    source = pb.Source(id=made[0])
    ran = [(await stage.run(source)).id for _ in range(3)]
    assert await listed(stage, "ListRuns", pb.ListRunsRequest(source_id=made[0], page_size=2)) == ran[::-1]


async def listed(stage: Stage, method: str, request: Any) -> list[str]:
    ids: list[str] = []
    while True:
        answer = await stage.call(method, request)
        ids += [item.id for item in (answer.sources if method == "ListSources" else answer.runs)]
        if not answer.next_page_token:
            return ids
        request.page_token = answer.next_page_token


@pytest.mark.parametrize(
    ("size", "token", "field"), [(-1, "", "page_size"), (1001, "", "page_size"), (0, "?", "page_token")]
)
async def test_a_malformed_page_is_refused_by_field(
    stage: Stage, base: UUID, size: int, token: str, field: str
) -> None:
    request = pb.ListSourcesRequest(knowledge_base_id=str(base), page_size=size, page_token=token)
    error = await refused(stage, "ListSources", request)
    assert [violation.path for violation in error.fields] == [field]


async def test_counts_of_a_run_are_seen_while_it_goes_on(stage: Stage, base: UUID) -> None:
    stage.write("a.md")
    stage.write("b.exe")
    stage.documents.finishing = False
    run = await stage.start(await stage.source(base))
    seen = await stage.until(run, lambda seen: bool(seen.counts.listed))
    assert (seen.state, counts(seen)) == (pb.RUN_STATE_RUNNING, {"listed": 2, "skipped": 1})
