"""What access hears on the bus."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from acervo.events.v1 import facts_pb2 as facts
from acervo.events.v1.facts_pb2 import SourceChanged, TeardownAnswered
from services.access.audit import sources
from services.access.audit.events import Action
from services.access.audit.sources import SourceChange
from services.access.bases import teardowns
from services.shared.broker import Delivery, Undecodable, read_id
from services.shared.db import Pool

_CHANGES: Final[Mapping[facts.SourceChange, Action]] = {
    facts.SOURCE_CHANGE_CREATED: Action.SYNC_SOURCE_CREATED,
    facts.SOURCE_CHANGE_UPDATED: Action.SYNC_SOURCE_UPDATED,
    facts.SOURCE_CHANGE_DELETED: Action.SYNC_SOURCE_DELETED,
}


class Consumers:
    """Handles the facts of other services."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def teardown_answered(self, delivery: Delivery) -> None:
        """A service has removed what it held of a base."""
        teardown_id = read_id(TeardownAnswered.FromString(delivery.data).teardown_id)
        # Only the service itself may publish on this subject; what the message says may be anything.
        await teardowns.answered(self._pool, teardown_id, delivery.subject.rpartition(".")[2])

    async def source_changed(self, delivery: Delivery) -> None:
        """A person made, changed or deleted a source of sync."""
        fact = SourceChanged.FromString(delivery.data)
        action = _CHANGES.get(fact.change)
        if action is None:
            raise Undecodable(f"not a change of a source: {fact.change}")
        change = SourceChange(
            action=action,
            source_id=read_id(fact.source_id),
            connector=fact.connector,
            base_id=read_id(fact.knowledge_base_id),
            previous_base_id=_read_optional_id(fact.previous_knowledge_base_id),
            secret_id=_read_optional_id(fact.secret_id),
            cloned_source_id=_read_optional_id(fact.cloned_source_id),
        )
        change_id, actor = read_id(fact.change_id), read_id(fact.actor_user_id)
        async with self._pool.acquire() as connection:
            await sources.record(connection, actor, change, change_id=change_id)


def _read_optional_id(text: str) -> UUID | None:
    return read_id(text) if text else None
