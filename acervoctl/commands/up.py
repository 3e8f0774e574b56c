"""`acervo up`: a whole Acervo on this machine until Ctrl-C."""

import asyncio
import os
import time
from typing import Annotated

import typer
from rich.markup import escape

from acervoctl.connect import Target
from acervoctl.options import HomeOption, JsonOption
from acervoctl.output import err, out, print_json
from acervoctl.running import log_to_terminal, run_until_signalled
from acervoctl.stack import Options, Stack
from acervoctl.stack.ports import is_free

_GATEWAY_PORT = 7400

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
    if port is None and not is_free(_GATEWAY_PORT):
        return Options()
    return Options(ports={"gateway": port or _GATEWAY_PORT})


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
            err.print("stopping, once running work has ended or was handed back ...")


def _announce(stack: Stack, seconds: float) -> None:
    out.print(f"[green]ready[/green] after {seconds:.1f} s: {', '.join(stack.processes)}")
    out.print(f"  gateway  {stack.gateway_url}")
    out.print(f"  home     {escape(str(stack.home.root))} (logs in {escape(str(stack.home.logs))})")
    out.print("  next     acervo ingest PATH --collection NAME; Ctrl-C stops everything")
