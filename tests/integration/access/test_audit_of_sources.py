"""What sync says of its sources is written down, once, in the log in which their base stands."""

from typing import Any
from uuid import UUID

import asyncpg
import pytest

from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.events.v1 import facts_pb2 as facts
from services.access.consumers import Consumers
from services.shared import bus
from services.shared.broker import Delivery, Undecodable
from services.shared.db import Pool
from services.shared.ids import uuid7
from tests.integration.access.callers import Access, person_id


def changed(base_id: str, **fields: Any) -> facts.SourceChanged:
    fields = {
        "change_id": str(uuid7()),
        "change": facts.SOURCE_CHANGE_CREATED,
        "actor_user_id": str(person_id("ana")),
        "source_id": str(uuid7()),
        "connector": "local_directory",
        "knowledge_base_id": base_id,
        **fields,
    }
    return facts.SourceChanged(**fields)


async def hear(pool: Pool, fact: facts.SourceChanged) -> None:
    await Consumers(pool).source_changed(Delivery(bus.SOURCE_CHANGED, fact.SerializeToString()))


async def written(pool: Pool) -> list[asyncpg.Record]:
    return await pool.fetch("SELECT * FROM audit_events WHERE object_kind = 'sync_source' ORDER BY id")


async def test_a_change_is_written_down_once_with_who_made_it(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana")
    base = await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme)
    secret = str(uuid7())
    fact = changed(base.id, secret_id=secret)
    await hear(pool, fact)
    await hear(pool, fact)
    (event,) = await written(pool)
    assert (event["action"], event["object_id"]) == ("sync_source.created", UUID(fact.source_id))
    assert (event["actor_kind"], event["actor_user_id"]) == ("person", person_id("ana"))
    assert (event["organization_id"], event["deployment"]) == (UUID(acme), False)
    assert event["before"] == {}
    assert event["after"] == {
        "connector": "local_directory",
        "knowledge_base_id": base.id,
        "collection_name": base.collection_name,
        "secret_id": secret,
    }
    assert await pool.fetchval("SELECT count(*) FROM audit_unsealed WHERE event_id = $1", event["id"]) == 1


async def test_a_source_that_moves_is_told_with_the_base_that_it_left(access: Access, pool: Pool) -> None:
    left, filled = await access.base("ana", display_name="Left"), await access.base("ana")
    await access.delete("ana", left.id)
    await hear(
        pool, changed(filled.id, change=facts.SOURCE_CHANGE_UPDATED, previous_knowledge_base_id=left.id)
    )
    (event,) = await written(pool)
    assert event["action"] == "sync_source.updated"
    assert event["before"] == {"knowledge_base_id": left.id, "collection_name": left.collection_name}
    assert event["after"]["knowledge_base_id"] == filled.id


async def test_what_a_base_is_called_is_told_in_its_own_log_alone(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana")
    mine = await access.base("ana", scope=kb.SCOPE_PERSONAL, organization_id=acme)
    own = await access.base("ana")
    for left, filled in ((own, mine), (mine, own)):
        update = {
            "change": facts.SOURCE_CHANGE_UPDATED,
            "previous_knowledge_base_id": left.id,
            "source_id": str(uuid7()),
        }
        await hear(pool, changed(filled.id, **update))
    into_organization, out_of_it = await written(pool)
    assert into_organization["before"] == {"knowledge_base_id": own.id}
    assert "collection_name" not in into_organization["after"]
    assert out_of_it["before"] == {"knowledge_base_id": mine.id}
    assert out_of_it["after"]["collection_name"] == own.collection_name


async def test_a_clone_is_made_and_names_what_it_was_made_of(access: Access, pool: Pool) -> None:
    origin = str(uuid7())
    await hear(pool, changed((await access.base("ana")).id, cloned_source_id=origin))
    (event,) = await written(pool)
    assert (event["action"], event["after"]["source_id"]) == ("sync_source.created", origin)


async def test_a_source_of_an_app_base_is_the_deployments(access: Access, pool: Pool) -> None:
    base = await access.base(access.admin, scope=kb.SCOPE_APP)
    await hear(pool, changed(base.id))
    (event,) = await written(pool)
    assert (event["organization_id"], event["deployment"]) == (None, True)


async def test_what_becomes_of_a_source_without_its_base_stands_where_the_base_stood(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana")
    base = await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme)
    await access.delete("ana", base.id)
    await hear(pool, changed(base.id, change=facts.SOURCE_CHANGE_DELETED))
    await hear(pool, changed(str(uuid7()), change=facts.SOURCE_CHANGE_DELETED))
    known, unknown = await written(pool)
    assert (known["action"], known["organization_id"]) == ("sync_source.deleted", UUID(acme))
    assert (known["before"]["knowledge_base_id"], known["after"]) == (base.id, {})
    assert (unknown["organization_id"], unknown["deployment"]) == (None, False)


@pytest.mark.parametrize(
    "fields", [{"change": 0}, {"change": 77}, {"change_id": ""}, {"actor_user_id": "x"}, {"secret_id": "x"}]
)
async def test_a_fact_that_cannot_be_read_is_set_aside(pool: Pool, fields: dict[str, Any]) -> None:
    with pytest.raises(Undecodable):
        await hear(pool, changed(str(uuid7()), **fields))
    assert await written(pool) == []
