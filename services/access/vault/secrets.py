"""Secrets as rows: kept sealed, and read through the one predicate that says who reaches what."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self, TypeAlias
from uuid import UUID

import asyncpg

from services.access.people import organizations
from services.access.people.roles import Permission, Role, Scope, roles_with
from services.access.reach import Caller, Visibility
from services.access.vault.envelope import Label, Sealed, WrappedKey
from services.access.vault.kinds import SecretKind
from services.access.vault.reach import Keeping
from services.shared.db import Connection, Pool
from services.shared.paging import Page, PageRequest

Arguments: TypeAlias = tuple[UUID | None, list[Role], list[Role], list[Role], list[Role]]

# `reach.reaches`, in SQL: `$1` to `$5` are what `_arguments` returns; a statement's own start at `$6`.
_REACHED = """
  FROM secrets s JOIN members m ON m.organization_id = s.organization_id AND m.user_id = $1::uuid
 WHERE (m.role = ANY ($2::text[])
        OR m.role = ANY ($3::text[]) AND s.visibility = 'team'
           AND EXISTS (SELECT FROM team_members t WHERE t.team_id = s.team_id AND t.user_id = $1)
        OR m.role = ANY ($4::text[]) AND s.visibility = 'org'
        OR m.role = ANY ($5::text[]) AND s.owner_user_id = $1)
"""
_FIND = f"SELECT s.* {_REACHED} AND s.id = $6"
_LOCK = f"{_FIND} FOR UPDATE OF s"
_LENDABLE = f"{_FIND} AND s.organization_id = $7 AND s.kind = ANY ($8::text[])"
_PAGE = f"""
SELECT s.* {_REACHED} AND s.organization_id = $6 AND ($7::text IS NULL OR s.kind = $7) AND s.id > $8
 ORDER BY s.id LIMIT $9
"""
_OF_ORGANIZATION = "SELECT * FROM secrets WHERE id = $1 AND organization_id = $2"
_LOCK_OF_ORGANIZATION = "SELECT * FROM secrets WHERE organization_id = $1 ORDER BY id FOR UPDATE"
_INSERT = """
INSERT INTO secrets (id, organization_id, owner_user_id, visibility, team_id, kind, display_name, hint,
                     key_version, wrapped_key, ciphertext)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING *
"""
_DESCRIBE = """
UPDATE secrets SET display_name = $2, visibility = $3, team_id = $4, update_time = now() WHERE id = $1 RETURNING *
"""
_REPLACE = """
UPDATE secrets SET hint = $2, key_version = $3, wrapped_key = $4, ciphertext = $5,
                   update_time = now(), value_time = now()
 WHERE id = $1 RETURNING *
"""
_DELETE = "DELETE FROM secrets WHERE id = $1"


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret, sealed."""

    id: UUID
    keeping: Keeping
    """Who may reach it."""
    kind: SecretKind
    display_name: str
    hint: str
    """What may be told of it: the provider of an api_key, for one."""
    sealed: Sealed
    create_time: datetime
    update_time: datetime
    value_time: datetime

    @property
    def label(self) -> Label:
        """What it is sealed as."""
        return Label(self.id, self.keeping.organization_id, self.kind, self.hint)

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> Self:
        return cls(
            id=row["id"],
            keeping=Keeping(
                row["organization_id"], row["owner_user_id"], Visibility(row["visibility"]), row["team_id"]
            ),
            kind=SecretKind(row["kind"]),
            display_name=row["display_name"],
            hint=row["hint"],
            sealed=Sealed(WrappedKey(row["key_version"], row["wrapped_key"]), row["ciphertext"]),
            create_time=row["create_time"],
            update_time=row["update_time"],
            value_time=row["value_time"],
        )


async def find(
    connection: "Pool | Connection", caller: Caller, secret_id: UUID, permission: Permission
) -> Secret | None:
    """One secret, if the caller has the permission on it."""
    row = await connection.fetchrow(_FIND, *_arguments(caller, permission), secret_id)
    return None if row is None else Secret.from_row(row)


async def lock(
    connection: Connection, caller: Caller, secret_id: UUID, permission: Permission
) -> Secret | None:
    """One secret, if the caller has the permission on it still, held until the transaction ends."""
    row = await connection.fetchrow(_LOCK, *_arguments(caller, permission), secret_id)
    return None if row is None else Secret.from_row(row)


async def find_lendable(
    connection: "Pool | Connection",
    caller: Caller,
    secret_id: UUID,
    organization_id: UUID | None,
    kinds: Collection[SecretKind],
) -> Secret | None:
    """A secret that the caller may lend to something of that organization: one that they see, of one of the kinds.

    None stands for an absent, foreign, invisible and wrong one alike; outside any organization there is none.
    """
    arguments = _arguments(caller, Permission.SECRETS_VIEW)
    row = await connection.fetchrow(_LENDABLE, *arguments, secret_id, organization_id, list(kinds))
    return None if row is None else Secret.from_row(row)


async def find_of_organization(
    connection: Connection, secret_id: UUID, organization_id: UUID | None
) -> Secret | None:
    """One secret of an organization, whoever may reach it."""
    row = await connection.fetchrow(_OF_ORGANIZATION, secret_id, organization_id)
    return None if row is None else Secret.from_row(row)


async def lock_of_organization(connection: Connection, organization_id: UUID) -> Sequence[Secret]:
    """All secrets of an organization, held until the transaction ends."""
    return [Secret.from_row(row) for row in await connection.fetch(_LOCK_OF_ORGANIZATION, organization_id)]


async def page(
    pool: Pool, caller: Caller, organization_id: UUID, kind: SecretKind | None, wanted: PageRequest
) -> Page[Secret]:
    """The secrets of an organization that the caller sees, oldest first. Raises OrganizationNotFound."""
    await organizations.check_member(pool, organization_id, caller.person)
    arguments = _arguments(caller, Permission.SECRETS_VIEW)
    rows = await pool.fetch(_PAGE, *arguments, organization_id, kind, wanted.after, wanted.limit)
    return wanted.cut([Secret.from_row(row) for row in rows])


async def insert(
    connection: Connection, label: Label, keeping: Keeping, display_name: str, sealed: Sealed
) -> Secret:
    """Store a new secret, under a lock of its organization."""
    (row,) = await connection.fetch(
        _INSERT,
        label.secret_id,
        keeping.organization_id,
        keeping.owner_user_id,
        keeping.visibility,
        keeping.team_id,
        label.kind,
        display_name,
        label.hint,
        sealed.key.key_version,
        sealed.key.data,
        sealed.ciphertext,
    )
    return Secret.from_row(row)


async def describe(
    connection: Connection, secret_id: UUID, display_name: str, visibility: Visibility, team_id: UUID | None
) -> Secret:
    """Call a secret otherwise, or show it to others, under its lock."""
    (row,) = await connection.fetch(_DESCRIBE, secret_id, display_name, visibility, team_id)
    return Secret.from_row(row)


async def replace(connection: Connection, label: Label, sealed: Sealed) -> Secret:
    """Have a secret hold something else, under its lock."""
    (row,) = await connection.fetch(
        _REPLACE, label.secret_id, label.hint, sealed.key.key_version, sealed.key.data, sealed.ciphertext
    )
    return Secret.from_row(row)


async def delete(connection: Connection, secret_id: UUID) -> None:
    """Remove a secret, under its lock."""
    await connection.execute(_DELETE, secret_id)


def _arguments(caller: Caller, permission: Permission) -> Arguments:
    """What `$1` to `$5` are: the person, and the roles that reach ALL, TEAM, SHARED and OWN at least."""
    scopes = (Scope.ALL, Scope.TEAM, Scope.SHARED, Scope.OWN)
    everything, team, shared, own = (list(roles_with(permission, scope)) for scope in scopes)
    return caller.person, everything, team, shared, own
