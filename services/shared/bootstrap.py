"""Prepares a database for Acervo: one role and one schema for each service that keeps rows.

Needs an administrator's address (a superuser, or one who may create roles, databases and the extension
`vector`). Safe to repeat, and safe to run from several places at once. `services.shared.migrate` fills the
schemas.

    ACERVO_ADMIN_DATABASE_URL=... ACERVO_DATABASE_URL_ACCESS=... python -m services.shared.bootstrap

The administrator's address names any database that is there; those of the services name the one to prepare,
and the password that each role is to have.
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

import asyncpg

SERVICES = ("access", "upload", "ingest", "vectorstore", "sync")
"""The services that keep rows, each in a schema of its own name."""

EXTENSIONS_SCHEMA = "extensions"
VECTORS_SCHEMA = "vectors"

_LOCK = 0x61636572766F
"""Key of the advisory lock that lets one bootstrap run at a time."""

_SHARED_SQL = f"""
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
CREATE SCHEMA IF NOT EXISTS {EXTENSIONS_SCHEMA};
CREATE EXTENSION IF NOT EXISTS vector SCHEMA {EXTENSIONS_SCHEMA};
GRANT USAGE ON SCHEMA {EXTENSIONS_SCHEMA} TO PUBLIC;
"""


def role_name(service: str) -> str:
    """The database role of a service."""
    return f"acervo_{service}"


def search_path(service: str) -> str:
    """Where a service's unqualified names are looked up: its own schema, then the extensions."""
    return f"{service},{EXTENSIONS_SCHEMA}"


async def bootstrap(admin_url: str, passwords: Mapping[str, str], *, database: str) -> None:
    """Create `database` where it is absent, and in it the roles and schemas of all `SERVICES`.

    `passwords` maps each service to its role's password, which is set anew.
    """
    await _create_database(admin_url, database)
    connection = await asyncpg.connect(admin_url, database=database)
    try:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
            for service in SERVICES:
                await _create_role(connection, service, passwords[service])
            await connection.execute(_SHARED_SQL)
            for service in SERVICES:
                await _create_schema(connection, service, owner=role_name(service))
            await _create_schema(connection, VECTORS_SCHEMA, owner=role_name("vectorstore"))
    finally:
        await connection.close()


async def _create_database(admin_url: str, database: str) -> None:
    connection = await asyncpg.connect(admin_url)
    try:
        if await connection.fetchval("SELECT true FROM pg_database WHERE datname = $1", database):
            return
        statement = await connection.fetchval("SELECT format('CREATE DATABASE %I', $1::text)", database)
        await connection.execute(statement)
    except (asyncpg.DuplicateDatabaseError, asyncpg.UniqueViolationError):
        return  # somebody else made it meanwhile
    finally:
        await connection.close()


async def _create_role(connection: asyncpg.Connection, service: str, password: str) -> None:
    role = role_name(service)
    if not await connection.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", role):
        await connection.execute(f"CREATE ROLE {role}")
        await connection.execute(f"GRANT {role} TO CURRENT_USER")
    statement = await connection.fetchval(
        "SELECT format('ALTER ROLE %I LOGIN PASSWORD %L', $1::text, $2::text)", role, password
    )
    await connection.execute(statement)
    await connection.execute(f"ALTER ROLE {role} SET search_path = {search_path(service)}")


async def _create_schema(connection: asyncpg.Connection, schema: str, *, owner: str) -> None:
    await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema} AUTHORIZATION {owner}")


def _target(urls: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The database that the services' addresses name, and the password in each. Raises `ValueError`."""
    parts = {service: urlsplit(url) for service, url in urls.items()}
    databases = {unquote(part.path.lstrip("/")) for part in parts.values()}
    if len(databases) != 1 or "" in databases:
        raise ValueError("the services' addresses name no database, or not the same one")
    without = sorted(service for service, part in parts.items() if not part.password)
    if without:
        raise ValueError(f"no password in the address of: {', '.join(without)}")
    return databases.pop(), {service: unquote(part.password or "") for service, part in parts.items()}


def main() -> int:
    """Entry point of a Job: addresses come from the environment."""
    try:
        admin_url = os.environ["ACERVO_ADMIN_DATABASE_URL"]
        urls = {service: os.environ[f"ACERVO_DATABASE_URL_{service.upper()}"] for service in SERVICES}
        database, passwords = _target(urls)
    except KeyError as missing:
        print(f"{missing.args[0]} is not set", file=sys.stderr)  # noqa: T201
        return 2
    except ValueError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    asyncio.run(bootstrap(admin_url, passwords, database=database))
    return 0


if __name__ == "__main__":
    sys.exit(main())
