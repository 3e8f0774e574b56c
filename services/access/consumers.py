"""What access hears on the bus."""

from acervo.events.v1.facts_pb2 import TeardownAnswered
from services.access import teardowns
from services.shared.broker import Delivery, read_id
from services.shared.db import Pool


class Consumers:
    """Handles the facts of other services."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def teardown_answered(self, delivery: Delivery) -> None:
        """A service has removed what it held of a base."""
        teardown_id = read_id(TeardownAnswered.FromString(delivery.data).teardown_id)
        # Only the service itself may publish on this subject; what the message says may be anything.
        await teardowns.answered(self._pool, teardown_id, delivery.subject.rpartition(".")[2])
