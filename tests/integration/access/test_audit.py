"""The audit log: what is written, once and for good."""

from dataclasses import replace
from uuid import UUID

import asyncpg
import pytest

from services.access.audit import log
from services.access.audit.events import Action, Event, ObjectKind, details
from services.access.reach import Caller, CallerKind
from services.shared.db import Pool
from services.shared.ids import uuid7
from tests.integration.access.callers import STRANGE_AGENT, person_id

AGENT = UUID(STRANGE_AGENT)
ANA = Caller(CallerKind.PERSON, person_id("ana"))


def renamed() -> Event:
    return Event(
        Action.TEAM_RENAMED,
        uuid7(),
        ObjectKind.TEAM,
        uuid7(),
        before=details(display_name="Sales"),
        after=details(display_name="Verkauf"),
    )


@pytest.mark.parametrize(
    ("caller", "actor"),
    [
        (ANA, (person_id("ana"), None, None)),
        (Caller(CallerKind.AGENT, person_id("ana"), agent_id=AGENT), (person_id("ana"), AGENT, None)),
        (Caller(CallerKind.SERVICE, None, service="sync"), (None, None, "sync")),
    ],
)
async def test_an_event_names_who_did_what_to_which_object(
    pool: Pool, caller: Caller, actor: tuple[object, ...]
) -> None:
    event = renamed()
    async with pool.acquire() as connection:
        await log.record(connection, caller, event)
    (row,) = await pool.fetch("SELECT * FROM audit_events")
    assert (row["actor_user_id"], row["actor_agent_id"], row["actor_service"]) == actor
    assert (row["actor_kind"], row["action"]) == (caller.kind, "team.renamed")
    assert (row["object_kind"], row["object_id"]) == ("team", event.object_id)
    assert (row["before"], row["after"]) == ({"display_name": "Sales"}, {"display_name": "Verkauf"})
    assert row["organization_id"] == event.organization_id


async def test_what_a_service_does_stands_in_a_log_that_somebody_reads(pool: Pool) -> None:
    service, nobodys = (
        Caller(CallerKind.SERVICE, None, service="sync"),
        replace(renamed(), organization_id=None),
    )
    async with pool.acquire() as connection:
        with pytest.raises(ValueError, match="no person"):
            await log.record(connection, service, nobodys)
        await log.record(connection, service, replace(nobodys, deployment=True))
    assert await pool.fetchval("SELECT count(*) FROM audit_events") == 1


async def test_what_is_heard_of_twice_is_written_down_once(pool: Pool) -> None:
    event, event_id = renamed(), uuid7()
    async with pool.acquire() as connection:
        await log.record(connection, ANA, event, event_id=event_id)
        await log.record(connection, ANA, event, event_id=event_id)
    assert await pool.fetchval("SELECT count(*) FROM audit_events") == 1
    assert await pool.fetchval("SELECT count(*) FROM audit_unsealed") == 1


@pytest.mark.parametrize("table", ["audit_events", "audit_seals"])
@pytest.mark.parametrize("change", ["UPDATE {} SET {}_id = NULL", "DELETE FROM {}", "TRUNCATE {} CASCADE"])
async def test_the_database_refuses_to_change_what_was_written(pool: Pool, table: str, change: str) -> None:
    column = {"audit_events": "object", "audit_seals": "event"}[table]
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="never changed"):
        await pool.execute(change.format(table, column))
