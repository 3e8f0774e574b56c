"""The command line: which commands there are."""

from importlib.metadata import version
from typing import Annotated

import typer

from acervoctl.commands import (
    account,
    agent,
    audit,
    budget,
    collections,
    grant,
    kb,
    member,
    org,
    secret,
    sync,
    team,
)
from acervoctl.commands.changing import delete, retry
from acervoctl.commands.demo import demo
from acervoctl.commands.doctor import doctor
from acervoctl.commands.ingest import ingest
from acervoctl.commands.listing import documents
from acervoctl.commands.search import search
from acervoctl.commands.token import token
from acervoctl.commands.up import up
from acervoctl.options import Command
from acervoctl.output import out

app = typer.Typer(
    name="acervo",
    help="Turn files into knowledge that the right people, and nobody else, can search.",
    epilog="Exit status: 0 all went well, 1 some of it was refused or failed, 2 it could not be done, 130 Ctrl-C.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_debug = False


def debugging() -> bool:
    """Whether --debug was given."""
    return _debug


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(f"acervo {version('acervo')}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
    _: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    global _debug
    _debug = debug


for command in (up, demo, ingest, search, documents, delete, retry, token, doctor):
    app.command(cls=Command)(command)
for group in (collections, sync, org, member, team, agent, kb, grant, secret, budget, audit, account):
    app.add_typer(group.app, name=group.__name__.rpartition(".")[2])
