"""What access hears on the bus."""

from acervo.events.v1.facts_pb2 import TeardownAnswered
from services.access import teardowns
from services.access.teardown import OWNERS
from services.shared.broker import Delivery, Undecodable, read_id
from services.shared.db import Pool


class Consumers:
    """Handles the facts of other services."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def teardown_answered(self, delivery: Delivery) -> None:
        """A service has removed what it held of a base."""
        answer = TeardownAnswered.FromString(delivery.data)
        teardown_id = read_id(answer.teardown_id)
        if answer.service not in OWNERS:
            raise Undecodable("service keeps nothing of bases")
        await teardowns.answered(self._pool, teardown_id, answer.service)
