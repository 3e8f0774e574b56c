"""An operator's drop of a collection. Locks are taken in the order name, base."""

from uuid import UUID

from services.access.audit import log
from services.access.audit.bases import of_base
from services.access.audit.events import Action
from services.access.bases import names, teardowns, unowned
from services.access.bases.deletion import NewId, take_down
from services.access.bases.knowledge_bases import holding_from_row
from services.access.bases.provenance import Drop, Holder, plan_drop
from services.access.bases.teardown import begin
from services.access.reach import Caller
from services.access.refusals import CollectionAmbiguous, CollectionNotFound
from services.shared.db import Connection

_HOLDERS = "SELECT * FROM knowledge_bases WHERE collection_name = $1 ORDER BY id FOR UPDATE"


async def drop(connection: Connection, caller: Caller, name: str, chosen: UUID | None, new_id: NewId) -> Drop:
    """Empty the one regular base of a name, and delete its hidden ones; or do so to the chosen base alone.

    Raises CollectionNotFound where nothing of the kind holds the name, and for others than the deployment's admin;
    CollectionAmbiguous where several regular bases hold it and none was chosen.
    """
    if not unowned.is_operator(caller):
        raise CollectionNotFound
    await names.lock(connection, name)
    rows = {row["id"]: row for row in await connection.fetch(_HOLDERS, name)}
    holders = [Holder(base_id, hidden=row["kind"] != "regular") for base_id, row in rows.items()]
    plan = plan_drop(holders, chosen)
    if plan is None:
        raise CollectionAmbiguous([holder.id for holder in holders])
    if plan == Drop():
        raise CollectionNotFound
    await take_down(connection, caller, [rows[base_id] for base_id in plan.deleted], new_id)
    if plan.emptied is not None:
        row = rows[plan.emptied]
        teardown = begin(
            new_id(),
            base_id=plan.emptied,
            collection_name=name,
            keep_base=True,
            other_holders=len(rows) - len(plan.deleted) - 1,
            watermark=new_id(),
        )
        await teardowns.start(connection, [teardown])
        event = of_base(
            Action.KNOWLEDGE_BASE_EMPTIED,
            plan.emptied,
            holding_from_row(row),
            display_name=row["display_name"],
            collection_name=name,
        )
        await log.record(connection, caller, event)
    return plan
