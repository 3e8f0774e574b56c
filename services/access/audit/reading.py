"""Reading the audit log: which log it is, who may, and which part of it."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from services.access.audit.events import Entry
from services.access.audit.log import entry_from_row, seal_from_row
from services.access.audit.seals import Seal, line
from services.access.people.roles import Permission, roles_with
from services.access.reach import Caller
from services.access.refusals import AuditLogNotFound, OrganizationNotFound
from services.shared.db import Pool
from services.shared.paging import Page, PageRequest

EXPORTED_TOGETHER: Final = 200

# The deployment's admin reads what is left of organizations that are gone.
_MAY_READ = """
SELECT EXISTS (SELECT FROM members WHERE organization_id = $1 AND user_id = $2 AND role = ANY ($3::text[]))
    OR ($4::boolean AND NOT EXISTS (SELECT FROM organizations WHERE id = $1)
                    AND EXISTS (SELECT FROM audit_events WHERE organization_id = $1))
"""
_PAGE = """
SELECT e.*, s.sequence, s.event_id, s.previous_hash, s.hash
  FROM audit_events e LEFT JOIN audit_seals s ON s.event_id = e.id
 WHERE {log} AND e.id {beyond} $2
   AND ($3::uuid IS NULL OR e.actor_user_id = $3 OR e.actor_agent_id = $3)
   AND ($4::text IS NULL OR e.action = $4 OR starts_with(e.action, $4 || '.'))
   AND ($5::text IS NULL OR e.object_kind = $5)
   AND {object}
   AND ($7::timestamptz IS NULL OR e.create_time >= $7)
   AND ($8::timestamptz IS NULL OR e.create_time < $8)
 ORDER BY e.id {order} LIMIT $9
"""
_OF_ORGANIZATION = "e.organization_id = $1"
_OF_PERSON = "e.organization_id IS NULL AND NOT e.deployment AND e.actor_user_id = $1"
_OF_DEPLOYMENT = "e.deployment AND $1::uuid IS NULL"
# One for each index that finds its events in their order: that of a log, or that of one object.
_PAGES = {
    (log, by_object, oldest_first): _PAGE.format(
        log=log,
        object="e.object_id = $6" if by_object else "$6::uuid IS NULL",
        beyond=">" if oldest_first else "<",
        order="ASC" if oldest_first else "DESC",
    )
    for log in (_OF_ORGANIZATION, _OF_PERSON, _OF_DEPLOYMENT)
    for by_object in (False, True)
    for oldest_first in (False, True)
}


@dataclass(frozen=True, slots=True)
class Filter:
    """Which events of which log; None: all of them."""

    organization_id: UUID | None = None
    deployment: bool = False
    """Without an organization and this, it is the caller's own log."""
    actor_id: UUID | None = None
    action: str | None = None
    """An action, or the kind of thing before its dot."""
    object_kind: str | None = None
    object_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Logged:
    """An event and its seal; None: not sealed yet."""

    entry: Entry
    seal: Seal | None

    @property
    def id(self) -> UUID:
        """The event's."""
        return self.entry.id


async def page(
    pool: Pool, caller: Caller, which: Filter, wanted: PageRequest, *, oldest_first: bool = False
) -> Page[Logged]:
    """A part of a log. Raises OrganizationNotFound or AuditLogNotFound where the caller may not read it."""
    log, owner = await _log(pool, caller, which)
    statement = _PAGES[log, which.object_id is not None, oldest_first]
    rows = await pool.fetch(
        statement,
        owner,
        wanted.after if oldest_first else wanted.before,
        which.actor_id,
        which.action,
        which.object_kind,
        which.object_id,
        which.since,
        which.until,
        wanted.limit,
    )
    return wanted.cut(
        [Logged(entry_from_row(row), None if row["sequence"] is None else seal_from_row(row)) for row in rows]
    )


async def lines(pool: Pool, caller: Caller, which: Filter) -> AsyncIterator[Sequence[str]]:
    """A log as lines of JSON, oldest first, some at a time. Raises as `page` does, at any time."""
    last: UUID | None = None
    while True:
        wanted = PageRequest(EXPORTED_TOGETHER, last)
        found = await page(pool, caller, which, wanted, oldest_first=True)
        yield [line(logged.entry, logged.seal) for logged in found.rows]
        if not found.next_page_token:
            return
        last = found.rows[-1].id


async def _log(pool: Pool, caller: Caller, which: Filter) -> tuple[str, UUID | None]:
    """The condition that its events meet, and whose it is."""
    if which.deployment:
        check_admin(caller)
        return _OF_DEPLOYMENT, None
    if which.organization_id is None:
        return _OF_PERSON, caller.person
    roles = list(roles_with(Permission.AUDIT_READ))
    arguments = (which.organization_id, caller.person, roles, caller.deployment_admin)
    if not await pool.fetchval(_MAY_READ, *arguments):
        raise OrganizationNotFound
    return _OF_ORGANIZATION, which.organization_id


def check_admin(caller: Caller) -> None:
    """Raise AuditLogNotFound for all but the deployment's admin."""
    if not caller.deployment_admin:
        raise AuditLogNotFound
