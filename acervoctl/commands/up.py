"""`acervo up`: a whole Acervo on this machine until Ctrl-C."""

import asyncio
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from acervoctl.connect import Target
from acervoctl.options import HomeOption, JsonOption
from acervoctl.output import err, out, print_json, shown
from acervoctl.running import log_to_terminal, run_until_signalled
from acervoctl.stack import Options, Stack
from acervoctl.stack.ports import is_free

_GATEWAY_PORT = 7400
_DRAIN_SECONDS = "5"
"""Whoever presses Ctrl-C waits: what takes longer is handed back and goes on with the next start."""

PortOption = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=1,
        max=65535,
        help=f"Port of the gateway. Default: {_GATEWAY_PORT}, or a free one where that is taken.",
        show_default=False,
    ),
]


def up(home: HomeOption = None, port: PortOption = None, as_json: JsonOption = False) -> None:
    """Run PostgreSQL, NATS and all services until Ctrl-C. What dies is started again."""
    log_to_terminal()
    stack = Stack(Target(home).resolve_home().root, _options(port))
    run_until_signalled(_run(stack, as_json=as_json))


def _options(port: int | None) -> Options:
    environment = {"ACERVO_DRAIN_SECONDS": os.environ.get("ACERVO_DRAIN_SECONDS", _DRAIN_SECONDS)}
    if port is None and not is_free(_GATEWAY_PORT):
        return Options(environment=environment)
    return Options(environment=environment, ports={"gateway": port or _GATEWAY_PORT})


async def _run(stack: Stack, *, as_json: bool) -> None:
    started = time.monotonic()
    async with stack:
        await stack.wait_ready()
        if as_json:
            print_json(
                {
                    "pid": os.getpid(),
                    "home": str(stack.home.root),
                    "gateway_url": stack.gateway_url,
                    "addresses": stack.addresses,
                }
            )
        else:
            _announce(stack, time.monotonic() - started)
        try:
            await asyncio.Event().wait()
        finally:
            err.print(
                "stopping: running work ends or is handed back to the next start (Ctrl-C again: at once) ..."
            )


def _announce(stack: Stack, seconds: float) -> None:
    out.print(f"[green]ready[/green] after {seconds:.1f} s: {', '.join(stack.processes)}")
    out.print(f"  gateway  {stack.gateway_url}")
    out.print(f"  home     {shown(str(stack.home.root))} (logs in {shown(str(stack.home.logs))})")
    out.print(f"  next     {shown(_myself())} ingest PATH --collection NAME; Ctrl-C stops everything")


def _myself() -> str:
    """What to type for this program here: its name where the PATH has it, else where it lies."""
    called = Path(sys.argv[0]).absolute()
    if called.name == "__main__.py":
        return f"{sys.executable} -m acervoctl"
    if shutil.which(called.name) == str(called):
        return called.name
    return str(called.relative_to(Path.cwd())) if called.is_relative_to(Path.cwd()) else str(called)
