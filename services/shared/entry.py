"""How the process of every service begins: `python -m services.<name>`."""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import Final

from pydantic import ValidationError

from services.shared import telemetry
from services.shared.settings import Misconfigured

log = logging.getLogger(__name__)

MISCONFIGURED: Final = 78
"""The exit status where a setting is missing or wrong (`EX_CONFIG`): starting again does not help."""


def run(service: str, main: Callable[[], Awaitable[None]]) -> None:
    """Run a service to its end. Wrong settings end it with one line that names them."""
    telemetry.configure(service, "INFO")
    try:
        asyncio.run(_awaited(main))
    except ValidationError as error:
        _end(_told(error))
    except Misconfigured as error:
        _end(error)


async def _awaited(main: Callable[[], Awaitable[None]]) -> None:
    await main()


def _told(error: ValidationError) -> Misconfigured:
    """What the settings' own rules say: which variables, and what each should be."""
    wrong = error.errors(include_url=False, include_context=False, include_input=False)
    names = [str(one["loc"][0]) for one in wrong]
    variables = [name if name.startswith("ACERVO_") else f"ACERVO_{name.upper()}" for name in names]
    said = "; ".join(f"{name}: {one['msg']}" for name, one in zip(variables, wrong, strict=True))
    return Misconfigured(", ".join(variables), said)


def _end(error: Misconfigured) -> None:
    log.critical(
        "a setting is missing or wrong; correct it and start the process again",
        extra={"setting": error.variables, "why": error.what},
    )
    sys.exit(MISCONFIGURED)
