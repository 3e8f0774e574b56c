"""Secrets: who keeps, sees, changes and lends which, and that what one holds is told to nobody of them."""

import logging
from itertools import product
from typing import Any
from uuid import UUID, uuid4

import pytest

from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.access.v1 import secrets_pb2 as pb
from acervo.access.v1 import teams_pb2
from acervo.events.v1.facts_pb2 import SecretDeleted
from services.access.people.roles import Permission, Role
from services.access.reach import Caller, CallerKind
from services.access.vault import secrets
from services.access.vault.kinds import SecretKind
from services.access.vault.reach import reaches
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from services.shared.errors import reason_name
from services.shared.fingerprint import fingerprint
from services.shared.paging import PageRequest
from tests.integration.access.callers import Access, person_id, refusal, told

MARK = "sk-MARK-6f1c"
ROLES = {"adi": org.ROLE_ADMIN, "bea": org.ROLE_BUILDER, "mia": org.ROLE_MEMBER, "vio": org.ROLE_VIEWER}


def key(text: str = MARK, provider: str = "openrouter") -> pb.SecretValue:
    return pb.SecretValue(api_key=pb.ApiKey(provider=provider, key=text))


async def why(call: Any) -> str:
    """The reason of a refusal, and the fields that it names."""
    error = from_rpc_error(await refusal(call))
    return " ".join([reason_name(error.reason), *(field.path for field in error.fields)])


async def test_the_statements_reach_what_the_rule_does(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana", "Acme", **ROLES)
    hers, others = [await access.team("ana", acme, *names) for names in (("bea", "vio"), ("adi",))]
    for maker in ("ana", "bea", "mia"):
        for visibility, team in (
            (kb.VISIBILITY_PRIVATE, ""),
            (kb.VISIBILITY_ORG, ""),
            (kb.VISIBILITY_TEAM, hers),
            (kb.VISIBILITY_TEAM, others),
        ):
            await access.secret(maker, acme, visibility=visibility, team_id=team)
    await pool.execute(
        "UPDATE secrets SET owner_user_id = NULL WHERE owner_user_id = $1 AND visibility = 'private'",
        person_id("mia"),
    )
    ids = [row["id"] for row in await pool.fetch("SELECT id FROM secrets")]
    teams = {"bea": {hers}, "vio": {hers}, "adi": {others}}
    roles = {
        "ana": Role.OWNER,
        "adi": Role.ADMIN,
        "bea": Role.BUILDER,
        "mia": Role.MEMBER,
        "vio": Role.VIEWER,
    }
    everything = {row.id: row for row in (await listed(pool, "ana", acme)).rows}
    assert everything.keys() == set(ids)
    for name, permission in product([*roles, "zoe"], (Permission.SECRETS_VIEW, Permission.SECRETS_EDIT)):
        caller = Caller(CallerKind.PERSON, person_id(name))
        for id_, row in everything.items():
            in_team = str(row.keeping.team_id) in teams.get(name, set())
            expected = reaches(caller, roles.get(name), row.keeping, permission, in_team=in_team)
            assert (await secrets.find(pool, caller, id_, permission) is not None) == expected, (name, row)
    for name in roles:
        caller = Caller(CallerKind.PERSON, person_id(name))
        seen = {id_ for id_ in ids if await secrets.find(pool, caller, id_, Permission.SECRETS_VIEW)}
        assert {row.id for row in (await listed(pool, name, acme)).rows} == seen


async def listed(pool: Pool, name: str, organization: str) -> Any:
    caller = Caller(CallerKind.PERSON, person_id(name))
    return await secrets.page(pool, caller, UUID(organization), None, PageRequest(100))


async def test_what_a_secret_holds_is_in_no_answer(access: Access) -> None:
    acme = await access.organization("ana")
    made = await access.secret("ana", acme, display_name=" Provider ", value=key())
    changed = await access.secrets.UpdateSecret(
        pb.UpdateSecretRequest(secret_id=made.id, value=key(f"{MARK}2")), **access.person("ana")
    )
    got = await access.secrets.GetSecret(pb.GetSecretRequest(secret_id=made.id), **access.person("ana"))
    page = await access.secrets.ListSecrets(
        pb.ListSecretsRequest(organization_id=acme), **access.person("ana")
    )
    assert (made.display_name, made.kind, made.hint) == ("Provider", pb.SECRET_KIND_API_KEY, "openrouter")
    assert (made.visibility, made.owner_user_id) == (kb.VISIBILITY_PRIVATE, access.id("ana"))
    assert got.secret == changed.secret == page.secrets[0]
    for message in (made, changed, got, page):
        assert MARK.encode() not in message.SerializeToString()


async def test_pages_and_kinds_part_a_listing(access: Access) -> None:
    acme = await access.organization("ana")
    keys = [(await access.secret("ana", acme, value=key())).id for _ in range(3)]
    await access.secret("ana", acme)
    request = pb.ListSecretsRequest(organization_id=acme, kind=pb.SECRET_KIND_API_KEY, page_size=2)
    first = await access.secrets.ListSecrets(request, **access.person("ana"))
    request.page_token = first.next_page_token
    second = await access.secrets.ListSecrets(request, **access.person("ana"))
    assert [one.id for one in (*first.secrets, *second.secrets)] == keys
    assert not second.next_page_token


async def test_agents_have_no_secrets_whoever_they_act_for(access: Access) -> None:
    acme = await access.organization("ana")
    made = await access.secret("ana", acme, visibility=kb.VISIBILITY_ORG)
    call = access.secrets.GetSecret(pb.GetSecretRequest(secret_id=made.id), **access.agent("ana"))
    assert await why(call) == "NOT_FOUND"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"value": key("with space")}, "FIELD_INVALID value.api_key.key"),
        ({"value": key(f"{MARK}\n", "Open AI")}, "FIELD_INVALID value.api_key.provider value.api_key.key"),
        ({"value": pb.SecretValue()}, "FIELD_INVALID value"),
        ({"value": None}, "FIELD_INVALID value"),
        (
            {"value": pb.SecretValue(gcp_service_account=pb.GcpServiceAccount(json=f'{{"{MARK}": 1}}'))},
            "FIELD_INVALID value.gcp_service_account.json",
        ),
        ({"display_name": ""}, "FIELD_INVALID display_name"),
        ({"visibility": kb.VISIBILITY_TEAM}, "FIELD_INVALID team_id"),
        ({"team_id": str(uuid4())}, "FIELD_INVALID team_id"),
        ({"visibility": 9}, "FIELD_INVALID visibility"),
        ({"visibility": kb.VISIBILITY_TEAM, "team_id": str(uuid4())}, "NOT_FOUND"),
    ],
)
async def test_what_is_wrong_is_named_by_field_and_nothing_is_kept(
    access: Access, pool: Pool, fields: dict[str, Any], expected: str
) -> None:
    acme = await access.organization("ana")
    assert await why(access.secret("ana", acme, **fields)) == expected
    assert await pool.fetchval("SELECT count(*) FROM secrets") == 0


async def test_what_is_left_out_of_a_change_stays(access: Access) -> None:
    acme = await access.organization("ana")
    team = await access.team("ana", acme)
    made = await access.secret("ana", acme, value=key())

    async def update(**fields: Any) -> pb.Secret:
        request = pb.UpdateSecretRequest(secret_id=made.id, **fields)
        return (await access.secrets.UpdateSecret(request, **access.person("ana"))).secret

    renamed = await update(display_name="New")
    assert (renamed.display_name, renamed.value_time) == ("New", made.value_time)
    shown = await update(visibility=kb.VISIBILITY_TEAM, team_id=team)
    assert (shown.display_name, shown.visibility, shown.team_id) == ("New", kb.VISIBILITY_TEAM, team)
    replaced = await update(value=key("sk-2"))
    assert (replaced.display_name, replaced.team_id) == ("New", team)
    assert replaced.value_time.ToDatetime() > made.value_time.ToDatetime()
    assert (await update(visibility=kb.VISIBILITY_ORG)).team_id == ""
    assert await why(update()) == "FIELD_INVALID display_name"
    assert await why(update(value=key("sk-2", "openai"))) == "FIELD_INVALID value.api_key.provider"
    other = pb.SecretValue(notion_token=pb.NotionToken(token="secret_1"))
    assert await why(update(value=other)) == "FIELD_INVALID value"


async def test_a_team_that_goes_leaves_its_secrets_private(access: Access) -> None:
    acme = await access.organization("ana")
    team = await access.team("ana", acme)
    made = await access.secret("ana", acme, visibility=kb.VISIBILITY_TEAM, team_id=team)
    await access.teams.DeleteTeam(teams_pb2.DeleteTeamRequest(team_id=team), **access.person("ana"))
    got = await access.secrets.GetSecret(pb.GetSecretRequest(secret_id=made.id), **access.person("ana"))
    assert (got.secret.visibility, got.secret.team_id) == (kb.VISIBILITY_PRIVATE, "")


async def test_an_organization_goes_with_its_secrets(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana")
    base = await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme)
    made = await access.secret("ana", acme)
    await access.lend("ana", made.id, base.id, str(uuid4()))
    request = org.DeleteOrganizationRequest(organization_id=acme)
    await access.organizations.DeleteOrganization(request, **access.person("ana"))
    for table in ("secrets", "secret_bindings"):
        assert await pool.fetchval(f"SELECT count(*) FROM {table}") == 0
    assert await announced(pool) == [made.id]


async def test_a_deleted_secret_is_announced(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana")
    made = await access.secret("ana", acme)
    await access.secrets.DeleteSecret(pb.DeleteSecretRequest(secret_id=made.id), **access.person("ana"))
    assert await announced(pool) == [made.id]


async def announced(pool: Pool) -> list[str]:
    """The secrets that are said to be gone."""
    rows = await pool.fetch("SELECT payload FROM outbox WHERE subject = 'acervo.secret.deleted' ORDER BY id")
    return [SecretDeleted.FromString(row["payload"]).secret_id for row in rows]


async def test_a_repeat_answers_the_same_secret_and_another_value_is_another_request(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana")
    id_ = str(uuid4())
    made = await access.secret("ana", acme, request_id=id_, value=key())
    assert await access.secret("ana", acme, request_id=id_, value=key()) == made
    assert await why(access.secret("ana", acme, request_id=id_, value=key("sk-2"))) == "REQUEST_ID_REUSED"
    assert await pool.fetchval("SELECT count(*) FROM secrets") == 1


async def test_no_guess_is_confirmed_by_what_is_kept_of_a_request(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana")
    request = pb.CreateSecretRequest(
        request_id=str(uuid4()), organization_id=acme, display_name="Key", value=key()
    )
    made = await access.secrets.CreateSecret(request, **access.person("ana"))
    update = pb.UpdateSecretRequest(request_id=str(uuid4()), secret_id=made.secret.id, value=key())
    await access.secrets.UpdateSecret(update, **access.person("ana"))
    kept = {row["digest"] for row in await pool.fetch("SELECT digest FROM requests")}
    assert len(kept) == 2
    assert not kept & {fingerprint(request), fingerprint(update)}


async def test_one_refusal_stands_for_a_secret_that_is_absent_foreign_invisible_or_of_another_kind(
    access: Access, pool: Pool
) -> None:
    acme = await access.organization("ana", "Acme", mia=org.ROLE_MEMBER)
    elsewhere = await access.organization("mia", "Mia's")
    base = await access.base("mia", scope=kb.SCOPE_ORG, organization_id=acme)
    unusable = {
        "absent": str(uuid4()),
        "foreign": (await access.secret("mia", elsewhere)).id,
        "invisible": (await access.secret("ana", acme)).id,
        "wrong kind": (await access.secret("mia", acme, value=key())).id,
    }
    answers = [
        told(await refusal(access.lend("mia", id_, base.id, str(uuid4())))) for id_ in unusable.values()
    ]
    assert answers == [answers[0]] * len(unusable)
    assert answers[0][1] == "There is no such secret."
    assert await pool.fetchval("SELECT count(*) FROM secret_bindings") == 0
    mia = Caller(CallerKind.PERSON, person_id("mia"))
    for id_ in unusable.values():
        kinds = set(SecretKind) - {SecretKind.API_KEY}
        assert await secrets.find_lendable(pool, mia, UUID(id_), UUID(acme), kinds) is None


async def test_outside_any_organization_there_is_no_vault(access: Access) -> None:
    acme = await access.organization("ana")
    made = await access.secret("ana", acme)
    alone = await access.base("ana", scope=kb.SCOPE_PERSONAL)
    within = await access.base("ana", scope=kb.SCOPE_PERSONAL, organization_id=acme)
    assert await why(access.lend("ana", made.id, alone.id, str(uuid4()))) == "NOT_FOUND"
    await access.lend("ana", made.id, within.id, str(uuid4()))


async def test_whoever_lends_a_secret_must_be_able_to_edit_the_base(access: Access) -> None:
    acme = await access.organization("ana", "Acme", mia=org.ROLE_MEMBER)
    base = await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme)
    made = await access.secret("mia", acme)
    error = await refusal(access.lend("mia", made.id, base.id, str(uuid4())))
    assert error.details() == "There is no such knowledge base."


async def test_nothing_of_a_secret_comes_into_a_log_or_a_refusal(
    access: Access, caplog: pytest.LogCaptureFixture
) -> None:
    acme = await access.organization("ana")
    options = access.person("ana")
    bad = f'{{"private_key": "{MARK}"'
    answers = []
    with caplog.at_level(logging.DEBUG):
        made = await access.secret("ana", acme, value=key(), request_id=str(UUID(int=5)))
        for name, fields in (
            ("ana", {"value": key(f"{MARK} {MARK}")}),
            ("ana", {"value": pb.SecretValue(gcp_service_account=pb.GcpServiceAccount(json=bad))}),
            ("ana", {"value": pb.SecretValue(atlassian_token=pb.AtlassianToken(email=MARK, token=MARK))}),
            ("zoe", {"value": key()}),
            ("ana", {"value": key(f"{MARK}2"), "request_id": str(UUID(int=5))}),
        ):
            answers.append(await refusal(access.secret(name, acme, **fields)))
        for change in (key(MARK, "openai"), pb.SecretValue(git_token=pb.GitToken(token=MARK))):
            request = pb.UpdateSecretRequest(secret_id=made.id, value=change)
            answers.append(await refusal(access.secrets.UpdateSecret(request, **options)))
        request = pb.UpdateSecretRequest(secret_id=made.id, value=key(f"{MARK}3"))
        await access.secrets.UpdateSecret(request, **options)
    written = [
        caplog.text,
        *(repr(vars(record)) for record in caplog.records),
        *map(repr, map(told, answers)),
    ]
    assert any("CreateSecret" in text for text in written)
    assert not any(MARK in text for text in written)


async def test_not_even_an_unforeseen_failure_tells_of_a_secret(
    access: Access, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme = await access.organization("ana")

    async def fail(*arguments: object, **named: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(secrets, "insert", fail)
    with caplog.at_level(logging.DEBUG):
        error = await refusal(access.secret("ana", acme, value=key()))
    assert "ZeroDivisionError" in caplog.text
    assert MARK not in caplog.text + repr(told(error))
