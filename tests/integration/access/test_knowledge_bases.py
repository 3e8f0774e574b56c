"""Making, reading and listing knowledge bases; who may have which name."""

import asyncio
from collections.abc import Awaitable
from typing import Any
from uuid import uuid4

import pytest

from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.common.v1.ingestion_config_pb2 import IngestionConfig
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from services.shared.errors import AcervoError
from services.shared.ids import uuid7
from tests.integration.access.callers import ADMIN, Access, person_id, refusal, told

HASHING = kb.EmbeddingSettings(model="hashing-256", width=256)

HIDDEN = """
INSERT INTO knowledge_bases (id, kind, scope, display_name, collection_name, ingestion_config)
VALUES ($1, 'operator', 'app', 'Operator', $2, '{}'::jsonb)
"""


async def why(call: Awaitable[object]) -> AcervoError:
    return from_rpc_error(await refusal(call))


async def listed(access: Access, name: str, **fields: Any) -> list[str]:
    request = kb.ListKnowledgeBasesRequest(**fields)
    answer = await access.bases.ListKnowledgeBases(request, **access.person(name))
    return [base.id for base in answer.knowledge_bases]


async def get(access: Access, name: str, base_id: str) -> kb.KnowledgeBase:
    request = kb.GetKnowledgeBaseRequest(knowledge_base_id=base_id)
    return (await access.bases.GetKnowledgeBase(request, **access.person(name))).knowledge_base


async def test_a_personal_base_is_its_owners_alone(access: Access) -> None:
    made = await access.base("ana", display_name="My notes")
    assert made == await get(access, "ana", made.id)
    assert made.owner_user_id == str(person_id("ana"))
    assert made.visibility == kb.VISIBILITY_UNSPECIFIED
    assert (await why(get(access, "bea", made.id))).reason == reasons.ERROR_REASON_NOT_FOUND
    assert await listed(access, "bea") == []


async def test_an_absent_base_and_a_foreign_one_are_refused_alike(access: Access) -> None:
    foreign, absent = (await access.base("ana")).id, str(uuid7())
    assert told(await refusal(get(access, "bea", foreign))) == told(await refusal(get(access, "bea", absent)))
    assert told(await refusal(access.delete("bea", foreign))) == told(
        await refusal(access.delete("bea", absent))
    )


async def test_a_name_left_out_is_derived_from_the_display_name(access: Access) -> None:
    made = await access.base("ana", display_name="2024 Überblick!")
    stem, _, suffix = made.collection_name.rpartition("_")
    assert stem.startswith("base_2024")
    assert len(suffix) == 6
    assert int(suffix, 16) >= 0


@pytest.mark.parametrize("name", ["foo-bar", "2024", "Handbook", "x" * 46, "all", "documents", "a\0"])
async def test_a_name_that_breaks_a_rule_is_refused(access: Access, name: str) -> None:
    refused = await why(access.base("ana", collection_name=name))
    assert refused.reason == reasons.ERROR_REASON_NAME_INVALID


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({"scope": kb.SCOPE_UNSPECIFIED}, ["scope"]),
        ({"scope": kb.SCOPE_ORG}, ["organization_id"]),
        ({"scope": kb.SCOPE_APP, "organization_id": str(uuid4())}, ["organization_id"]),
        ({"organization_id": "acme"}, ["organization_id"]),
        ({"visibility": kb.VISIBILITY_ORG}, ["visibility"]),
        ({"display_name": ""}, ["display_name"]),
        ({"request_id": "1"}, ["request_id"]),
        ({"embedding": kb.EmbeddingSettings(model="hashing-256")}, ["embedding.width"]),
        ({"embedding": kb.EmbeddingSettings(width=4097)}, ["embedding.model", "embedding.width"]),
        (
            {"ingestion_config": IngestionConfig(chunk_size=99)},
            ["ingestion_config.chunk_size", "ingestion_config"],
        ),
        ({"ingestion_config": IngestionConfig(chunk_overlap=2500)}, ["ingestion_config"]),
    ],
)
async def test_fields_that_break_a_rule_are_named(
    access: Access, fields: dict[str, Any], paths: list[str]
) -> None:
    refused = await why(access.base("ana", **fields))
    assert refused.reason == reasons.ERROR_REASON_FIELD_INVALID
    assert [violation.path for violation in refused.fields] == paths


async def test_a_configuration_is_merged_with_the_defaults_and_kept_whole(access: Access) -> None:
    made = await access.base("ana", ingestion_config=IngestionConfig(chunk_size=800))
    stored = (await get(access, "ana", made.id)).ingestion_config
    assert (stored.chunk_size, stored.chunk_overlap) == (800, 200)
    assert stored.HasField("parser")
    assert stored.HasField("chunking_strategy")


@pytest.mark.parametrize(
    ("role", "allowed"),
    [(org.ROLE_ADMIN, True), (org.ROLE_BUILDER, True), (org.ROLE_MEMBER, True), (org.ROLE_VIEWER, False)],
)
async def test_which_roles_make_bases_in_an_organization(
    access: Access, role: org.Role, allowed: bool
) -> None:
    acme = await access.organization("ana", bea=role)
    for scope in (kb.SCOPE_ORG, kb.SCOPE_PERSONAL):
        call = access.base("bea", scope=scope, organization_id=acme)
        if allowed:
            assert (await call).organization_id == acme
        else:
            absent = access.base("bea", scope=scope, organization_id=str(uuid4()))
            assert told(await refusal(call)) == told(await refusal(absent))


async def test_only_the_deployments_admin_makes_what_all_may_read(access: Access) -> None:
    made = await access.base(ADMIN, scope=kb.SCOPE_APP)
    assert (await get(access, "ana", made.id)).scope == kb.SCOPE_APP
    assert (await why(access.base("ana", scope=kb.SCOPE_APP))).reason == reasons.ERROR_REASON_NOT_FOUND
    assert (await why(access.delete("ana", made.id))).reason == reasons.ERROR_REASON_NOT_FOUND
    await access.delete(ADMIN, made.id)


async def test_an_agent_makes_reads_and_lists_nothing(access: Access) -> None:
    made = await access.base("ana")
    create = kb.CreateKnowledgeBaseRequest(display_name="Notes", scope=kb.SCOPE_PERSONAL)
    read = kb.GetKnowledgeBaseRequest(knowledge_base_id=made.id)
    for call in (
        access.bases.CreateKnowledgeBase(create, **access.agent("ana")),
        access.bases.GetKnowledgeBase(read, **access.agent("ana")),
    ):
        assert (await why(call)).reason == reasons.ERROR_REASON_NOT_FOUND
    answer = await access.bases.ListKnowledgeBases(kb.ListKnowledgeBasesRequest(), **access.agent("ana"))
    assert not answer.knowledge_bases


async def test_a_name_held_out_of_reach_is_taken(access: Access) -> None:
    await access.base("ana", collection_name="handbook")
    refused = await why(access.base("bea", collection_name="handbook"))
    assert refused.reason == reasons.ERROR_REASON_NAME_TAKEN


async def test_a_name_that_can_be_read_and_not_written_is_taken(access: Access) -> None:
    acme = await access.organization("ana", bea=org.ROLE_MEMBER)
    await access.base("ana", collection_name="handbook", scope=kb.SCOPE_ORG, organization_id=acme)
    await access.base(ADMIN, collection_name="laws", scope=kb.SCOPE_APP)
    for name in ("handbook", "laws"):
        refused = await why(access.base("bea", collection_name=name))
        assert refused.reason == reasons.ERROR_REASON_NAME_TAKEN


async def test_a_base_on_a_held_name_adopts_its_embedding_settings(access: Access) -> None:
    await access.base("ana", collection_name="handbook", embedding=HASHING)
    adopted = await access.base("ana", collection_name="handbook")
    assert adopted.embedding == HASHING
    assert (await access.base("ana", collection_name="handbook", embedding=HASHING)).embedding == HASHING


async def test_a_contrary_choice_of_embedding_settings_is_refused(access: Access) -> None:
    await access.base("ana", collection_name="handbook", embedding=HASHING)
    wider = kb.EmbeddingSettings(model="use-multilingual-v3", width=512)
    refused = await why(access.base("ana", collection_name="handbook", embedding=wider))
    assert refused.reason == reasons.ERROR_REASON_EMBEDDING_SETTINGS_CONFLICT


async def test_two_claims_of_a_free_name_at_once_leave_it_to_one_person(access: Access, pool: Pool) -> None:
    for number in range(5):
        name = f"handbook_{number}"
        await asyncio.gather(
            access.base("ana", collection_name=name),
            access.base("bea", collection_name=name),
            return_exceptions=True,
        )
        held = "SELECT count(*) FROM knowledge_bases WHERE collection_name = $1"
        assert await pool.fetchval(held, name) == 1


async def test_a_claim_that_meets_a_running_one_is_told_to_try_again(access: Access, pool: Pool) -> None:
    await access.base("ana", collection_name="handbook")
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("SELECT FROM collection_names WHERE name = 'handbook' FOR UPDATE")
        refused = await why(access.base("ana", collection_name="handbook"))
    assert refused.reason == reasons.ERROR_REASON_TRY_AGAIN
    await access.base("ana", collection_name="handbook")


async def test_content_that_nobody_owns_holds_its_name_but_for_the_deployments_admin(
    access: Access, pool: Pool
) -> None:
    await pool.execute("INSERT INTO collection_names VALUES ('imported', 'hashing-256', 256)")
    await pool.execute(HIDDEN, uuid7(), "imported")
    assert (
        await why(access.base("ana", collection_name="imported"))
    ).reason == reasons.ERROR_REASON_NAME_TAKEN
    assert (
        await why(access.base(ADMIN, collection_name="imported"))
    ).reason == reasons.ERROR_REASON_NAME_TAKEN
    taken = await access.base(ADMIN, collection_name="imported", scope=kb.SCOPE_APP)
    assert await listed(access, ADMIN, collection_name="imported") == [taken.id]


async def test_bases_are_listed_oldest_first_page_by_page(access: Access) -> None:
    made = [(await access.base("ana", collection_name="handbook")).id for _ in range(3)]
    await access.base("ana", collection_name="other")
    request = kb.ListKnowledgeBasesRequest(collection_name="handbook", page_size=2)
    first = await access.bases.ListKnowledgeBases(request, **access.person("ana"))
    request.page_token = first.next_page_token
    second = await access.bases.ListKnowledgeBases(request, **access.person("ana"))
    assert [base.id for base in (*first.knowledge_bases, *second.knowledge_bases)] == made
    assert second.next_page_token == ""


async def test_a_listing_of_a_foreign_organization_is_empty_as_of_an_absent_one(access: Access) -> None:
    acme = await access.organization("ana")
    assert len(await listed(access, "ana", organization_id=acme)) == 1
    assert await listed(access, "bea", organization_id=acme) == []
    assert await listed(access, "bea", organization_id=str(uuid4())) == []


async def test_the_same_request_id_makes_one_base(access: Access) -> None:
    request_id = str(uuid4())
    first = await access.base("ana", request_id=request_id)
    assert await access.base("ana", request_id=request_id) == first
    assert await listed(access, "ana") == [first.id]


async def test_a_refused_request_leaves_its_id_free(access: Access) -> None:
    request_id = str(uuid4())
    held = await access.base("bea", collection_name="handbook")
    call = access.base("ana", request_id=request_id, collection_name="handbook", display_name="Mine")
    assert (await why(call)).reason == reasons.ERROR_REASON_NAME_TAKEN
    assert held.id
    assert (await access.base("ana", request_id=request_id)).display_name == "Notes"
