"""Budgets of organizations, what months come to, and reservations: rows.

Locks are taken in the order organization, reservation, month.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from services.access.audit import log
from services.access.audit.events import Action, Event, ObjectKind, details
from services.access.budget import Month, judge, period_of
from services.access.people import organizations
from services.access.people.roles import Permission, roles_with
from services.access.reach import Caller
from services.access.refusals import BaseNotFound, BudgetExhausted, OrganizationNotFound, ReservationNotFound
from services.shared.db import Connection, Pool
from services.shared.errors import RequestIdReused

SWEEP_BATCH: Final = 500

_MANAGERS = list(roles_with(Permission.BUDGETS_MANAGE))
_SET = """
INSERT INTO budgets (organization_id, limit_micros) VALUES ($1, $2)
ON CONFLICT (organization_id) DO UPDATE SET limit_micros = excluded.limit_micros RETURNING old.limit_micros
"""
_CLEAR = "DELETE FROM budgets WHERE organization_id = $1 RETURNING limit_micros"
_STANDING = """
SELECT b.limit_micros, coalesce(s.spent_micros, 0) AS spent, coalesce(s.reserved_micros, 0) AS reserved
  FROM organizations o
  LEFT JOIN budgets b ON b.organization_id = o.id
  LEFT JOIN spend s ON s.organization_id = o.id AND s.period = $2
 WHERE o.id = $1
"""
_READ = f"""{_STANDING}
   AND EXISTS (SELECT FROM members m
                WHERE m.organization_id = o.id AND m.user_id = $3 AND m.role = ANY ($4::text[]))
"""
_ORGANIZATION = "SELECT organization_id FROM knowledge_bases WHERE id = $1"
_KEEP = "SELECT true FROM organizations WHERE id = $1 FOR KEY SHARE"
_INSERT = """
INSERT INTO reservations (id, service, knowledge_base_id, organization_id, period, amount_micros, expire_time)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING true
"""
_REPEATED = "SELECT * FROM reservations WHERE id = $1 FOR UPDATE"
_REOPEN = "UPDATE reservations SET state = 'open', period = $2, expire_time = $3 WHERE id = $1"
_LOCK_MONTH = """
INSERT INTO spend (organization_id, period) VALUES ($1, $2)
ON CONFLICT (organization_id, period) DO UPDATE SET period = excluded.period
"""
_COUNT = """
UPDATE spend SET spent_micros = spent_micros + $3, reserved_micros = reserved_micros + $4
 WHERE organization_id = $1 AND period = $2
"""
_SETTLE = """
UPDATE reservations SET state = 'settled' WHERE id = $1 AND service = $2
RETURNING organization_id, period, amount_micros, old.state
"""
_EXPIRE = """
WITH expired AS (
    UPDATE reservations SET state = 'expired'
     WHERE id IN (SELECT id FROM reservations WHERE state = 'open' AND expire_time <= $1
                   ORDER BY expire_time LIMIT $2 FOR UPDATE SKIP LOCKED)
    RETURNING organization_id, period, amount_micros
)
SELECT organization_id, period, count(*) AS reservations, sum(amount_micros)::bigint AS amount FROM expired
 GROUP BY organization_id, period ORDER BY organization_id, period
"""
_FORGET = "DELETE FROM reservations WHERE state <> 'open' AND expire_time < $1"


@dataclass(frozen=True, slots=True)
class Reservation:
    """An amount that a service sets aside before it calls a provider for a base."""

    id: UUID
    service: str
    knowledge_base_id: UUID
    amount: int


async def set_limit(connection: Connection, caller: Caller, organization_id: UUID, limit: int | None) -> None:
    """Limit what an organization may spend in a month; None: no limit. Raises OrganizationNotFound."""
    await organizations.lock_for_change(connection, organization_id, caller.person, _MANAGERS)
    if limit is None:
        before = await connection.fetchval(_CLEAR, organization_id)
    else:
        before = await connection.fetchval(_SET, organization_id, limit)
    if before != limit:
        event = Event(
            Action.BUDGET_CHANGED,
            organization_id,
            ObjectKind.ORGANIZATION,
            organization_id,
            before={} if before is None else details(limit_micros=str(before)),
            after={} if limit is None else details(limit_micros=str(limit)),
        )
        await log.record(connection, caller, event)


async def find(
    connection: "Pool | Connection", organization_id: UUID, reader: UUID | None, period: date
) -> Month:
    """What a month has come to, for who manages the budget. Raises OrganizationNotFound for others."""
    row = await connection.fetchrow(_READ, organization_id, period, reader, _MANAGERS)
    if row is None:
        raise OrganizationNotFound
    return Month(row["limit_micros"], row["spent"], row["reserved"])


async def reserve(connection: Connection, wanted: Reservation, now: datetime, lasting: timedelta) -> datetime:
    """Set an amount aside, once for its id; return when it is given back.

    Raises BaseNotFound, BudgetExhausted, or RequestIdReused where the id stands for something else.
    """
    organization_id = await _organization(connection, wanted.knowledge_base_id)
    period, expires = period_of(now), now + lasting
    fresh = await connection.fetchval(
        _INSERT,
        wanted.id,
        wanted.service,
        wanted.knowledge_base_id,
        organization_id,
        period,
        wanted.amount,
        expires,
    )
    if not fresh:
        row = await connection.fetchrow(_REPEATED, wanted.id)
        if row is None or wanted != Reservation(
            row["id"], row["service"], row["knowledge_base_id"], row["amount_micros"]
        ):
            raise RequestIdReused
        if row["state"] != "expired":
            until: datetime = row["expire_time"]
            return until
        await connection.execute(_REOPEN, wanted.id, period, expires)
    if organization_id is not None:
        await _take(connection, organization_id, period, wanted.amount)
    return expires


async def _organization(connection: Connection, base_id: UUID) -> UUID | None:
    """Whose budget a base's calls are on, kept from being deleted; None: nobody's."""
    row = await connection.fetchrow(_ORGANIZATION, base_id)
    if row is None:
        raise BaseNotFound
    organization_id: UUID | None = row["organization_id"]
    if organization_id is not None and not await connection.fetchval(_KEEP, organization_id):
        raise BaseNotFound
    return organization_id


async def _take(connection: Connection, organization_id: UUID, period: date, amount: int) -> None:
    await connection.execute(_LOCK_MONTH, organization_id, period)
    (row,) = await connection.fetch(_STANDING, organization_id, period)
    month = Month(row["limit_micros"], row["spent"], row["reserved"])
    if not judge(month, amount):
        raise BudgetExhausted(month, amount, period)
    await connection.execute(_COUNT, organization_id, period, 0, amount)


async def settle(connection: Connection, reservation_id: UUID, service: str, actual: int) -> None:
    """Count what was really spent, once, and give the rest back. Raises ReservationNotFound."""
    row = await connection.fetchrow(_SETTLE, reservation_id, service)
    if row is None:
        raise ReservationNotFound
    if row["state"] == "settled" or row["organization_id"] is None:
        return
    held = row["amount_micros"] if row["state"] == "open" else 0
    await connection.execute(_COUNT, row["organization_id"], row["period"], actual, -held)


async def expire(pool: Pool, now: datetime) -> int:
    """Give back what was reserved by workers that died; return how many reservations, at most `SWEEP_BATCH`."""
    async with pool.acquire() as connection, connection.transaction():
        months = await connection.fetch(_EXPIRE, now, SWEEP_BATCH)
        for month in months:
            if month["organization_id"] is not None:
                await connection.execute(
                    _COUNT, month["organization_id"], month["period"], 0, -month["amount"]
                )
    return sum(month["reservations"] for month in months)


async def forget(pool: Pool, before: datetime) -> None:
    """Forget reservations that are done with; to settle or to repeat one is not possible any more."""
    await pool.execute(_FORGET, before)
