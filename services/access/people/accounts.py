"""The ends of accounts. Locks are taken in the order organization, name, base."""

from dataclasses import dataclass
from uuid import UUID

from acervo.events.v1.facts_pb2 import AccountDeleted
from services.access.audit import log
from services.access.audit.events import Action, Event, ObjectKind
from services.access.bases import names
from services.access.bases.deletion import NewId, take_down
from services.access.people import agents, organizations
from services.access.reach import Caller
from services.access.refusals import AccountNotFound
from services.shared import bus, outbox
from services.shared.db import Connection

_BASES = """
SELECT * FROM knowledge_bases
 WHERE scope = 'personal' AND owner_user_id = $1 AND collection_name = ANY ($2::text[]) ORDER BY id FOR UPDATE
"""
# What stays with organizations is nobody's own from then on, whoever comes back.
_DISOWN = (
    "UPDATE knowledge_bases SET owner_user_id = NULL WHERE owner_user_id = $1 AND scope <> 'personal'",
    "UPDATE secrets SET owner_user_id = NULL WHERE owner_user_id = $1",
)


@dataclass(frozen=True, slots=True)
class Departure:
    """What went with an account."""

    bases: int
    organizations: int


async def delete(connection: Connection, caller: Caller, user_id: UUID, new_id: NewId) -> Departure:
    """Delete what is a person's own, agents included, and end the memberships.

    Raises AccountNotFound where it is somebody else's and the caller is not the deployment's admin; LastOwner.
    """
    if caller.person is None or not (caller.person == user_id or caller.deployment_admin):
        raise AccountNotFound
    left = await organizations.remove_everywhere(connection, caller, user_id)
    own = await names.lock_of_owner(connection, user_id)
    bases = await connection.fetch(_BASES, user_id, own)
    await take_down(connection, caller, bases, new_id, owner_gone=True)
    await agents.delete_own(connection, caller, user_id)
    for statement in _DISOWN:
        await connection.execute(statement, user_id)
    event = Event(
        Action.ACCOUNT_DELETED,
        None,
        ObjectKind.PERSON,
        user_id,
        deployment=caller.person != user_id,
    )
    await log.record(connection, caller, event)
    await outbox.announce(connection, bus.ACCOUNT_DELETED, AccountDeleted(user_id=str(user_id)))
    return Departure(len(bases), len(left))
