"""Connections that a pool lends are given back fit for the next borrower."""

import asyncpg
import pytest

from services.shared.db import open_pool
from tests.conftest import Databases


async def test_what_a_borrower_left_open_is_rolled_back_before_the_next_one(databases: Databases) -> None:
    async with await open_pool(databases["ingest"], size=2, application="test") as pool:
        async with pool.acquire() as connection:
            await connection.transaction().start()
            await connection.execute("CREATE TABLE left_over ()")
        with pytest.raises(asyncpg.UndefinedTableError):
            await pool.execute("SELECT FROM left_over")


async def test_giving_a_connection_back_sends_no_statement(databases: Databases) -> None:
    sent: list[str] = []
    async with await open_pool(databases["ingest"], size=2, application="test") as pool:
        async with pool.acquire() as connection:
            connection.add_query_logger(lambda query: sent.append(query.query))
        sent.clear()
        assert await pool.fetchval("SELECT 1") == 1
        assert await pool.fetchval("SELECT 2") == 2
    assert sent == ["SELECT 1", "SELECT 2"]
