"""Whether a base may still be written to, as each service that holds content of bases keeps it.

A writer holds the row while it writes; a deleter changes it, which waits for writers that came before and stops those
that come after. So deleting needs no order among events, and absence means no more than "not seen yet".
"""

from uuid import UUID

from services.shared.db import Connection
from services.shared.errors import BaseGone

# Writers share the row, so one could follow another and a deleter wait for ever. All come through this queue first.
_QUEUE = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || $1::uuid::text, 0))"
_SEE = "INSERT INTO bases (knowledge_base_id, state) VALUES ($1, 'live') ON CONFLICT DO NOTHING"
# The queue is passed before the row is locked, and a row that is locked is read as it is then, not as it was before.
_HOLD = """
WITH queue AS (SELECT pg_advisory_xact_lock_shared(hashtextextended(current_schema() || $1::uuid::text, 0)))
SELECT bases.state, bases.emptied_before FROM queue CROSS JOIN bases WHERE bases.knowledge_base_id = $1
FOR SHARE OF bases
"""
_BURY = """
INSERT INTO bases (knowledge_base_id, state) VALUES ($1, 'deleted')
ON CONFLICT (knowledge_base_id) DO UPDATE SET state = 'deleted'
"""
_EMPTY = """
INSERT INTO bases (knowledge_base_id, state, emptied_before) VALUES ($1, 'live', $2)
ON CONFLICT (knowledge_base_id) DO UPDATE SET
    emptied_before = greatest(bases.emptied_before, excluded.emptied_before)
"""


async def hold(connection: Connection, base_id: UUID, item_id: UUID) -> None:
    """Keep a base from being deleted until the caller's transaction ends.

    Locks are taken in the order collection, base, document. `item_id` (UUIDv7) is what is being written.

    Raises:
        BaseGone: if the base was deleted, or was emptied after the item was made.
    """
    row = await connection.fetchrow(_HOLD, base_id)
    if row is None:
        await connection.execute(_SEE, base_id)
        row = await connection.fetchrow(_HOLD, base_id)
    if row is None or row["state"] == "deleted":
        raise BaseGone
    if row["emptied_before"] is not None and item_id < row["emptied_before"]:
        raise BaseGone


async def bury(connection: Connection, base_id: UUID) -> None:
    """Mark a base as deleted, for ever. Waits for writers; commit before removing rows."""
    await connection.execute(_QUEUE, base_id)
    await connection.execute(_BURY, base_id)


async def empty(connection: Connection, base_id: UUID, before: UUID) -> None:
    """Mark what is older than `before` (UUIDv7) as gone from a base. Waits for writers; commit before removing rows."""
    await connection.execute(_QUEUE, base_id)
    await connection.execute(_EMPTY, base_id, before)
