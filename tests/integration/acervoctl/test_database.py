"""Preparing and migrating a database."""

import asyncio
import os
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass

import asyncpg
import pytest

from services.shared.bootstrap import SERVICES, VECTORS_SCHEMA, bootstrap, role_name
from services.shared.migrate import MigrationFailed, migrate, migrate_all


@dataclass(frozen=True)
class Fresh:
    """A database that nobody has made yet."""

    name: str
    maintenance_url: str
    urls: dict[str, str]
    passwords: dict[str, str]


@pytest.fixture
async def fresh(postgres_server) -> AsyncIterator[Fresh]:  # type: ignore[no-untyped-def]
    name = f"fresh_{secrets.token_hex(6)}"
    yield Fresh(
        name,
        postgres_server.maintenance_url,
        {service: postgres_server.url(service, name) for service in SERVICES},
        postgres_server.postgres.credentials.roles,
    )
    connection = await asyncpg.connect(postgres_server.maintenance_url)
    await connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    await connection.close()


async def test_preparing_and_migrating_can_be_repeated_and_done_at_the_same_time(fresh: Fresh) -> None:
    async def whole() -> None:
        await bootstrap(fresh.maintenance_url, fresh.passwords, database=fresh.name)
        await migrate_all(fresh.urls)

    await asyncio.gather(whole(), whole())
    await whole()
    for service in SERVICES:
        connection = await asyncpg.connect(fresh.urls[service])
        assert await connection.fetchval("SELECT count(*) FROM outbox") == 0
        assert await connection.fetchval("SELECT '[1,2]'::vector <-> '[1,2]'::vector") == 0
        await connection.close()


async def test_each_schema_belongs_to_its_services_role(fresh: Fresh) -> None:
    await bootstrap(fresh.maintenance_url, fresh.passwords, database=fresh.name)
    connection = await asyncpg.connect(fresh.maintenance_url, database=fresh.name)
    rows = await connection.fetch("SELECT nspname, nspowner::regrole::text AS owner FROM pg_namespace")
    owners = {row["nspname"]: row["owner"] for row in rows}
    await connection.close()
    assert {service: owners[service] for service in SERVICES} == {name: role_name(name) for name in SERVICES}
    assert owners[VECTORS_SCHEMA] == role_name("vectorstore")


async def test_a_migration_that_is_refused_says_of_which_service(fresh: Fresh) -> None:
    without_schemas = fresh.urls["access"].replace(f"@/{fresh.name}?", "@/postgres?")
    with pytest.raises(MigrationFailed, match="migrating access failed"):
        await migrate("access", without_schemas)


def run(module: str, environment: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        (sys.executable, "-m", module, *arguments),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_job_prepares_and_migrates_from_its_environment_alone(fresh: Fresh) -> None:
    urls = {f"ACERVO_DATABASE_URL_{service.upper()}": url for service, url in fresh.urls.items()}
    admin = {"ACERVO_ADMIN_DATABASE_URL": fresh.maintenance_url}
    assert run("services.shared.bootstrap", {**urls, **admin}).returncode == 0
    assert run("services.shared.migrate", urls).returncode == 0
    one = run("services.shared.migrate", {"ACERVO_DATABASE_URL": fresh.urls["ingest"]}, "ingest")
    assert one.returncode == 0, one.stderr


def test_a_job_without_an_address_says_which_one_is_missing() -> None:
    missing = run("services.shared.migrate", {"ACERVO_DATABASE_URL_INGEST": ""}, "ingest")
    assert (missing.returncode, "no database address for: ingest" in missing.stderr) == (2, True)
    unknown = run("services.shared.migrate", {}, "ingets")
    assert (unknown.returncode, "no such service: ingets" in unknown.stderr) == (2, True)
    unset = run("services.shared.bootstrap", {})
    assert (unset.returncode, unset.stderr) == (2, "ACERVO_ADMIN_DATABASE_URL is not set\n")
