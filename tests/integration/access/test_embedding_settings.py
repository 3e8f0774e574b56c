"""Who serves a base's embedding model, whose key pays, and what else of a base changes."""

from typing import Any
from uuid import uuid4

import grpc
import pytest

from acervo.access.v1 import access_pb2, endpoints_pb2, secrets_pb2
from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.common.v1.ingestion_config_pb2 import IngestionConfig
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from tests.integration.access.callers import ADMIN, Access, refusal

URL = "https://1.1.1.1/v1"
MODEL = kb.EmbeddingSettings(model="text-embedding-3-small", width=1536)


async def key(access: Access, maker: str, acme: str, provider: str = "openai", **fields: Any) -> str:
    value = secrets_pb2.SecretValue(api_key=secrets_pb2.ApiKey(provider=provider, key="sk-1"))
    fields = {"visibility": kb.VISIBILITY_PRIVATE, **fields}
    return (await access.secret(maker, acme, value=value, **fields)).id


async def openai_base(access: Access, maker: str, acme: str, secret: str, **fields: Any) -> kb.KnowledgeBase:
    wish = {
        "scope": kb.SCOPE_ORG,
        "organization_id": acme,
        "embedding": MODEL,
        "embedding_provider": "openai",
        "embedding_secret_id": secret,
    }
    return await access.base(maker, **{**wish, **fields})


async def get(access: Access, name: str, base_id: str) -> kb.KnowledgeBase:
    request = kb.GetKnowledgeBaseRequest(knowledge_base_id=base_id)
    return (await access.bases.GetKnowledgeBase(request, **access.person(name))).knowledge_base


async def fields_of(call: Any) -> list[str]:
    return sorted(field.path for field in from_rpc_error(await refusal(call)).fields)


@pytest.fixture
async def acme(access: Access) -> str:
    return await access.organization("ada", mia=org.ROLE_MEMBER, vic=org.ROLE_VIEWER)


async def test_a_base_is_local_until_something_else_is_said(access: Access) -> None:
    base = await access.base("ada")
    assert (base.embedding_provider, base.embedding_endpoint_id, base.embedding_base_url) == ("local", "", "")


async def test_the_key_is_told_to_editors_and_services_alone_and_opened_by_vectorstore(
    access: Access, acme: str
) -> None:
    secret = await key(access, "ada", acme)
    base = await openai_base(access, "ada", acme, secret)
    assert base.embedding_secret_id == secret
    assert (await get(access, "ada", base.id)).embedding_secret_id == secret
    seen = await get(access, "vic", base.id)
    assert (seen.embedding_provider, seen.embedding_secret_id) == ("openai", "")
    resolve = access_pb2.ResolveRequest(
        targets=[access_pb2.Target(knowledge_base_id=base.id)], permission=access_pb2.PERMISSION_VIEW
    )
    answers = [
        await access.rules.Resolve(resolve, **options)
        for options in (access.person("vic"), access.service("vectorstore"))
    ]
    assert [answer.knowledge_bases[0].embedding_secret_id for answer in answers] == ["", secret]
    wish = secrets_pb2.OpenSecretRequest(
        secret_id=secret, knowledge_base_id=base.id, purpose=secrets_pb2.SECRET_PURPOSE_EMBEDDING
    )
    opened = await access.secrets.OpenSecret(wish, **access.service("vectorstore"))
    assert opened.value.api_key.key == "sk-1"


async def test_a_key_that_may_not_be_lent_reads_as_an_absent_one(access: Access, acme: str) -> None:
    other = await access.organization("eve")
    wrong = {
        "absent": str(uuid4()),
        "foreign": await key(access, "eve", other),
        "invisible": await key(access, "ada", acme),
        "of another provider": await key(access, "mia", acme, "openrouter"),
        "of another kind": (await access.secret("mia", acme)).id,
    }
    base = await access.base("mia", scope=kb.SCOPE_ORG, organization_id=acme)
    made, changed = set(), set()
    for secret in wrong.values():
        told = await refusal(openai_base(access, "mia", acme, secret))
        made.add((told.code(), told.details()))
        told = await refusal(
            access.update("mia", base.id, embedding_provider="openai", embedding_secret_id=secret)
        )
        changed.add((told.code(), told.details()))
    assert made == changed == {(grpc.StatusCode.NOT_FOUND, "There is no such secret.")}


async def test_who_does_not_see_the_key_sends_it_nowhere_else(access: Access, acme: str) -> None:
    base = await openai_base(access, "ada", acme, await key(access, "ada", acme))
    await access.grant_edit("ada", base.id, user_id=access.id("mia"))
    told = await refusal(access.update("mia", base.id, embedding_base_url=URL))
    assert told.details() == "There is no such secret."
    assert (await access.update("mia", base.id, display_name="Mine")).display_name == "Mine"
    assert (await access.update("ada", base.id, embedding_base_url=URL)).embedding_base_url == URL


async def test_a_deleted_key_and_a_deleted_endpoint_leave_the_base_without(access: Access, acme: str) -> None:
    secret = await key(access, "ada", acme, "openai_compatible")
    endpoint = await access.endpoint("ada", acme)
    base = await access.base("ada", scope=kb.SCOPE_ORG, organization_id=acme)
    base = await access.update(
        "ada",
        base.id,
        embedding_provider="openai_compatible",
        embedding_secret_id=secret,
        embedding_endpoint_id=endpoint.id,
    )
    assert (base.embedding_secret_id, base.embedding_endpoint_id) == (secret, endpoint.id)
    ask = endpoints_pb2.ResolveEndpointRequest(knowledge_base_id=base.id)
    found = await access.endpoints.ResolveEndpoint(ask, **access.service("vectorstore"))
    assert found.endpoint.base_url == endpoint.base_url
    await access.secrets.DeleteSecret(
        secrets_pb2.DeleteSecretRequest(secret_id=secret), **access.person("ada")
    )
    await access.endpoints.DeleteEndpoint(
        endpoints_pb2.DeleteEndpointRequest(endpoint_id=endpoint.id), **access.person("ada")
    )
    left = await get(access, "ada", base.id)
    assert (left.embedding_secret_id, left.embedding_endpoint_id) == ("", "")
    assert left.embedding_provider == "openai_compatible"
    assert (await access.update("ada", base.id, display_name="Still")).display_name == "Still"


async def test_a_base_names_endpoints_of_its_organization_and_of_the_deployment_alone(
    access: Access, acme: str
) -> None:
    other = await access.organization("ada")
    ours, theirs = await access.endpoint("ada", acme), await access.endpoint("ada", other)
    shared = await access.endpoint(ADMIN)
    base = await access.base("ada", scope=kb.SCOPE_ORG, organization_id=acme)
    for endpoint in (ours, shared):
        await access.update("ada", base.id, embedding_provider="ollama", embedding_endpoint_id=endpoint.id)
    app = await access.base(ADMIN, scope=kb.SCOPE_APP)
    for caller, base_id, endpoint_id in (("ada", base.id, theirs.id), (ADMIN, app.id, ours.id)):
        told = await refusal(
            access.update(caller, base_id, embedding_provider="ollama", embedding_endpoint_id=endpoint_id)
        )
        assert told.details() == "There is no such endpoint."
    await access.update(ADMIN, app.id, embedding_provider="ollama", embedding_endpoint_id=shared.id)


async def test_outside_organizations_no_provider_with_a_key_is_to_be_had(access: Access, acme: str) -> None:
    secret = await key(access, "ada", acme)
    for caller, scope in (("ada", kb.SCOPE_PERSONAL), (ADMIN, kb.SCOPE_APP)):
        call = openai_base(access, caller, "", secret, scope=scope)
        assert await fields_of(call) == ["embedding_provider"]


async def test_a_first_base_names_the_model_that_its_provider_serves(access: Access, acme: str) -> None:
    secret = await key(access, "ada", acme)
    call = openai_base(access, "ada", acme, secret, embedding=kb.EmbeddingSettings())
    assert await fields_of(call) == ["embedding.model"]


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1", "http://169.254.169.254/latest", "http://nowhere.invalid"]
)
async def test_a_typed_address_leads_into_no_private_network(access: Access, acme: str, url: str) -> None:
    secret = await key(access, "ada", acme)
    call = openai_base(access, "ada", acme, secret, embedding_base_url=url)
    assert await fields_of(call) == ["embedding_base_url"]


async def test_a_base_on_a_held_name_adopts_the_key_only_of_who_sees_it(access: Access, acme: str) -> None:
    secret = await key(access, "ada", acme)
    first = await openai_base(access, "ada", acme, secret, collection_name="handbook", embedding_base_url=URL)
    await access.grant_edit("ada", first.id, user_id=access.id("mia"))
    fields = {"scope": kb.SCOPE_ORG, "organization_id": acme, "collection_name": "handbook"}
    for name, expected in (("mia", ""), ("ada", secret)):
        base = await access.base(name, **fields)
        assert base.embedding == MODEL
        assert (base.embedding_provider, base.embedding_base_url) == ("openai", URL)
        assert base.embedding_secret_id == expected


async def test_a_contrary_choice_on_a_held_name_is_refused_by_field(access: Access, acme: str) -> None:
    secret = await key(access, "ada", acme)
    await openai_base(access, "ada", acme, secret, collection_name="handbook")
    fields = {"scope": kb.SCOPE_ORG, "organization_id": acme, "collection_name": "handbook"}
    wider = kb.EmbeddingSettings(model=MODEL.model, width=256)
    assert await fields_of(access.base("ada", **fields, embedding=wider)) == ["embedding.width"]
    assert await fields_of(access.base("ada", **fields, embedding_provider="local")) == ["embedding_provider"]


@pytest.mark.parametrize("path", ["embedding", "embedding.model", "embedding.width"])
async def test_model_and_width_never_change(access: Access, path: str) -> None:
    base = await access.base("ada")
    request = kb.UpdateKnowledgeBaseRequest(knowledge_base_id=base.id)
    request.update_mask.paths.append(path)
    assert await fields_of(access.bases.UpdateKnowledgeBase(request, **access.person("ada"))) == [path]


async def test_an_update_without_or_with_unknown_fields_is_refused(access: Access) -> None:
    base = await access.base("ada")
    request = kb.UpdateKnowledgeBaseRequest(knowledge_base_id=base.id)
    for paths in ([], ["owner_user_id"]):
        request.update_mask.paths[:] = paths
        call = access.bases.UpdateKnowledgeBase(request, **access.person("ada"))
        assert await fields_of(call) == ["update_mask"]


async def test_a_configuration_is_merged_and_judged_as_a_pair(access: Access) -> None:
    base = await access.base("ada", ingestion_config=IngestionConfig(chunk_size=1000))
    config = (
        await access.update("ada", base.id, ingestion_config=IngestionConfig(chunk_overlap=300))
    ).ingestion_config
    assert (config.chunk_size, config.chunk_overlap) == (1000, 300)
    call = access.update("ada", base.id, ingestion_config=IngestionConfig(chunk_overlap=1000))
    error = from_rpc_error(await refusal(call))
    assert [field.path for field in error.fields] == ["ingestion_config"]
    assert "chunk_overlap" in error.fields[0].message
    assert "chunk_size" in error.fields[0].message
    assert (await get(access, "ada", base.id)).ingestion_config == config


async def test_who_sees_a_base_is_for_its_managers_to_say(access: Access, acme: str) -> None:
    base = await access.base(
        "ada", scope=kb.SCOPE_ORG, organization_id=acme, visibility=kb.VISIBILITY_PRIVATE
    )
    team = await access.team("ada", acme, "vic")
    await access.grant_edit("ada", base.id, user_id=access.id("mia"))
    told = await refusal(access.update("mia", base.id, visibility=kb.VISIBILITY_ORG))
    assert told.details() == "There is no such knowledge base."
    assert await access.may(access.person("vic"), base.id) == ""
    shown = await access.update("ada", base.id, visibility=kb.VISIBILITY_TEAM, team_id=team)
    assert shown.team_id == team
    assert await access.may(access.person("vic"), base.id) == "view"
    hidden = await access.update("ada", base.id, visibility=kb.VISIBILITY_PRIVATE)
    assert (hidden.visibility, hidden.team_id) == (kb.VISIBILITY_PRIVATE, "")
    assert await access.may(access.person("vic"), base.id) == ""
    other = await access.organization("ada")
    foreign = await access.team("ada", other)
    told = await refusal(access.update("ada", base.id, visibility=kb.VISIBILITY_TEAM, team_id=foreign))
    assert told.details() == "There is no such team."


async def test_a_personal_base_has_no_visibility(access: Access) -> None:
    base = await access.base("ada")
    assert await fields_of(access.update("ada", base.id, visibility=kb.VISIBILITY_ORG)) == ["visibility"]


async def test_an_update_is_done_once_and_told_to_the_audit_log_once(
    access: Access, pool: Pool, acme: str
) -> None:
    base = await access.base("ada", scope=kb.SCOPE_ORG, organization_id=acme)
    request_id = str(uuid4())
    first, again = [
        await access.update("ada", base.id, request_id=request_id, display_name="New") for _ in range(2)
    ]
    assert first == again
    await access.update("ada", base.id, display_name="New")
    rows = await pool.fetch("SELECT before, after FROM audit_events WHERE action = 'knowledge_base.updated'")
    assert [(row["before"]["display_name"], row["after"]["display_name"]) for row in rows] == [
        ("Notes", "New")
    ]
