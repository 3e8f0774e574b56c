"""`acervo up`: a whole Acervo on this machine until Ctrl-C."""

import asyncio
import os
import shlex
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
from acervoctl.stack.ports import is_free
from acervoctl.stack.stack import Options, Stack

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
    where = f" --home {shlex.quote(str(stack.home.root))}" if home is not None else ""
    run_until_signalled(_run(stack, where, as_json=as_json))


def _options(port: int | None) -> Options:
    environment = {"ACERVO_DRAIN_SECONDS": os.environ.get("ACERVO_DRAIN_SECONDS", _DRAIN_SECONDS)}
    if port is None and not is_free(_GATEWAY_PORT):
        return Options(environment=environment)
    return Options(environment=environment, ports={"gateway": port or _GATEWAY_PORT})


async def _run(stack: Stack, where: str, *, as_json: bool) -> None:
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
            _announce(stack, where, time.monotonic() - started)
        try:
            await asyncio.Event().wait()
        finally:
            err.print(
                "stopping: running work ends or is handed back to the next start (Ctrl-C again: at once) ..."
            )


def _announce(stack: Stack, where: str, seconds: float) -> None:
    out.print(f"[green]ready[/green] after {seconds:.1f} s: {', '.join(stack.processes)}")
    out.print(f"  gateway  {stack.gateway_url}")
    out.print(f"  home     {shown(str(stack.home.root))} (logs in {shown(str(stack.home.logs))})")
    command = own_command(sys.argv[0], os.environ.get("PATH", os.defpath))
    out.print(
        f"  next     {shown(command)} ingest PATH --collection NAME{shown(where)}; Ctrl-C stops everything"
    )


def own_command(called: str, path: str) -> str:
    """What to type for this program, which was called so: its name where `path` leads to it, else the same."""
    if Path(called).name == "__main__.py":
        return f"{sys.executable} -m acervoctl"
    name = Path(called).name
    return name if shutil.which(name, path=path) == called else called
