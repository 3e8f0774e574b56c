"""Running a coroutine as the main thing of a process: signals, and what supervision has to say."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from rich.logging import RichHandler

from acervoctl.output import err

T = TypeVar("T")


def log_to_terminal() -> None:
    """Show warnings of the supervisor, such as deaths of what it supervises, on standard error."""
    handler = RichHandler(console=err, show_path=False, show_level=False, markup=False)
    logging.getLogger("acervoctl").addHandler(handler)


def run_until_signalled(work: Coroutine[Any, Any, None]) -> None:
    """Run `work` to its end, or cancel it at SIGINT or SIGTERM and let it clean up; both end well."""
    asyncio.run(_cancel_on_signal(work))


async def _cancel_on_signal(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task
