"""What ends or changes with another thing, written down so that it is found in the log by its own id.

Grants and places in teams that end with a base or an organization are told by the event of that.
"""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

import asyncpg

from services.access.audit import log
from services.access.audit.events import Action, Event, ObjectKind, details
from services.access.reach import BaseScope, Caller, Visibility
from services.shared.db import Connection

_GRANTS: Final = "SELECT g.*, b.scope FROM grants g JOIN knowledge_bases b ON b.id = g.knowledge_base_id"
_OF_MEMBER: Final = f"{_GRANTS} WHERE g.organization_id = $1 AND g.user_id = $2 ORDER BY g.id"
_OF_TEAM: Final = f"{_GRANTS} WHERE g.team_id = $1 ORDER BY g.id"
_OF_AGENT: Final = f"{_GRANTS} WHERE g.agent_id = $1 ORDER BY g.id"
_SEEN_BY_TEAM: Final = (
    (
        Action.KNOWLEDGE_BASE_UPDATED,
        ObjectKind.KNOWLEDGE_BASE,
        "SELECT id, organization_id FROM knowledge_bases WHERE team_id = $1 ORDER BY id",
    ),
    (
        Action.SECRET_UPDATED,
        ObjectKind.SECRET,
        "SELECT id, organization_id FROM secrets WHERE team_id = $1 ORDER BY id",
    ),
)
_OF_ORGANIZATION: Final = (
    (
        Action.TEAM_DELETED,
        ObjectKind.TEAM,
        "SELECT id, display_name FROM teams WHERE organization_id = $1 ORDER BY id",
    ),
    (
        Action.AGENT_DELETED,
        ObjectKind.AGENT,
        "SELECT id, display_name FROM agents WHERE organization_id = $1 ORDER BY id",
    ),
    (
        Action.ENDPOINT_DELETED,
        ObjectKind.ENDPOINT,
        "SELECT id, display_name FROM endpoints WHERE organization_id = $1 ORDER BY id",
    ),
)


async def of_member(connection: Connection, caller: Caller, organization_id: UUID, user_id: UUID) -> None:
    """What was granted to a person who leaves an organization."""
    await _record_grants(connection, caller, await connection.fetch(_OF_MEMBER, organization_id, user_id))


async def of_agent(connection: Connection, caller: Caller, agent_id: UUID) -> None:
    """What was granted to an agent that ends."""
    await _record_grants(connection, caller, await connection.fetch(_OF_AGENT, agent_id))


async def of_team(connection: Connection, caller: Caller, team_id: UUID) -> None:
    """What was granted to a team that goes, and what was visible to it and turns private."""
    await _record_grants(connection, caller, await connection.fetch(_OF_TEAM, team_id))
    before, after = (
        details(visibility=Visibility.TEAM, team_id=team_id),
        details(visibility=Visibility.PRIVATE),
    )
    for action, kind, statement in _SEEN_BY_TEAM:
        for row in await connection.fetch(statement, team_id):
            event = Event(action, row["organization_id"], kind, row["id"], before, after)
            await log.record(connection, caller, event)


async def of_organization(connection: Connection, caller: Caller, organization_id: UUID) -> None:
    """The teams, agents and endpoints of an organization that goes."""
    for action, kind, statement in _OF_ORGANIZATION:
        for row in await connection.fetch(statement, organization_id):
            before = details(display_name=row["display_name"])
            await log.record(connection, caller, Event(action, organization_id, kind, row["id"], before))


async def _record_grants(connection: Connection, caller: Caller, rows: Iterable[asyncpg.Record]) -> None:
    for row in rows:
        before = details(
            knowledge_base_id=row["knowledge_base_id"],
            grantee_kind=row["grantee_kind"],
            grantee_id=row["grantee_id"],
            permission=row["permission"],
        )
        event = Event(
            Action.GRANT_REVOKED,
            row["organization_id"],
            ObjectKind.GRANT,
            row["id"],
            before,
            deployment=row["scope"] == BaseScope.APP,
        )
        await log.record(connection, caller, event)
