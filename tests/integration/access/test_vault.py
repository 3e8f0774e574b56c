"""The vault: what is opened for whom, what becomes of it when keys change, and that all of it is written down."""

import asyncio
import base64
import os
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import secrets_pb2 as pb
from services.access.reach import Caller, CallerKind
from services.access.vault import bindings, changing
from services.access.vault.lending import Purpose, Use
from services.shared.db import Pool
from tests.integration.access.callers import Access, person_id
from tests.integration.access.test_secrets import key, why

TOKEN = pb.SecretValue(git_token=pb.GitToken(username="ana", token="ghp_42"))


class Lent:
    """A base of an organization, a source of it, and a secret that it uses."""

    def __init__(self, access: Access, organization: str, base: str) -> None:
        self.access = access
        self.organization = organization
        self.base = base
        self.source = str(uuid4())
        self.secret = ""

    async def keep(self, value: pb.SecretValue = TOKEN) -> str:
        return (await self.access.secret("ana", self.organization, value=value)).id

    async def open(self, service: str = "sync", **fields: Any) -> pb.SecretValue:
        request = pb.OpenSecretRequest(
            **{
                "secret_id": self.secret,
                "knowledge_base_id": self.base,
                "source_id": self.source,
                "purpose": pb.SECRET_PURPOSE_SOURCE,
                **fields,
            }
        )
        return (await self.access.secrets.OpenSecret(request, **self.access.service(service))).value

    async def update(self, value: pb.SecretValue) -> None:
        request = pb.UpdateSecretRequest(secret_id=self.secret, value=value)
        await self.access.secrets.UpdateSecret(request, **self.access.person("ana"))

    async def rewrap(self, size: int = 100) -> list[pb.RewrapSecretsResponse]:
        """Bring the whole vault to the newest key."""
        answers: list[pb.RewrapSecretsResponse] = []
        request = pb.RewrapSecretsRequest(page_size=size)
        while not answers or request.page_token:
            operator = self.access.person(self.access.admin)
            answers.append(await self.access.secrets.RewrapSecrets(request, **operator))
            request.page_token = answers[-1].next_page_token
        return answers


@pytest.fixture
async def lent(access: Access) -> Lent:
    acme = await access.organization("ana")
    base = await access.base("ana", scope=kb.SCOPE_ORG, organization_id=acme)
    lent = Lent(access, acme, base.id)
    lent.secret = await lent.keep()
    await access.lend("ana", lent.secret, lent.base, lent.source)
    return lent


async def events(pool: Pool, *actions: str) -> list[asyncpg.Record]:
    return await pool.fetch("SELECT * FROM audit_events WHERE action = ANY ($1) ORDER BY id", list(actions))


async def test_what_was_kept_is_opened_where_it_is_bound(lent: Lent) -> None:
    assert await lent.open() == TOKEN
    await lent.update(value := pb.SecretValue(git_token=pb.GitToken(token="ghp_43")))
    assert await lent.open() == value


@pytest.mark.parametrize(
    "value",
    [
        pb.SecretValue(
            aws_credentials=pb.AwsCredentials(access_key_id="A", secret_access_key="s", region="r")
        ),
        pb.SecretValue(
            gcp_service_account=pb.GcpServiceAccount(
                json='{"type": "service_account", "client_email": "a@b", "private_key": "k\\n"}'
            )
        ),
        pb.SecretValue(azure_credentials=pb.AzureCredentials(account_name="acme", account_key="k")),
        pb.SecretValue(atlassian_token=pb.AtlassianToken(email="a@b", token="t")),
        pb.SecretValue(graph_app=pb.GraphApp(tenant_id="t", client_id="c", client_secret="s")),
        pb.SecretValue(notion_token=pb.NotionToken(token="n")),
    ],
)
async def test_every_kind_for_sources_opens_as_it_was_kept(lent: Lent, value: pb.SecretValue) -> None:
    lent.secret = await lent.keep(value)
    await lent.access.lend("ana", lent.secret, lent.base, lent.source)
    assert await lent.open() == value


async def test_a_base_opens_its_key_for_each_purpose_by_the_service_of_the_purpose(
    lent: Lent, pool: Pool
) -> None:
    secret_id = await lent.keep(key())
    ana = Caller(CallerKind.PERSON, person_id("ana"))
    services = {
        Purpose.EMBEDDING: ("vectorstore", pb.SECRET_PURPOSE_EMBEDDING),
        Purpose.PARSING: ("ingest", pb.SECRET_PURPOSE_PARSING),
        Purpose.IMAGE_DESCRIPTION: ("ingest", pb.SECRET_PURPOSE_IMAGE_DESCRIPTION),
    }
    for purpose, (service, code) in services.items():
        wanted = {"secret_id": secret_id, "source_id": "", "purpose": code}
        assert await why(lent.open(service, **wanted)) == "NOT_FOUND"
        async with pool.acquire() as connection, connection.transaction():
            vectorstore = Caller(CallerKind.SERVICE, None, service=service)
            use = Use(UUID(lent.base), purpose)
            await changing.lend(connection, vectorstore, ana, use, UUID(secret_id))
            assert await bindings.find(connection, use) == UUID(secret_id)
        assert await lent.open(service, **wanted) == key()
        assert await why(lent.open("sync", **wanted)) == "NOT_FOUND"


async def test_everything_else_reads_as_an_absent_secret_and_is_written_down(lent: Lent, pool: Pool) -> None:
    other = await lent.keep()
    elsewhere = (await lent.access.base("ana", scope=kb.SCOPE_ORG, organization_id=lent.organization)).id
    attempts: list[tuple[str, dict[str, Any]]] = [
        ("sync", {"secret_id": str(uuid4())}),
        ("sync", {"secret_id": other}),
        ("sync", {"knowledge_base_id": elsewhere}),
        ("sync", {"knowledge_base_id": str(uuid4())}),
        ("sync", {"source_id": str(uuid4())}),
        ("ingest", {}),
        ("vectorstore", {"source_id": "", "purpose": pb.SECRET_PURPOSE_EMBEDDING}),
    ]
    for service, fields in attempts:
        assert await why(lent.open(service, **fields)) == "NOT_FOUND", (service, fields)
    refused = await events(pool, "secret.refused")
    assert [row["actor_service"] for row in refused] == [service for service, _ in attempts]
    assert {row["after"]["outcome"] for row in refused} == {"NOT_FOUND"}
    assert [row["deployment"] for row in refused] == [
        "knowledge_base_id" in fields and fields["knowledge_base_id"] != elsewhere for _, fields in attempts
    ]


async def test_each_opening_is_written_down_with_who_asked_for_what(lent: Lent, pool: Pool) -> None:
    await lent.open(actor_user_id=lent.access.id("ana"))
    (row,) = await events(pool, "secret.opened")
    assert (row["actor_service"], str(row["organization_id"])) == ("sync", lent.organization)
    assert (row["object_kind"], str(row["object_id"])) == ("secret", lent.secret)
    assert row["after"] == {
        "knowledge_base_id": lent.base,
        "source_id": lent.source,
        "purpose": "source",
        "user_id": lent.access.id("ana"),
    }


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"purpose": pb.SECRET_PURPOSE_UNSPECIFIED}, "FIELD_INVALID purpose source_id"),
        ({"purpose": pb.SECRET_PURPOSE_EMBEDDING}, "FIELD_INVALID source_id"),
        ({"source_id": ""}, "FIELD_INVALID source_id"),
    ],
)
async def test_a_source_goes_with_its_purpose(lent: Lent, fields: dict[str, Any], expected: str) -> None:
    assert await why(lent.open(**fields)) == expected


async def test_where_a_secret_was_deleted_there_is_no_key_until_another_one_is_bound(
    lent: Lent, pool: Pool
) -> None:
    request = pb.DeleteSecretRequest(secret_id=lent.secret)
    answer = await lent.access.secrets.DeleteSecret(request, **lent.access.person("ana"))
    assert answer.uses == 1
    assert await why(lent.open()) == "SECRET_GONE"
    assert await why(lent.open("ingest")) == "NOT_FOUND"
    (row, _) = await events(pool, "secret.refused")
    assert row["after"]["outcome"] == "SECRET_GONE"
    lent.secret = await lent.keep()
    await lent.access.lend("ana", lent.secret, lent.base, lent.source)
    assert await lent.open() == TOKEN


async def test_a_source_that_uses_no_secret_any_more_opens_none(lent: Lent) -> None:
    request = pb.UnbindSecretRequest(knowledge_base_id=lent.base, source_id=lent.source)
    for _ in range(2):
        await lent.access.secrets.UnbindSecret(request, **lent.access.service("sync"))
    assert await why(lent.open()) == "NOT_FOUND"


@pytest.mark.parametrize("service", ["upload", "ingest", "vectorstore", "gateway"])
async def test_sources_are_lent_to_by_sync_alone(lent: Lent, service: str) -> None:
    options, access = lent.access.service(service), lent.access
    bind = pb.BindSecretRequest(
        actor_user_id=access.id("ana"),
        secret_id=lent.secret,
        knowledge_base_id=lent.base,
        source_id=lent.source,
    )
    unbind = pb.UnbindSecretRequest(knowledge_base_id=lent.base, source_id=lent.source)
    assert await why(access.secrets.BindSecret(bind, **options)) == "NOT_FOUND"
    assert await why(access.secrets.UnbindSecret(unbind, **options)) == "NOT_FOUND"
    assert await lent.open() == TOKEN


async def test_bindings_go_with_their_base(lent: Lent, pool: Pool) -> None:
    await lent.access.delete("ana", lent.base)
    assert await pool.fetchval("SELECT count(*) FROM secret_bindings") == 0
    assert await why(lent.open()) == "NOT_FOUND"


@pytest.mark.parametrize(
    "column", ["organization_id", "kind", "hint", "wrapped_key", "ciphertext", "key_version"]
)
async def test_a_row_that_was_changed_in_the_database_does_not_open(
    lent: Lent, pool: Pool, column: str
) -> None:
    other = await lent.access.organization("ana", "Other")
    base = await lent.access.base("ana", scope=kb.SCOPE_ORG, organization_id=other)
    changes = {
        "organization_id": f"'{other}'",
        "kind": "'notion_token'",
        "hint": "'bea'",
        "wrapped_key": "set_byte(wrapped_key, 20, get_byte(wrapped_key, 20) # 1)",
        "ciphertext": "set_byte(ciphertext, 20, get_byte(ciphertext, 20) # 1)",
        "key_version": "2",
    }
    await pool.execute(f"UPDATE secrets SET {column} = {changes[column]}")
    if column == "organization_id":
        await pool.execute("UPDATE secret_bindings SET knowledge_base_id = $1", UUID(base.id))
        lent.base = base.id
    assert await why(lent.open()) == ("UNAVAILABLE" if column == "key_version" else "SECRET_UNREADABLE")


def add_key(path: Path, version: int, *, alone: bool = False) -> None:
    line = f"{version} {base64.b64encode(os.urandom(32)).decode()}\n"
    fresh = path.with_name("fresh")
    fresh.write_text(line if alone else path.read_text() + line)
    fresh.replace(path)


def drop_key(path: Path, version: int) -> None:
    fresh = path.with_name("fresh")
    lines = path.read_text().splitlines(keepends=True)
    fresh.write_text("".join(line for line in lines if not line.startswith(f"{version} ")))
    fresh.replace(path)


async def test_after_a_rotation_the_old_master_key_is_needed_no_more(
    lent: Lent, pool: Pool, master_keys: Path
) -> None:
    for _ in range(4):
        await lent.keep()
    before = await pool.fetch("SELECT id, ciphertext, update_time FROM secrets ORDER BY id")
    add_key(master_keys, 2)
    newer = await lent.keep()
    answers = await lent.rewrap(size=2)
    assert [(one.rewrapped, one.remaining, one.key_version) for one in answers] == [
        (2, 3, 2),
        (2, 1, 2),
        (1, 0, 2),
    ]
    assert [one.rewrapped for one in await lent.rewrap()] == [0]
    drop_key(master_keys, 1)
    assert await lent.open() == TOKEN
    after = await pool.fetch(
        "SELECT id, ciphertext, update_time FROM secrets WHERE id <> $1 ORDER BY id", UUID(newer)
    )
    assert after == before
    assert len(await events(pool, "vault.rewrapped")) == 3


async def test_a_rotation_goes_past_what_no_key_opens_and_tells_of_it(
    lent: Lent, pool: Pool, master_keys: Path
) -> None:
    lost = await lent.keep()
    await pool.execute("UPDATE secrets SET wrapped_key = '\\x00' WHERE id = $1", UUID(lost))
    add_key(master_keys, 2)
    (answer,) = await lent.rewrap()
    assert (answer.rewrapped, list(answer.unreadable_secret_ids), answer.remaining) == (1, [lost], 1)
    assert await lent.open() == TOKEN


async def test_who_does_not_know_the_newest_key_yet_undoes_nothing_and_is_told_to_try_again(
    lent: Lent, pool: Pool, master_keys: Path
) -> None:
    add_key(master_keys, 2)
    await lent.rewrap()
    drop_key(master_keys, 2)
    (answer,) = await lent.rewrap()
    assert (answer.key_version, answer.rewrapped, list(answer.unreadable_secret_ids)) == (1, 0, [])
    assert await pool.fetchval("SELECT key_version FROM secrets") == 2
    assert await why(lent.open()) == "UNAVAILABLE"


async def test_a_secret_whose_master_key_was_lost_is_no_key_and_can_be_entered_again(
    lent: Lent, pool: Pool, master_keys: Path
) -> None:
    add_key(master_keys, 2, alone=True)
    assert await why(lent.open()) == "SECRET_UNREADABLE"
    (row,) = await events(pool, "secret.refused")
    assert row["after"]["outcome"] == "SECRET_UNREADABLE"
    await lent.update(TOKEN)
    assert await lent.open() == TOKEN


async def test_changes_during_a_rotation_are_not_lost(lent: Lent, pool: Pool, master_keys: Path) -> None:
    others = [await lent.keep() for _ in range(8)]
    add_key(master_keys, 2)
    tokens = [pb.SecretValue(git_token=pb.GitToken(token=f"ghp_{number}")) for number in range(6)]
    await asyncio.gather(lent.rewrap(3), lent.rewrap(2), *map(lent.update, tokens), lent.rewrap(1))
    assert {row["key_version"] for row in await pool.fetch("SELECT key_version FROM secrets")} == {2}
    drop_key(master_keys, 1)
    assert await lent.open() in tokens
    for lent.secret in others:
        await lent.access.lend("ana", lent.secret, lent.base, lent.source)
        assert await lent.open() == TOKEN


async def test_a_repeat_across_a_rotation_is_known_again(lent: Lent, master_keys: Path) -> None:
    id_ = str(uuid4())
    made = await lent.access.secret("ana", lent.organization, request_id=id_)
    add_key(master_keys, 2)
    assert await lent.access.secret("ana", lent.organization, request_id=id_) == made
    assert await why(lent.access.secret("ana", lent.organization, request_id=id_, value=TOKEN)) == (
        "REQUEST_ID_REUSED"
    )


class TestClosed:
    """A deployment without master keys."""

    @pytest.fixture
    def vault_keys(self) -> None:
        return None

    async def test_without_a_master_key_the_vault_is_closed_and_all_else_works(self, access: Access) -> None:
        acme = await access.organization("ana")
        options = access.person("ana")
        assert await why(access.secret("ana", acme)) == "VAULT_CLOSED"
        page = await access.secrets.ListSecrets(pb.ListSecretsRequest(organization_id=acme), **options)
        assert not page.secrets
        request = pb.RewrapSecretsRequest()
        assert await why(access.secrets.RewrapSecrets(request, **options)) == "NOT_FOUND"
        operator = access.person(access.admin)
        assert await why(access.secrets.RewrapSecrets(request, **operator)) == "VAULT_CLOSED"
        assert await why(Lent(access, acme, str(uuid4())).open(secret_id=str(uuid4()))) == "VAULT_CLOSED"
