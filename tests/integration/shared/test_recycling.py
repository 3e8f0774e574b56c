"""What one test leaves behind, no other one finds."""

import asyncpg

from tests.recycling import Recycling


async def test_a_database_is_handed_on_without_its_rows(recycling: Recycling) -> None:
    name = await recycling.take()
    left_open = await asyncpg.connect(recycling.address(name))
    await left_open.execute(
        "INSERT INTO access.organizations (id, display_name) VALUES (gen_random_uuid(), 'Acme')"
    )
    versions = await left_open.fetchval("SELECT count(*) FROM access.schema_migrations")

    await recycling.give_back(name)

    assert await recycling.take() == name
    connection = await asyncpg.connect(recycling.address(name))
    assert not await connection.fetchval("SELECT count(*) FROM access.organizations")
    assert await connection.fetchval("SELECT count(*) FROM access.schema_migrations") == versions > 0
    await connection.close()
    await recycling.give_back(name)


async def test_a_database_that_became_another_is_not_handed_on(recycling: Recycling) -> None:
    name = await recycling.take()
    connection = await asyncpg.connect(recycling.address(name))
    await connection.execute("CREATE TABLE vectors.rag_left_g1 (id uuid)")
    await connection.close()

    await recycling.give_back(name)

    other = await recycling.take()
    assert other != name
    await recycling.give_back(other)
