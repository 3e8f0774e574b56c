import asyncpg

from services.shared.names import OWN_TABLES
from tests.conftest import Databases


async def test_the_reserved_names_are_those_of_the_tables_that_the_migrations_made(
    databases: Databases,
) -> None:
    connection = await asyncpg.connect(databases.admin_url)
    rows = await connection.fetch(
        "SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
        r" WHERE relkind IN ('r', 'p', 'v', 'm', 'S') AND relname LIKE 'rag\_%' AND nspname !~ '^pg_'"
    )
    await connection.close()
    assert {row["relname"].removeprefix("rag_") for row in rows} == OWN_TABLES
