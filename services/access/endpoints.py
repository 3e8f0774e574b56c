"""Endpoints: registered servers of models, of organizations and of the deployment.

Members who edit all secrets of an organization register its endpoints: whatever is embedded there goes to them. Members
who may make bases see them, since bases name them. The deployment's are its admin's, and every person sees them.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Self
from uuid import UUID

import asyncpg

from services.access.audit import log
from services.access.audit.events import Action, Details, Event, ObjectKind, details
from services.access.people import organizations
from services.access.people.roles import Permission, Scope, roles_with
from services.access.reach import Caller
from services.access.refusals import EndpointNotFound, OrganizationNotFound
from services.shared.db import Connection, Pool
from services.shared.paging import Page, PageRequest

_READERS = list(roles_with(Permission.COLLECTIONS_CREATE))
_EDITORS = list(roles_with(Permission.SECRETS_EDIT, Scope.ALL))

# `$1` is the person, `$2` whether the deployment's are reached too, `$3` the roles that reach an organization's.
_REACHED = """
  FROM endpoints e LEFT JOIN members m ON m.organization_id = e.organization_id AND m.user_id = $1::uuid
 WHERE (e.organization_id IS NULL AND $2::boolean OR m.role = ANY ($3::text[]))
"""
_FIND = f"SELECT e.* {_REACHED} AND e.id = $4"
_LOCK = f"{_FIND} FOR UPDATE OF e"
_USABLE = f"{_FIND} AND (e.organization_id IS NULL OR e.organization_id = $5) FOR KEY SHARE OF e"
_PAGE = f"""
SELECT e.* {_REACHED} AND (e.organization_id IS NULL OR e.organization_id = $4) AND e.id > $5 ORDER BY e.id LIMIT $6
"""
_MAY = "SELECT EXISTS (SELECT FROM members WHERE organization_id = $1 AND user_id = $2 AND role = ANY ($3::text[]))"
_INSERT = """
INSERT INTO endpoints (id, organization_id, owner_user_id, kind, display_name, base_url)
VALUES ($1, $2, $3, $4, $5, $6) RETURNING *
"""
_UPDATE = """
UPDATE endpoints SET kind = $2, display_name = $3, base_url = $4, update_time = now() WHERE id = $1 RETURNING *
"""
_OF_BASE = """
SELECT e.* FROM endpoints e JOIN knowledge_bases b ON b.embedding_endpoint_id = e.id WHERE b.id = $1
"""
_DELETE = "DELETE FROM endpoints WHERE id = $1"


class EndpointKind(StrEnum):
    """What serves at an endpoint: a note."""

    OLLAMA = "ollama"
    TEI = "tei"
    VLLM = "vllm"
    LM_STUDIO = "lm_studio"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A registered server."""

    id: UUID
    organization_id: UUID | None
    """None: the deployment's."""
    owner_user_id: UUID
    kind: EndpointKind
    display_name: str
    base_url: str
    create_time: datetime
    update_time: datetime

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> Self:
        return cls(
            id=row["id"],
            organization_id=row["organization_id"],
            owner_user_id=row["owner_user_id"],
            kind=EndpointKind(row["kind"]),
            display_name=row["display_name"],
            base_url=row["base_url"],
            create_time=row["create_time"],
            update_time=row["update_time"],
        )


@dataclass(frozen=True, slots=True)
class EndpointWish:
    """An endpoint that somebody wants registered."""

    organization_id: UUID | None
    kind: EndpointKind
    display_name: str
    base_url: str


@dataclass(frozen=True, slots=True)
class EndpointChange:
    """What is to change of an endpoint. None: it stays."""

    kind: EndpointKind | None = None
    display_name: str | None = None
    base_url: str | None = None


async def check_registrar(pool: Pool, caller: Caller, organization_id: UUID | None) -> None:
    """Raise OrganizationNotFound, or EndpointNotFound, for who may register none there."""
    if organization_id is None:
        if not _is_admin(caller):
            raise EndpointNotFound
    elif not await pool.fetchval(_MAY, organization_id, caller.person, _EDITORS):
        raise OrganizationNotFound


async def find(pool: "Pool | Connection", caller: Caller, endpoint_id: UUID) -> Endpoint:
    """One endpoint that the caller sees. Raises EndpointNotFound."""
    row = await pool.fetchrow(_FIND, caller.person, caller.person is not None, _READERS, endpoint_id)
    return _found(row)


async def find_editable(pool: "Pool | Connection", caller: Caller, endpoint_id: UUID) -> Endpoint:
    """One endpoint that the caller may change. Raises EndpointNotFound."""
    return _found(await pool.fetchrow(_FIND, caller.person, _is_admin(caller), _EDITORS, endpoint_id))


async def find_usable(
    connection: Connection, caller: Caller, endpoint_id: UUID, organization_id: UUID | None
) -> Endpoint | None:
    """One endpoint that the caller sees and a base of that organization may name, kept until the transaction ends."""
    row = await connection.fetchrow(
        _USABLE, caller.person, caller.person is not None, _READERS, endpoint_id, organization_id
    )
    return None if row is None else Endpoint.from_row(row)


async def find_of_base(pool: Pool, base_id: UUID) -> Endpoint:
    """The endpoint that a base names. Raises EndpointNotFound."""
    return _found(await pool.fetchrow(_OF_BASE, base_id))


async def page(
    pool: Pool, caller: Caller, organization_id: UUID | None, wanted: PageRequest
) -> Page[Endpoint]:
    """The deployment's endpoints and those of an organization, oldest first, as far as the caller sees them.

    Raises OrganizationNotFound for who is no member.
    """
    if organization_id is not None:
        await organizations.check_member(pool, organization_id, caller.person)
    rows = await pool.fetch(
        _PAGE,
        caller.person,
        caller.person is not None,
        _READERS,
        organization_id,
        wanted.after,
        wanted.limit,
    )
    return wanted.cut([Endpoint.from_row(row) for row in rows])


async def create(
    connection: Connection, caller: Caller, wish: EndpointWish, *, endpoint_id: UUID
) -> Endpoint:
    """Register a server, whose address was checked. Raises OrganizationNotFound or EndpointNotFound."""
    if wish.organization_id is not None:
        await organizations.lock_for_content(connection, wish.organization_id, caller.person, _EDITORS)
    elif not _is_admin(caller):
        raise EndpointNotFound
    (row,) = await connection.fetch(
        _INSERT,
        endpoint_id,
        wish.organization_id,
        caller.person,
        wish.kind,
        wish.display_name,
        wish.base_url,
    )
    made = Endpoint.from_row(row)
    await _record(connection, caller, Action.ENDPOINT_CREATED, made, after=_told(made))
    return made


async def update(
    connection: Connection, caller: Caller, endpoint_id: UUID, change: EndpointChange
) -> Endpoint:
    """Change an endpoint, whose new address was checked. Raises EndpointNotFound."""
    before = await _lock(connection, caller, endpoint_id)
    (row,) = await connection.fetch(
        _UPDATE,
        endpoint_id,
        change.kind or before.kind,
        change.display_name or before.display_name,
        change.base_url or before.base_url,
    )
    after = Endpoint.from_row(row)
    if _told(after) != _told(before):
        await _record(
            connection, caller, Action.ENDPOINT_UPDATED, after, before=_told(before), after=_told(after)
        )
    return after


async def delete(connection: Connection, caller: Caller, endpoint_id: UUID) -> None:
    """Remove an endpoint; bases that named it name none from then on. Raises EndpointNotFound."""
    gone = await _lock(connection, caller, endpoint_id)
    await connection.execute(_DELETE, endpoint_id)
    await _record(connection, caller, Action.ENDPOINT_DELETED, gone, before=_told(gone))


async def _lock(connection: Connection, caller: Caller, endpoint_id: UUID) -> Endpoint:
    rights = caller.person, _is_admin(caller), _EDITORS, endpoint_id
    _found(await connection.fetchrow(_LOCK, *rights))
    # Asked again once it is held: a statement that waited has the roles of before beside the endpoint of now.
    return _found(await connection.fetchrow(_FIND, *rights))


def _found(row: asyncpg.Record | None) -> Endpoint:
    if row is None:
        raise EndpointNotFound
    return Endpoint.from_row(row)


def _is_admin(caller: Caller) -> bool:
    return caller.person is not None and caller.deployment_admin


def _told(endpoint: Endpoint) -> Details:
    return details(
        display_name=endpoint.display_name, endpoint_kind=endpoint.kind, base_url=endpoint.base_url
    )


async def _record(
    connection: Connection,
    caller: Caller,
    action: Action,
    endpoint: Endpoint,
    *,
    before: Details | None = None,
    after: Details | None = None,
) -> None:
    organization_id = endpoint.organization_id
    event = Event(
        action,
        organization_id,
        ObjectKind.ENDPOINT,
        endpoint.id,
        before or {},
        after or {},
        deployment=organization_id is None,
    )
    await log.record(connection, caller, event)
