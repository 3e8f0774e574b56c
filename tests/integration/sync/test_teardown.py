"""What becomes of sources and runs when their base is deleted or emptied."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest
import pytest_asyncio
from google.protobuf.message import Message

from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.events.v1.facts_pb2 import BaseDeleted, BaseEmptied, TeardownAnswered
from acervo.sync.v1 import sources_pb2 as pb
from services.shared import bus
from services.shared.broker import Broker, Outgoing
from services.shared.ids import uuid7
from services.sync import passes
from tests.conftest import NatsServer
from tests.integration.sync.stage import Stage, counts
from tests.integration.sync.test_access import refused

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def access_broker(shared_nats: NatsServer) -> AsyncIterator[Broker]:
    broker = await Broker.connect(shared_nats.url("access"), "access")
    yield broker
    await broker.close()


async def tell(broker: Broker, subject: str, fact: Message) -> None:
    await broker.publish([Outgoing(uuid7(), subject, fact.SerializeToString())])


async def delete(stage: Stage, broker: Broker, base: UUID, *, owner_gone: bool = False) -> None:
    """Delete a base, twice told, and wait for the answer."""
    stage.access.editors = {(person, held) for person, held in stage.access.editors if held != base}
    teardown = str(uuid7())
    for _ in range(2):
        fact = BaseDeleted(knowledge_base_id=str(base), teardown_id=teardown, owner_gone=owner_gone)
        await tell(broker, bus.BASE_DELETED, fact)
    await stage.answered(TeardownAnswered(teardown_id=teardown, service="sync"))


async def test_a_deleted_base_leaves_its_sources_detached_with_their_configuration(
    stage: Stage, base: UUID, access_broker: Broker
) -> None:
    stage.write("a.md")
    source = await stage.source(base, display_name="folder")
    await stage.run(source)
    await delete(stage, access_broker, base)
    await stage.claims_gone()
    (detached,) = (await stage.call("ListSources", pb.ListSourcesRequest())).sources
    assert detached.detached
    assert (detached.id, detached.local_directory) == (source.id, source.local_directory)
    start = pb.StartRunRequest(source_id=source.id)
    assert (await refused(stage, "StartRun", start)).reason == reasons.ERROR_REASON_BASE_DELETED


async def test_a_base_that_goes_with_its_organization_or_person_takes_its_sources_along(
    stage: Stage, base: UUID, access_broker: Broker
) -> None:
    stage.write("a.md")
    source = await stage.source(base)
    await stage.run(source)
    await delete(stage, access_broker, base, owner_gone=True)
    assert not (await stage.call("ListSources", pb.ListSourcesRequest())).sources
    start = pb.StartRunRequest(source_id=source.id)
    assert (await refused(stage, "StartRun", start)).reason == reasons.ERROR_REASON_NOT_FOUND


async def test_a_detached_source_is_pointed_at_another_base_and_brings_everything_there(
    stage: Stage, base: UUID, access_broker: Broker
) -> None:
    stage.write("a.md")
    source = await stage.source(base)
    await stage.run(source)
    await delete(stage, access_broker, base)
    other = uuid7()
    stage.let("ana", base=other)
    attach = pb.AttachSourceRequest(source_id=source.id, knowledge_base_id=str(other))
    attached = (await stage.call("AttachSource", attach)).source
    assert (attached.detached, attached.knowledge_base_id) == (False, str(other))
    stage.documents.documents.clear()
    assert counts(await stage.run(source)) == {"listed": 1, "ingested": 1}
    assert stage.documents.headers[-1].knowledge_base_id == str(other)


async def test_a_detached_source_is_pointed_at_a_base_that_was_emptied_since_it_was_made(
    stage: Stage, base: UUID, access_broker: Broker
) -> None:
    stage.write("a.md")
    source = await stage.source(base)
    await delete(stage, access_broker, base)
    other, teardown = uuid7(), str(uuid7())
    stage.let("ana", base=other)
    emptied = BaseEmptied(knowledge_base_id=str(other), teardown_id=teardown, emptied_before=str(uuid7()))
    await tell(access_broker, bus.BASE_EMPTIED, emptied)
    await stage.answered(TeardownAnswered(teardown_id=teardown, service="sync"))
    attach = pb.AttachSourceRequest(source_id=source.id, knowledge_base_id=str(other))
    assert (await stage.call("AttachSource", attach)).source.knowledge_base_id == str(other)
    assert counts(await stage.run(source)) == {"listed": 1, "ingested": 1}


async def test_detached_sources_are_the_admins_alone(stage: Stage, base: UUID, access_broker: Broker) -> None:
    source = await stage.source(base)
    stage.let("ben", base=base, admin=False)
    await delete(stage, access_broker, base)
    assert not (await stage.call("ListSources", pb.ListSourcesRequest(), "ben")).sources
    get = pb.GetSourceRequest(source_id=source.id)
    assert (await refused(stage, "GetSource", get, "ben")).reason == reasons.ERROR_REASON_NOT_FOUND
    assert (await stage.call("GetSource", get)).source.detached


async def test_only_a_detached_source_is_attached(stage: Stage, base: UUID) -> None:
    source = await stage.source(base)
    attach = pb.AttachSourceRequest(source_id=source.id, knowledge_base_id=str(base))
    assert (await refused(stage, "AttachSource", attach)).reason == reasons.ERROR_REASON_NOT_FOUND


async def test_a_run_ends_when_its_base_is_deleted_under_way(
    stage: Stage, base: UUID, access_broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "ASK_SECONDS", 0.2)
    stage.write("a.md")
    stage.documents.finishing = False
    run = await stage.start(await stage.source(base))
    await stage.handed_over(at_least=1)
    await delete(stage, access_broker, base)
    ended = await stage.ended(run)
    assert (ended.state, ended.failure_reason) == (pb.RUN_STATE_ERROR, reasons.ERROR_REASON_BASE_DELETED)


async def test_an_emptied_base_keeps_its_sources_which_bring_everything_anew(
    stage: Stage, base: UUID, access_broker: Broker
) -> None:
    stage.write("a.md")
    source = await stage.source(base)
    await stage.run(source)
    teardown = str(uuid7())
    stage.documents.documents.clear()
    emptied = BaseEmptied(knowledge_base_id=str(base), teardown_id=teardown, emptied_before=str(uuid7()))
    await tell(access_broker, bus.BASE_EMPTIED, emptied)
    await stage.answered(TeardownAnswered(teardown_id=teardown, service="sync"))
    assert counts(await stage.run(source)) == {"listed": 1, "ingested": 1}
    assert not (await stage.call("GetSource", pb.GetSourceRequest(source_id=source.id))).source.detached
