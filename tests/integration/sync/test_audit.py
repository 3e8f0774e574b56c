"""Who makes, moves and deletes a source is announced to the audit log, with the change itself."""

from uuid import UUID

import pytest

from acervo.events.v1.facts_pb2 import (
    SOURCE_CHANGE_CREATED,
    SOURCE_CHANGE_DELETED,
    SOURCE_CHANGE_UPDATED,
    SourceChanged,
)
from acervo.sync.v1 import sources_pb2 as pb
from services.shared import bus, identity
from services.shared.ids import uuid7
from tests.integration.sync.stage import Stage
from tests.integration.sync.test_access import WRITES, refused
from tests.signing import PEOPLE

pytestmark = pytest.mark.asyncio(loop_scope="module")

ANA = str(identity.user_id(PEOPLE, "ana"))


async def announced(stage: Stage) -> list[SourceChanged]:
    rows = await stage.pool.fetch(
        "SELECT payload FROM facts WHERE subject = $1 ORDER BY id", bus.SOURCE_CHANGED
    )
    return [SourceChanged.FromString(row["payload"]) for row in rows]


async def test_a_source_is_announced_when_it_is_made_moved_and_deleted(stage: Stage, base: UUID) -> None:
    source = await stage.source(base)
    await stage.pool.execute("UPDATE sources SET detached = true")
    other = uuid7()
    stage.let("ana", base=other)
    attach = pb.AttachSourceRequest(
        source_id=source.id, knowledge_base_id=str(other), request_id=str(uuid7())
    )
    delete = pb.DeleteSourceRequest(source_id=source.id, request_id=str(uuid7()))
    for method, request in (("AttachSource", attach), ("DeleteSource", delete)):
        await stage.call(method, request)
    await stage.call("DeleteSource", delete)

    changes = await announced(stage)
    assert [
        (change.change, change.knowledge_base_id, change.previous_knowledge_base_id) for change in changes
    ] == [
        (SOURCE_CHANGE_CREATED, str(base), ""),
        (SOURCE_CHANGE_UPDATED, str(other), str(base)),
        (SOURCE_CHANGE_DELETED, str(other), ""),
    ]
    told = {(change.source_id, change.actor_user_id, change.connector) for change in changes}
    assert told == {(source.id, ANA, "local_directory")}
    assert len({UUID(change.change_id) for change in changes}) == 3


async def test_nothing_of_where_a_source_reads_is_announced(stage: Stage, base: UUID) -> None:
    await stage.source(base, display_name="folder")
    (payload,) = await stage.pool.fetch("SELECT payload FROM facts")
    assert str(stage.root).encode() not in payload["payload"]


async def test_what_is_refused_is_not_announced(stage: Stage, base: UUID) -> None:
    source = await stage.source(base)
    stage.let("editor", base=base, admin=False)
    for method, request in WRITES.items():
        await refused(stage, method, request(source, pb.Run()), "editor")
    assert len(await announced(stage)) == 1
