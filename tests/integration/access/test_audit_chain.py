"""Sealing and verifying: no event is left out, the chain never forks, and whatever is tampered with shows."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import asyncpg
import pytest

from services.access.audit import chain, log
from services.access.audit.chain import Verification
from services.access.audit.events import Action, Event, ObjectKind, details
from services.access.audit.seals import Break, Fault, Head
from services.access.reach import Caller, CallerKind
from services.shared.db import Connection, Pool
from services.shared.ids import uuid7
from tests.conftest import Databases
from tests.integration.access.callers import person_id

ANA = Caller(CallerKind.PERSON, person_id("ana"))


def renamed(name: str = "Verkauf") -> Event:
    return Event(Action.TEAM_RENAMED, uuid7(), ObjectKind.TEAM, uuid7(), after=details(display_name=name))


async def record(pool: Pool, number: int = 1) -> None:
    for _ in range(number):
        async with pool.acquire() as connection:
            await log.record(connection, ANA, renamed())


async def verify(pool: Pool, kept: Head | None = None) -> Verification:
    told = [step async for step in chain.verify(pool, kept)]
    assert [step.complete for step in told] == [False] * (len(told) - 1) + [True]
    return told[-1]


async def broken(pool: Pool, kept: Head | None = None) -> tuple[Fault, int]:
    found = (await verify(pool, kept)).broken
    assert isinstance(found, Break)
    return found.fault, found.sequence


@pytest.fixture
async def superuser(databases: Databases) -> AsyncIterator[Connection]:
    """Somebody whom neither triggers nor foreign keys keep from anything."""
    connection = await asyncpg.connect(databases.admin_url)
    await connection.execute("SET session_replication_role = replica")
    await connection.execute("SET search_path = access")
    yield connection
    await connection.close()


async def test_an_empty_log_is_whole(pool: Pool) -> None:
    await chain.seal(pool)
    assert await verify(pool) == Verification(Head(0, bytes(32)), complete=True)


async def test_what_was_committed_is_sealed_once_and_what_waits_is_counted(pool: Pool) -> None:
    await record(pool, 3)
    found = await verify(pool)
    assert found.waiting == 3
    assert found.oldest_waiting == await pool.fetchval("SELECT min(create_time) FROM audit_events")
    await chain.seal(pool)
    await chain.seal(pool)
    found = await verify(pool)
    assert (found.head.sequence, found.waiting, found.broken) == (3, 0, None)
    await record(pool)
    assert (await verify(pool)).waiting == 1


async def test_sealing_and_walking_go_by_batches(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "BATCH", 2)
    await record(pool, 5)
    assert await chain.seal_batch(pool) == 2
    await chain.seal(pool)
    assert (await verify(pool)).head.sequence == 5


async def test_what_becomes_visible_late_is_sealed_late(pool: Pool) -> None:
    async with pool.acquire() as slow, slow.transaction():
        await log.record(slow, ANA, renamed("early"))
        await record(pool)
        await chain.seal(pool)
        assert await pool.fetchval("SELECT count(*) FROM audit_seals") == 1
    await chain.seal(pool)
    first, second = await pool.fetch("SELECT event_id FROM audit_seals ORDER BY sequence")
    assert first["event_id"] > second["event_id"]
    assert (await verify(pool)).broken is None


async def test_what_was_rolled_back_is_not_sealed(pool: Pool) -> None:
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await log.record(connection, ANA, renamed())
        await transaction.rollback()
    await chain.seal(pool)
    assert await verify(pool) == Verification(Head(0, bytes(32)), complete=True)


async def test_sealers_at_once_make_one_chain(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "BATCH", 3)

    async def seal_all() -> None:
        while await pool.fetchval("SELECT EXISTS (SELECT FROM audit_unsealed)"):
            try:
                await chain.seal(pool)
            except asyncpg.UniqueViolationError:
                continue

    for _ in range(5):
        await record(pool, 20)
        await asyncio.gather(*(seal_all() for _ in range(3)), record(pool, 5))
    await chain.seal(pool)
    found = await verify(pool)
    assert (found.head.sequence, found.waiting, found.broken) == (125, 0, None)


async def test_a_sealer_that_breaks_off_loses_nothing(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    await record(pool, 3)
    with monkeypatch.context() as broken_off:
        broken_off.setattr(chain, "_APPEND", "SELECT 1 / 0, $1::bigint, $2::uuid, $3::bytea, $4::bytea")
        with pytest.raises(asyncpg.DivisionByZeroError):
            await chain.seal(pool)
    assert (await verify(pool)).waiting == 3
    await chain.seal(pool)
    found = await verify(pool)
    assert (found.head.sequence, found.waiting, found.broken) == (3, 0, None)


async def test_a_chain_has_no_fork(pool: Pool) -> None:
    await record(pool, 2)
    await chain.seal(pool)
    await record(pool)
    event_id = await pool.fetchval("SELECT event_id FROM audit_unsealed")
    for sequence in (2, 3):
        with pytest.raises(asyncpg.UniqueViolationError):
            await pool.execute(
                "INSERT INTO audit_seals SELECT $1, $2, previous_hash, hash FROM audit_seals WHERE sequence = 2",
                sequence,
                event_id,
            )


SWAP_SEALS = """
UPDATE audit_seals SET sequence = sequence + 100 WHERE sequence IN (2, 3);
UPDATE audit_seals SET sequence = 105 - sequence WHERE sequence > 100;
"""
SWAP_EVENTS = """
CREATE TEMPORARY TABLE two AS SELECT * FROM audit_seals WHERE sequence IN (2, 3);
DELETE FROM audit_seals WHERE sequence IN (2, 3);
INSERT INTO audit_seals
SELECT sequence, (SELECT event_id FROM two o WHERE o.sequence <> t.sequence), previous_hash, hash FROM two t;
"""
CLOSE_THE_GAP = """
DELETE FROM audit_seals WHERE sequence = 2;
UPDATE audit_seals SET sequence = sequence - 1 WHERE sequence = 3;
UPDATE audit_seals SET sequence = sequence - 1 WHERE sequence = 4;
"""
FORGE = """
INSERT INTO audit_events
SELECT (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid()))).* FROM audit_events e LIMIT 1
"""
SECOND = "(SELECT event_id FROM audit_seals WHERE sequence = 2)"


@pytest.mark.parametrize(
    ("tampering", "fault", "sequence"),
    [
        (f"UPDATE audit_events SET actor_user_id = gen_random_uuid() WHERE id = {SECOND}", Fault.ALTERED, 2),
        (
            f"UPDATE audit_events SET create_time = create_time - interval '1 us' WHERE id = {SECOND}",
            Fault.ALTERED,
            2,
        ),
        (f"UPDATE audit_events SET after = '{{}}' WHERE id = {SECOND}", Fault.ALTERED, 2),
        (f"DELETE FROM audit_events WHERE id = {SECOND}", Fault.MISSING_EVENT, 2),
        ("DELETE FROM audit_seals WHERE sequence = 2", Fault.MISSING_SEAL, 2),
        ("DELETE FROM audit_seals WHERE sequence = 1", Fault.MISSING_SEAL, 1),
        ("DELETE FROM audit_seals WHERE sequence = 4", Fault.NOT_SEALED, 0),
        (CLOSE_THE_GAP, Fault.OUT_OF_ORDER, 2),
        (SWAP_SEALS, Fault.OUT_OF_ORDER, 2),
        (SWAP_EVENTS, Fault.ALTERED, 2),
        (
            "UPDATE audit_seals SET hash = decode(repeat('ab', 32), 'hex') WHERE sequence = 2",
            Fault.ALTERED,
            2,
        ),
        (FORGE, Fault.NOT_SEALED, 0),
        (f"INSERT INTO audit_unsealed SELECT {SECOND}", Fault.STILL_WAITING, 0),
    ],
)
async def test_whatever_is_tampered_with_shows(
    pool: Pool, superuser: Connection, tampering: str, fault: Fault, sequence: int
) -> None:
    await record(pool, 4)
    await chain.seal(pool)
    assert (await verify(pool)).broken is None
    await superuser.execute(tampering)
    assert await broken(pool) == (fault, sequence)


async def test_an_event_that_somebody_put_among_the_waiting_keeps_no_other_from_its_seal(
    pool: Pool, superuser: Connection
) -> None:
    await record(pool, 4)
    await chain.seal(pool)
    await superuser.execute(f"INSERT INTO audit_unsealed SELECT {SECOND}")
    await record(pool, 2)
    await chain.seal(pool)
    assert await pool.fetchval("SELECT count(*) FROM audit_seals") == 6
    assert await broken(pool) == (Fault.STILL_WAITING, 0)


async def test_no_chain_begins_with_another_hash_than_zeros(pool: Pool) -> None:
    assert await broken(pool, Head(0, b"\x11" * 32)) == (Fault.HEAD_DIFFERS, 0)
    assert (await verify(pool, Head(0, bytes(32)))).broken is None


async def test_an_end_cut_off_shows_by_the_head_that_was_kept(pool: Pool, superuser: Connection) -> None:
    await record(pool, 4)
    await chain.seal(pool)
    kept = (await verify(pool)).head
    await record(pool)
    await chain.seal(pool)
    assert (await verify(pool, kept)).broken is None
    await superuser.execute(
        "DELETE FROM audit_events WHERE id IN (SELECT event_id FROM audit_seals WHERE sequence > 3);"
        "DELETE FROM audit_seals WHERE sequence > 3"
    )
    assert (await verify(pool)).broken is None
    assert await broken(pool, kept) == (Fault.HEAD_DIFFERS, 4)


async def test_an_end_forged_anew_shows_by_the_head_that_was_kept(pool: Pool, superuser: Connection) -> None:
    await record(pool, 4)
    await chain.seal(pool)
    kept = (await verify(pool)).head
    await superuser.execute(
        "UPDATE audit_events SET after = '{}' WHERE id = (SELECT event_id FROM audit_seals WHERE sequence = 3);"
        "INSERT INTO audit_unsealed SELECT event_id FROM audit_seals WHERE sequence > 2;"
        "DELETE FROM audit_seals WHERE sequence > 2"
    )
    await chain.seal(pool)
    assert (await verify(pool)).broken is None
    assert await broken(pool, kept) == (Fault.HEAD_DIFFERS, 4)
    assert await broken(pool, replace(kept, sequence=5)) == (Fault.HEAD_DIFFERS, 5)
