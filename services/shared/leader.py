"""Loops that run in one process at a time, by a lease on a row and the database's clock."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from services.shared.db import DISCONNECTED, Pool

log = logging.getLogger(__name__)

_TAKE = """
INSERT INTO leases (name, holder, expires_at) VALUES ($1, $2, now() + make_interval(secs => $3))
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
WHERE leases.holder = excluded.holder OR leases.expires_at < now()
RETURNING true
"""
_GIVE_BACK = "DELETE FROM leases WHERE name = $1 AND holder = $2"


async def lead(
    pool: Pool, name: str, holder: str, seconds: float, body: Callable[[], Awaitable[None]]
) -> None:
    """Run `body` whenever this process holds the turn called `name`, until cancelled.

    The turn lasts `seconds` and is renewed three times as often; `body` is cancelled when it is lost. What `body` does
    must bear a short overlap with the next holder.
    """
    while True:
        if await _take(pool, name, holder, seconds):
            await _serve(pool, name, holder, seconds, body)
        await asyncio.sleep(seconds / 3)


async def _serve(
    pool: Pool, name: str, holder: str, seconds: float, body: Callable[[], Awaitable[None]]
) -> None:
    running = asyncio.ensure_future(body())
    try:
        while not running.done():
            await asyncio.wait([running], timeout=seconds / 3)
            if not running.done() and not await _take(pool, name, holder, seconds):
                log.info("%s lost its turn", name)
                return
        await running
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await running
        with contextlib.suppress(*DISCONNECTED, TimeoutError):
            async with asyncio.timeout(seconds / 3):
                await pool.execute(_GIVE_BACK, name, holder)


async def _take(pool: Pool, name: str, holder: str, seconds: float) -> bool:
    """Take or renew the turn. Raises TimeoutError in good time for the holder to stop before its turn is over."""
    async with asyncio.timeout(seconds / 3):
        return bool(await pool.fetchval(_TAKE, name, holder, seconds))
