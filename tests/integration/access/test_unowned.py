"""Hidden bases: who gets at what nobody owns, who takes it over, and what vouches for it."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from acervo.access.v1 import access_pb2, collections_pb2
from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.common.v1.ingestion_config_pb2 import IngestionConfig
from acervo.events.v1.facts_pb2 import BaseDeleted, BaseEmptied
from services.access.bases import teardowns
from services.access.bases.teardown import OWNERS
from services.shared import bus
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from tests.integration.access.callers import ADMIN, Access, refusal
from tests.integration.access.matrix_world import hide

HASHING = kb.EmbeddingSettings(model="hashing-256", width=256)
EDIT = access_pb2.PERMISSION_EDIT


async def opened(access: Access, name: str, **fields: Any) -> kb.KnowledgeBase:
    request = collections_pb2.OpenOperatorBaseRequest(collection_name=name, **fields)
    return (await access.collections.OpenOperatorBase(request, **access.person(ADMIN))).knowledge_base


async def inspected(access: Access, name: str) -> dict[str, list[str] | int]:
    """The hidden bases of each kind, how many regular ones there are, and how many teardowns go on."""
    request = collections_pb2.InspectProvenanceRequest(collection_name=name)
    answer = await access.collections.InspectProvenance(request, **access.person(ADMIN))
    found: dict[str, list[str] | int] = {"teardowns": answer.teardown_count} if answer.teardown_count else {}
    for count in answer.counts:
        ids = list(count.knowledge_base_ids)
        found[kb.BaseKind.Name(count.kind).removeprefix("BASE_KIND_").lower()] = ids or count.base_count
    return found


async def confirm(access: Access, name: str) -> int:
    request = collections_pb2.ConfirmProvenanceRequest(collection_name=name)
    return (await access.collections.ConfirmProvenance(request, **access.person(ADMIN))).confirmed_count


async def drop(access: Access, name: str, base_id: str = "") -> tuple[str, list[str]]:
    request = collections_pb2.DropCollectionRequest(collection_name=name, knowledge_base_id=base_id)
    answer = await access.collections.DropCollection(request, **access.person(ADMIN))
    return answer.emptied_knowledge_base_id, list(answer.deleted_knowledge_base_ids)


async def get(access: Access, base_id: str) -> kb.KnowledgeBase:
    request = kb.GetKnowledgeBaseRequest(knowledge_base_id=base_id)
    return (await access.bases.GetKnowledgeBase(request, **access.person(ADMIN))).knowledge_base


async def listed(access: Access, name: str) -> list[str]:
    answer = await access.bases.ListKnowledgeBases(
        kb.ListKnowledgeBasesRequest(collection_name=name), **access.person(ADMIN)
    )
    return [base.id for base in answer.knowledge_bases]


async def facts(pool: Pool) -> list[BaseDeleted]:
    rows = await pool.fetch("SELECT payload FROM outbox WHERE subject = $1 ORDER BY id", bus.BASE_DELETED)
    return [BaseDeleted.FromString(row["payload"]) for row in rows]


async def settle(pool: Pool) -> None:
    """Let every service answer every teardown."""
    for row in await pool.fetch("SELECT id FROM teardowns"):
        for service in OWNERS:
            await teardowns.answered(pool, row["id"], service)


async def reason(call: Any) -> reasons.ErrorReason:
    return from_rpc_error(await refusal(call)).reason


async def test_the_operators_base_of_a_name_is_one_and_hidden(access: Access) -> None:
    made = await opened(access, "imported")
    assert (made.kind, made.scope, made.owner_user_id) == (kb.BASE_KIND_OPERATOR, kb.SCOPE_APP, "")
    assert await opened(access, "imported", request_id=str(uuid4())) == made
    assert await inspected(access, "imported") == {"operator": [made.id]}


async def test_the_admin_reads_and_writes_a_hidden_base_by_its_id_and_never_meets_it_by_name(
    access: Access,
) -> None:
    hidden = await opened(access, "imported")
    admin = access.person(ADMIN)
    assert await access.may(admin, hidden.id) == "view edit"
    assert await get(access, hidden.id) == hidden
    assert await listed(access, "imported") == []
    for caller in (admin, access.service("vectorstore")):
        refused = access.resolve(caller, names=("imported",))
        assert await reason(refused) == reasons.ERROR_REASON_NOT_FOUND
    request = access_pb2.ResolveRequest(
        targets=[access_pb2.Target(knowledge_base_id=hidden.id)],
        permission=EDIT,
        actor_user_id=access.id(ADMIN),
    )
    answer = await access.rules.Resolve(request, **access.service("ingest"))
    assert [base.id for base in answer.knowledge_bases] == [hidden.id]


async def test_nobody_else_and_no_agent_of_the_admins_gets_at_a_hidden_base(access: Access) -> None:
    hidden = await opened(access, "imported")
    agent = await access.register(ADMIN)
    grant = access.grant(ADMIN, hidden.id, agent_id=agent)
    assert await reason(grant) == reasons.ERROR_REASON_NOT_FOUND
    for caller in (access.person("ana"), access.agent(ADMIN, agent), access.agent("ana", agent)):
        assert await access.may(caller, hidden.id) == ""
    assert await reason(access.delete("ana", hidden.id)) == reasons.ERROR_REASON_NOT_FOUND


async def test_content_that_an_operator_ingested_holds_its_name_against_all_but_the_admin(
    access: Access,
) -> None:
    acme = await access.organization("ana")
    await opened(access, "imported")
    for fields in ({}, {"scope": kb.SCOPE_ORG, "organization_id": acme}):
        made = access.base("ana", collection_name="imported", **fields)
        assert await reason(made) == reasons.ERROR_REASON_NAME_TAKEN
    # A personal base outside any organization takes over nothing, the admin's own no more than others'.
    outside = access.base(ADMIN, collection_name="imported")
    assert await reason(outside) == reasons.ERROR_REASON_NAME_TAKEN


async def test_an_app_base_on_the_name_is_the_operators_base_itself_so_that_its_content_follows(
    access: Access, pool: Pool
) -> None:
    hidden = await opened(access, "imported", embedding=HASHING)
    config = IngestionConfig(chunk_size=777)
    taken = await access.base(
        ADMIN, collection_name="imported", scope=kb.SCOPE_APP, display_name="Law", ingestion_config=config
    )
    assert taken.id == hidden.id
    assert (taken.display_name, taken.kind, taken.embedding) == ("Law", kb.BASE_KIND_REGULAR, HASHING)
    assert taken.ingestion_config.chunk_size == 777
    assert await get(access, hidden.id) == taken
    assert await access.resolve(access.person("zoe"), names=("imported",)) == {hidden.id}
    assert await inspected(access, "imported") == {"regular": 1}
    assert await pool.fetchval("SELECT count(*) FROM teardowns") == 0


async def test_an_organizations_base_takes_over_nothing_of_everybodys(access: Access) -> None:
    hidden = await opened(access, "imported")
    acme = await access.organization(ADMIN)
    made = await access.base(ADMIN, collection_name="imported", scope=kb.SCOPE_ORG, organization_id=acme)
    assert made.id != hidden.id
    assert await inspected(access, "imported") == {"regular": 1, "operator": [hidden.id]}
    assert await access.may(access.person("zoe"), hidden.id) == ""


async def test_content_of_unknown_origin_is_never_made_readable_by_a_claim_and_keeps_the_table(
    access: Access, pool: Pool
) -> None:
    unknown = await hide(pool, "imported")
    made = await access.base(ADMIN, collection_name="imported", scope=kb.SCOPE_APP)
    assert made.id != unknown
    assert await access.resolve(access.person("zoe"), names=("imported",)) == {made.id}
    assert await access.may(access.person("zoe"), unknown) == ""
    await access.delete(ADMIN, made.id)
    (fact,) = await facts(pool)
    assert not fact.last_holder
    await settle(pool)
    assert await reason(access.base("zoe", collection_name="imported")) == reasons.ERROR_REASON_NAME_TAKEN


async def test_what_was_vouched_for_is_taken_over_and_vouching_again_changes_nothing(
    access: Access, pool: Pool
) -> None:
    unknown = [await hide(pool, "imported") for _ in range(2)]
    theirs = await hide(pool, "elsewhere")
    operators = await opened(access, "imported")
    assert await inspected(access, "imported") == {"legacy_unknown": unknown, "operator": [operators.id]}
    assert await confirm(access, "imported") == 2
    assert await confirm(access, "imported") == 0
    assert await inspected(access, "imported") == {"operator": sorted([*unknown, operators.id])}
    assert await inspected(access, "elsewhere") == {"legacy_unknown": [theirs]}
    taken = await access.base(ADMIN, collection_name="imported", scope=kb.SCOPE_APP)
    assert taken.id == unknown[0]
    assert set(await listed(access, "imported")) == {*unknown, operators.id}
    adopted = await pool.fetch("SELECT object_id FROM audit_events WHERE action = 'knowledge_base.adopted'")
    assert {str(row["object_id"]) for row in adopted} == {*unknown, operators.id}


async def test_what_is_known_is_left_alone_by_vouching(access: Access) -> None:
    made = await access.base("ana", collection_name="notes")
    assert await confirm(access, "notes") == 0
    assert await access.may(access.person("ana"), made.id) == "view edit"
    assert await access.may(access.person(ADMIN), made.id) == ""


@pytest.mark.parametrize("call", [inspected, confirm, drop])
async def test_a_name_that_nothing_holds_is_not_there(access: Access, call: Any) -> None:
    assert await reason(call(access, "absent")) == reasons.ERROR_REASON_NOT_FOUND
    assert await reason(call(access, "Bad Name")) == reasons.ERROR_REASON_NAME_INVALID


async def test_operators_put_content_beside_that_of_a_names_holders_who_do_not_see_it(
    access: Access, pool: Pool
) -> None:
    held = await access.base("ana", collection_name="notes", embedding=HASHING)
    wider = kb.EmbeddingSettings(model="use-multilingual-v3", width=512)
    conflict = opened(access, "notes", embedding=wider)
    assert await reason(conflict) == reasons.ERROR_REASON_EMBEDDING_SETTINGS_CONFLICT
    beside = await opened(access, "notes")
    assert beside.embedding == HASHING
    assert await access.resolve(access.person("ana"), names=("notes",), permission=EDIT) == {held.id}
    await access.delete("ana", held.id)
    (fact,) = await facts(pool)
    assert not fact.last_holder
    await settle(pool)
    assert await inspected(access, "notes") == {"operator": [beside.id]}
    assert await reason(access.base("ana", collection_name="notes")) == reasons.ERROR_REASON_NAME_TAKEN


async def test_operators_get_no_base_on_a_name_that_is_torn_down(access: Access, pool: Pool) -> None:
    made = await access.base("ana", collection_name="notes")
    await access.delete("ana", made.id)
    assert await inspected(access, "notes") == {"teardowns": 1}
    assert await reason(opened(access, "notes")) == reasons.ERROR_REASON_NAME_TAKEN
    await settle(pool)
    await opened(access, "notes")


async def test_a_dropped_name_without_an_owner_is_free_again(access: Access, pool: Pool) -> None:
    hidden = [await hide(pool, "imported"), (await opened(access, "imported")).id]
    assert await drop(access, "imported") == ("", hidden)
    assert [fact.last_holder for fact in await facts(pool)] == [False, True]
    assert await reason(access.base("zoe", collection_name="imported")) == reasons.ERROR_REASON_NAME_TAKEN
    await settle(pool)
    await access.base("zoe", collection_name="imported")


async def test_a_drop_empties_the_one_base_of_the_name_and_takes_what_nobody_owns(
    access: Access, pool: Pool
) -> None:
    held = await access.base("ana", collection_name="notes")
    hidden = await opened(access, "notes")
    assert await drop(access, "notes") == (held.id, [hidden.id])
    (payload,) = await pool.fetch("SELECT payload FROM outbox WHERE subject = $1", bus.BASE_EMPTIED)
    assert BaseEmptied.FromString(payload["payload"]).knowledge_base_id == held.id
    assert await access.may(access.person("ana"), held.id) == "view edit"
    await settle(pool)
    assert await inspected(access, "notes") == {"regular": 1}


async def test_a_drop_of_a_name_of_several_bases_lists_them_and_empties_the_one_that_is_named(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana", bea=org.ROLE_MEMBER)
    fields = {"collection_name": "notes", "organization_id": acme}
    one, two = [await access.base("ana", scope=kb.SCOPE_ORG, **fields) for _ in range(2)]
    refused = from_rpc_error(await refusal(drop(access, "notes")))
    assert refused.reason == reasons.ERROR_REASON_COLLECTION_AMBIGUOUS
    assert refused.metadata["knowledge_bases"] == f"{one.id},{two.id}"
    assert await reason(drop(access, "notes", str(uuid4()))) == reasons.ERROR_REASON_NOT_FOUND
    assert await drop(access, "notes", two.id) == (two.id, [])
    assert [row["knowledge_base_id"] for row in await pool.fetch("SELECT * FROM teardowns")] == [UUID(two.id)]


async def test_a_base_that_agents_hold_is_emptied_by_a_drop_and_their_grants_stay(access: Access) -> None:
    held = await access.base("ana", collection_name="notes")
    agent = await access.register("ana")
    await access.grant("ana", held.id, agent_id=agent)
    assert await drop(access, "notes") == (held.id, [])
    assert await access.may(access.agent("ana", agent), held.id) == "view"


async def test_what_became_of_hidden_bases_is_in_the_deployments_log(access: Access, pool: Pool) -> None:
    unknown = await hide(pool, "imported")
    await confirm(access, "imported")
    await access.base(ADMIN, collection_name="imported", scope=kb.SCOPE_APP)
    rows = await pool.fetch(
        "SELECT action, deployment FROM audit_events WHERE object_id = $1 ORDER BY id", UUID(unknown)
    )
    assert [tuple(row) for row in rows] == [
        ("knowledge_base.confirmed", True),
        ("knowledge_base.adopted", True),
    ]
