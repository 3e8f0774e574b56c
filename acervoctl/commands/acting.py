"""What the commands about access have in common: a call as somebody, and an answer told."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from acervo_client import AcervoClient
from acervoctl.connect import Target
from acervoctl.errors import CommandError
from acervoctl.output import out, print_json, print_table, shown

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


def tell(name: str, row: Mapping[str, Any], said: str, *, as_json: bool) -> None:
    """Write one thing, as `{name: {...}}` or as a sentence."""
    if as_json:
        print_json({name: row})
    else:
        out.print(shown(said))


def insist(what: str, *, yes: bool) -> None:
    """Raise `CommandError` unless the person has said --yes."""
    if not yes:
        raise CommandError(f"this removes {what}", advice="Say --yes to remove it.")
