"""Preparing and migrating a database."""

import asyncio
import secrets
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
