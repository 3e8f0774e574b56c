"""What commands have in common: a call as somebody, an answer told, and a question before something goes."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import typer

from acervo_client import AcervoClient
from acervoctl.connect import Target
from acervoctl.errors import CommandError
from acervoctl.output import err, out, print_json, print_table, printable, shown

T = TypeVar("T")


def ask(target: Target, work: Callable[[AcervoClient], Awaitable[T]]) -> T:
    """Do something with a client of the deployment."""

    async def within() -> T:
        async with target.client() as client:
            return await work(client)

    return asyncio.run(within())


def tell_rows(name: str, rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Write a list, as `{name: [...]}` or as a table of the same keys."""
    if as_json:
        print_json({name: list(rows)})
    elif rows:
        print_table(list(rows[0]), [list(row.values()) for row in rows])
    else:
        err.print("there are none")


def tell(name: str, row: Mapping[str, Any], said: str, *, as_json: bool) -> None:
    """Write one thing, as `{name: {...}}` or as a sentence."""
    if as_json:
        print_json({name: row})
    else:
        out.print(shown(said))


def insist(what: str, *, yes: bool, as_json: bool) -> None:
    """Ask on a terminal whether to remove it. Raises `CommandError` where nobody agreed, by a `y` or by --yes."""
    agree(f"this removes {what}", f"Remove {what}?", "removed", yes=yes, as_json=as_json)


def agree(does: str, question: str, done: str, *, yes: bool, as_json: bool) -> None:
    """Ask on a terminal before something is done that cannot be undone. Raises `CommandError` where nobody agreed."""
    if yes:
        return
    if as_json or not sys.stdin.isatty():
        raise CommandError(does, advice="Say --yes to go on.")
    if not typer.confirm(printable(question), err=True):
        raise CommandError(f"nothing was {done}", advice="Answer y, or say --yes, to go on.")
