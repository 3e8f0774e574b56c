"""What uses which secret. To bind one is to lend it: whoever makes use of the base spends it."""

from uuid import UUID

from services.access.audit import log
from services.access.audit.events import Action, Event, ObjectKind, details
from services.access.reach import Caller
from services.access.vault.lending import Use
from services.access.vault.secrets import Secret
from services.shared.db import Connection
from services.shared.ids import uuid7

_PUT = """
INSERT INTO secret_bindings (id, knowledge_base_id, source_id, purpose, secret_id) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (knowledge_base_id, source_id, purpose) DO UPDATE SET secret_id = excluded.secret_id
 WHERE secret_bindings.secret_id <> excluded.secret_id
RETURNING true
"""
_THERE = """
 FROM secret_bindings x
WHERE x.knowledge_base_id = $1 AND x.source_id IS NOT DISTINCT FROM $2 AND x.purpose = $3
"""
_FIND = f"SELECT x.secret_id {_THERE}"
_DELETE = f"DELETE {_THERE} RETURNING x.secret_id"
_COUNT = "SELECT count(*) FROM secret_bindings WHERE secret_id = $1"
_ORGANIZATION = "SELECT organization_id FROM knowledge_bases WHERE id = $1"


async def bind(
    connection: Connection, caller: Caller, use: Use, secret: Secret, *, actor: UUID | None = None
) -> None:
    """Have a base or a source use a secret, in place of one that it used so far.

    Under a lock of the base, and with what `find_lendable` found: for the caller, or for the `actor` that a service
    calls for.
    """
    if await connection.fetchval(_PUT, uuid7(), use.base_id, use.source_id, use.purpose, secret.id):
        organization = secret.keeping.organization_id
        bound = event(Action.SECRET_BOUND, organization, secret.id, use, user_id=actor)
        await log.record(connection, caller, bound)


async def unbind(connection: Connection, caller: Caller, use: Use) -> None:
    """Have a base or a source use no secret any more."""
    secret_id = await connection.fetchval(_DELETE, use.base_id, use.source_id, use.purpose)
    if secret_id is not None:
        organization = await find_organization(connection, use)
        await log.record(connection, caller, event(Action.SECRET_UNBOUND, organization, secret_id, use))


async def find(connection: Connection, use: Use) -> UUID | None:
    """The secret that is bound there; it may be gone."""
    found: UUID | None = await connection.fetchval(_FIND, use.base_id, use.source_id, use.purpose)
    return found


async def count(connection: Connection, secret_id: UUID) -> int:
    """How many uses a secret is bound to."""
    found: int = await connection.fetchval(_COUNT, secret_id)
    return found


async def find_organization(connection: Connection, use: Use) -> UUID | None:
    """Whose secrets a base may use: its organization's. None: there is no such base, or it is outside of any."""
    found: UUID | None = await connection.fetchval(_ORGANIZATION, use.base_id)
    return found


def event(
    action: Action,
    organization_id: UUID | None,
    secret_id: UUID,
    use: Use,
    *,
    user_id: UUID | None = None,
    outcome: str | None = None,
) -> Event:
    """What the audit log is told of a use of a secret."""
    told = details(
        knowledge_base_id=use.base_id,
        source_id=use.source_id,
        purpose=use.purpose,
        user_id=user_id,
        outcome=outcome,
    )
    ended = action is Action.SECRET_UNBOUND
    return Event(
        action,
        organization_id,
        ObjectKind.SECRET,
        secret_id,
        before=told if ended else {},
        after={} if ended else told,
        deployment=organization_id is None,
    )
