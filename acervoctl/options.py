"""Options that several commands share, and what holds for what is given to any of them."""

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from acervoctl.errors import CommandError

HomeOption = Annotated[
    Path | None,
    typer.Option("--home", help="Directory of the local stack. Also: ACERVO_HOME.", show_default=False),
]
UserOption = Annotated[
    str | None,
    typer.Option(
        "--user", help="Act as this local person. Also: ACERVO_USER. Default: the admin.", show_default=False
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON for scripts, errors included.")]
CollectionOption = Annotated[
    str | None, typer.Option("--collection", "-c", help="Name of the collection.", show_default=False)
]
BaseOption = Annotated[
    str | None,
    typer.Option("--base", help="Id of the knowledge base, in place of its collection.", show_default=False),
]
RecursiveOption = Annotated[
    bool, typer.Option("--recursive/--no-recursive", help="Read folders of folders too.")
]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Remove it without a question; needed where no terminal can be asked.")
]
OrganizationArgument = Annotated[
    str,
    typer.Argument(
        metavar="ORGANIZATION", help="Id or name of an organization of yours.", show_default=False
    ),
]
PersonArgument = Annotated[
    str,
    typer.Argument(
        metavar="PERSON",
        help="Name in the local stack, issuer#subject, or id of a person.",
        show_default=False,
    ),
]
BaseArgument = Annotated[
    str,
    typer.Argument(
        metavar="BASE", help="Id of a knowledge base, or name of its collection.", show_default=False
    ),
]


class _Given:
    """Refuses every blank argument (a script's unset variable is no choice), and texts that cannot be sent."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for before, text in pairwise(["", *args]):
            name, given, value = text.partition("=") if text.startswith("--") else (before, "=", text)
            if given and not value.strip():
                what = name if name.startswith("-") else "an argument"
                raise CommandError(f"{what} is empty", advice="See --help.")
        parsed: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        # What names a file may be of any bytes, and is a `Path` here.
        for name, value in ctx.params.items():
            texts = value if isinstance(value, list | tuple) else [value]
            if any(isinstance(text, str) and not _is_utf8(text) for text in texts):
                raise CommandError(
                    f"{name.replace('_', '-')} is not valid text (UTF-8)", advice="See --help."
                )
        return parsed


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Command(_Given, TyperCommand):
    """A command that takes nothing blank."""


class Group(_Given, TyperGroup):
    """A group of commands that does something by itself too, and takes nothing blank."""
