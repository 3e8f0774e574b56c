"""Claims, writes and deletions that are really at work at once, on PostgreSQL."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import UUID

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.access import reach_sql
from services.access.bases import creation, deletion, teardowns
from services.access.bases.claims import Embedding
from services.access.bases.creation import Fresh, Wish
from services.access.bases.teardown import OWNERS
from services.access.reach import BaseScope, Caller, CallerKind
from services.access.refusals import BaseNotFound, EmbeddingConflict
from services.shared import bases
from services.shared.db import CONTENDED, Connection, Pool, open_pool
from services.shared.errors import BaseGone, NameTaken
from services.shared.ids import uuid7
from services.vectorstore import forgetting
from tests.conftest import Databases

SPACES = (Embedding("hashing-256", 256), Embedding("use-multilingual-v3", 512))
PEOPLE = tuple(Caller(CallerKind.PERSON, UUID(int=number)) for number in (1, 2))
REFUSED = (NameTaken, EmbeddingConflict, BaseNotFound, BaseGone, *CONTENDED)

_HELD = """
SELECT (SELECT count(*) FROM knowledge_bases WHERE collection_name = $1) AS bases,
       (SELECT count(*) FROM teardowns WHERE collection_name = $1) AS teardowns
"""
_WRITE = """
INSERT INTO rag_documents (document_id, knowledge_base_id, collection, attempt, address, version, filename, kind,
                           source, chunk_count, term_counts, languages, address_digest)
VALUES ($1, $2, $3, 1, '', 0, 'a.txt', 'text', 'upload', 1, '', '{}', sha256(''))
"""


@pytest.fixture
async def pools(databases: Databases) -> AsyncIterator[tuple[Pool, Pool]]:
    access = await open_pool(databases["access"], size=6, application="test", prepare=reach_sql.prepare)
    vectorstore = await open_pool(databases["vectorstore"], size=6, application="test")
    yield access, vectorstore
    await access.close()
    await vectorstore.close()


class Race:
    """One name that several people want at once."""

    def __init__(self, pools: tuple[Pool, Pool], name: str, chance: random.Random) -> None:
        self.access, self.vectorstore = pools
        self.name = name
        self.chance = chance
        self.made: list[tuple[Caller, UUID]] = []

    async def _within(self, pool: Pool, work: Callable[[Connection], Awaitable[None]]) -> bool:
        try:
            async with pool.acquire() as connection, connection.transaction():
                await work(connection)
        except REFUSED:
            return False
        return True

    async def claim(self) -> None:
        caller, wanted = self.chance.choice(PEOPLE), self.chance.choice([None, *SPACES])
        fresh = Fresh.of(SPACES[0])

        async def work(connection: Connection) -> None:
            wish = Wish("Notes", BaseScope.PERSONAL, collection_name=self.name, embedding=wanted)
            base = await creation.create(connection, caller, wish, fresh)
            assert wanted in (None, base.embedding)
            (held,) = await connection.fetch(_HELD, self.name)
            assert held["bases"] > 1 or not held["teardowns"], "a reserved name was claimed"

        if await self._within(self.access, work):
            self.made.append((caller, fresh.id))

    async def write(self) -> None:
        """Into any base that there ever was: a writer may have asked access long before."""
        if not self.made:
            return
        _, base_id = self.chance.choice(self.made)
        item = uuid7()

        async def work(connection: Connection) -> None:
            await bases.hold(connection, base_id, item)
            await connection.execute(_WRITE, item, base_id, self.name)

        await self._within(self.vectorstore, work)

    async def delete(self) -> None:
        if not self.made:
            return
        caller, base_id = self.chance.choice(self.made)

        async def work(connection: Connection) -> None:
            await deletion.delete_base(connection, caller, base_id, uuid7)

        await self._within(self.access, work)

    async def hear(self) -> None:
        """vectorstore carries out what is under way, and all four answer, some of them twice."""
        for row in await self.access.fetch("SELECT * FROM teardowns WHERE collection_name = $1", self.name):
            await self._carry_out(row)

    async def _carry_out(self, row: asyncpg.Record) -> None:
        await forgetting.forget_base(
            self.vectorstore, row["knowledge_base_id"], row["id"], self.name, last_holder=row["last_holder"]
        )
        for service in [*self.chance.sample(sorted(OWNERS), len(OWNERS)), "sync"]:
            await teardowns.answered(self.access, row["id"], service)

    async def check(self) -> None:
        """What must be true once nothing is under way."""
        await self.hear()
        held = {row["id"] for row in await self.access.fetch("SELECT id FROM knowledge_bases")}
        kept = await self.vectorstore.fetch("SELECT knowledge_base_id FROM rag_documents")
        assert {row["knowledge_base_id"] for row in kept} <= held
        assert await self.access.fetchval("SELECT count(*) FROM teardowns") == 0
        names = await self.access.fetch(
            "SELECT n.name FROM collection_names n LEFT JOIN knowledge_bases b ON b.collection_name = n.name"
            " WHERE b.id IS NULL"
        )
        assert names == []


STEPS = st.lists(
    st.lists(st.sampled_from(["claim", "write", "delete", "hear"]), min_size=2, max_size=6),
    min_size=3,
    max_size=8,
)


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rounds=STEPS, seed=st.integers(0, 1000))
async def test_whatever_meets_on_a_name_leaves_nothing_behind_and_nothing_on_a_table_that_goes(
    pools: tuple[Pool, Pool], rounds: list[list[str]], seed: int
) -> None:
    access, vectorstore = pools
    await access.execute("TRUNCATE knowledge_bases, collection_names, teardowns, outbox, facts CASCADE")
    await vectorstore.execute("TRUNCATE rag_documents, outbox, facts")
    race = Race(pools, "handbook", random.Random(seed))
    for steps in rounds:
        await asyncio.gather(*(getattr(race, step)() for step in steps))
    await race.check()
