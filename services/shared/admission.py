"""Who may start: waiting jobs are sent in turns, fair between tenants, and overdue ones are sent again.

Bulk work is admitted within a window of jobs in flight, from the tenants that have the fewest; interactive work skips
the window under a cap per tenant. One dispatcher runs per schema.
"""

import asyncio
import time
from dataclasses import dataclass
from uuid import UUID

from services.shared import jobs, outbox
from services.shared.bus import Lane
from services.shared.db import Pool, Signal

_BATCH = 256
# Jobs that end, or begin to wait, within this time of a look are seen by the next one.
_GATHER_SECONDS = 0.02

# In flight is what was sent or runs, in any stage: a document counts until it is done with. Each tenant's oldest
# waiting jobs are ranked after what it has in flight already, so that the next place goes to who has the fewest.
# The tenants are found by leaps along the index: what this costs grows with their number, not with that of their jobs.
_ADMISSIBLE = """
WITH RECURSIVE busy AS (
    SELECT tenant_id, count(*) AS jobs FROM jobs WHERE lane = $2 AND state IN ('sent', 'running') GROUP BY tenant_id
), tenants (tenant_id) AS (
    (SELECT tenant_id FROM jobs WHERE stage = $1 AND lane = $2 AND state = 'waiting' ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT following.tenant_id FROM tenants CROSS JOIN LATERAL (
        SELECT tenant_id FROM jobs
        WHERE stage = $1 AND lane = $2 AND state = 'waiting' AND tenant_id > tenants.tenant_id
        ORDER BY tenant_id LIMIT 1
    ) AS following
)
SELECT next.id
FROM tenants
LEFT JOIN busy USING (tenant_id)
CROSS JOIN LATERAL (
    SELECT oldest.id, oldest.due_at, row_number() OVER (ORDER BY oldest.due_at, oldest.id) AS turn
    FROM (
        SELECT id, due_at FROM jobs
        WHERE stage = $1 AND lane = $2 AND state = 'waiting' AND tenant_id = tenants.tenant_id AND due_at <= now()
        ORDER BY due_at, id LIMIT least($3::bigint, $5::bigint)
    ) AS oldest
) AS next
WHERE coalesce(busy.jobs, 0) + next.turn <= $3
ORDER BY coalesce(busy.jobs, 0) + next.turn, next.due_at, next.id
LIMIT greatest(0, least($5, $4 - (SELECT coalesce(sum(jobs), 0) FROM busy)))
"""
# Most looks find nothing that waits, in one lane or in both.
_WAITING_LANES = """
SELECT lane FROM unnest($2::text[]) AS lane
WHERE EXISTS (SELECT FROM jobs WHERE stage = $1 AND jobs.lane = lane.lane AND state = 'waiting')
"""
_LOCK = "SELECT id FROM jobs WHERE id = ANY($1::uuid[]) AND stage = $2 AND state = 'waiting' FOR UPDATE SKIP LOCKED"


@dataclass(frozen=True, slots=True)
class Window:
    """How much may be in flight at once in one lane: of one tenant, and of all together."""

    tenant: int = 1_000_000
    total: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Policy:
    """How a stage's waiting jobs are admitted."""

    stage: str
    interactive: Window = Window()
    bulk: Window = Window()

    def window(self, lane: Lane) -> Window:
        """Return the lane's window."""
        return self.interactive if lane is Lane.INTERACTIVE else self.bulk


class Dispatcher:
    """Sends the jobs of one schema: the waiting ones as the policy admits them, the overdue ones again."""

    def __init__(
        self,
        pool: Pool,
        policy: Policy | None,
        signal: Signal,
        *,
        deadline_seconds: float,
        reconcile_seconds: float,
    ) -> None:
        self._pool = pool
        self._policy = policy
        self._signal = signal
        self._deadline = deadline_seconds
        self._every = reconcile_seconds

    async def run(self) -> None:
        """Dispatch until cancelled: what waits at each signal, what is overdue once in a while."""
        look_at = time.monotonic()
        while True:
            sent = await self.admit()
            if time.monotonic() >= look_at:
                overdue = await self._send_overdue()
                look_at = time.monotonic() + (0 if overdue else self._every)
            if sent < _BATCH:
                await asyncio.sleep(_GATHER_SECONDS)
                await self._signal.wait(max(0.0, look_at - time.monotonic()))

    async def admit(self) -> int:
        """Send the waiting jobs that the policy admits now, `_BATCH` of each lane at most; return how many."""
        policy = self._policy
        if policy is None:
            return 0
        waiting = await self._pool.fetch(_WAITING_LANES, policy.stage, list(Lane))
        return sum([await self._admit_lane(policy, Lane(row["lane"])) for row in waiting])

    async def _admit_lane(self, policy: Policy, lane: Lane) -> int:
        window, stage = policy.window(lane), policy.stage
        rows = await self._pool.fetch(_ADMISSIBLE, stage, lane, window.tenant, window.total, _BATCH)
        if not rows:
            return 0
        ids: list[UUID] = [row["id"] for row in rows]
        async with self._pool.acquire() as connection, connection.transaction():
            locked = await connection.fetch(_LOCK, ids, stage)
            return await jobs.send(connection, [(row["id"], stage) for row in locked], self._deadline)

    async def _send_overdue(self) -> int:
        again = await jobs.send_overdue(self._pool, self._deadline)
        return again + await outbox.announce_again(self._pool)
