"""Going on while a service does not answer, for a bounded time."""

import asyncio
import random
import time

from acervo_client.errors import AcervoError

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0


class Patience:
    """Allows tries until `seconds` have passed since the beginning or the last progress."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.renew()

    def renew(self) -> None:
        """Note progress."""
        self._until = time.monotonic() + self._seconds
        self._pause = _FIRST_PAUSE

    async def wait_after(self, error: AcervoError) -> None:
        """Sleep before the next try. Raises `error` where another one is of no use or out of time."""
        if not error.may_succeed_later or time.monotonic() + self._pause > self._until:
            raise error
        await asyncio.sleep(self._pause * random.uniform(0.5, 1))  # noqa: S311 - jitter
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)
