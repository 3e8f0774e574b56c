"""The command line: which commands there are."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from acervoctl.options import Command
from acervoctl.output import out

# Where each command is: a function, or a module with an `app` of several. In the order of the help.
_COMMANDS: Final = {
    "up": "up.up",
    "demo": "demo.demo",
    "ingest": "ingest.ingest",
    "search": "search.search",
    "documents": "listing.documents",
    "delete": "changing.delete",
    "retry": "changing.retry",
    "token": "token.token",
    "doctor": "doctor.doctor",
    "collections": "collections.app",
    "sync": "sync.app",
    "org": "org.app",
    "member": "member.app",
    "team": "team.app",
    "agent": "agent.app",
    "kb": "kb.app",
    "grant": "grant.app",
    "secret": "secret.app",
    "endpoint": "endpoint.app",
    "budget": "budget.app",
    "audit": "audit.app",
    "account": "account.app",
}


class _Imported(Mapping[str, Any]):
    """Imports a command when it is looked up: none waits for what the others need."""

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = _COMMANDS[name].partition(".")
        found = getattr(import_module(f"acervoctl.commands.{module}"), attribute)
        if isinstance(found, typer.Typer):
            command: Any = typer.main.get_group(found)
        else:
            alone = typer.Typer(add_completion=False)
            alone.command(cls=Command)(found)
            command = typer.main.get_command(alone)
        command.name = name
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


class _Commands(TyperGroup):
    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": None})
        self.commands: Mapping[str, Any] = _Imported()  # type: ignore[assignment]


app = typer.Typer(
    name="acervo",
    cls=_Commands,
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
