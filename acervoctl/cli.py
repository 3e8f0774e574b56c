"""The command line: which commands there are."""

from typing import Annotated

import typer

from acervoctl.commands import sync
from acervoctl.commands.demo import demo
from acervoctl.commands.doctor import doctor
from acervoctl.commands.ingest import ingest
from acervoctl.commands.listing import collections, documents
from acervoctl.commands.search import search
from acervoctl.commands.token import token
from acervoctl.commands.up import up

app = typer.Typer(
    name="acervo",
    help="Turn files into knowledge that the right people, and nobody else, can search.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_debug = False


def debugging() -> bool:
    """Whether --debug was given."""
    return _debug


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    global _debug
    _debug = debug


for command in (up, demo, ingest, search, collections, documents, token, doctor):
    app.command()(command)
app.add_typer(sync.app, name="sync")
