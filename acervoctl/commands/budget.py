"""`acervo budget`: what an organization may spend in a month."""

from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer

from acervo.access.v1.budgets_pb2 import Budget
from acervo_client import AcervoClient
from acervoctl import encode_access as encode
from acervoctl import people
from acervoctl.commands.acting import ask, insist, tell
from acervoctl.connect import Target
from acervoctl.errors import CommandError
from acervoctl.options import Command, HomeOption, JsonOption, OrganizationArgument, UserOption, YesOption
from services.shared.money import MICROS, dollars

app = typer.Typer(help="What an organization may spend in a month.", no_args_is_help=True)


@app.command(cls=Command)
def show(
    organization: OrganizationArgument,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Tell the limit, and what the current month (UTC) has come to."""

    async def work(client: AcervoClient) -> Budget:
        return await client.budgets.get((await people.organization(client, organization)).id)

    _tell(ask(Target(home, user), work), as_json=as_json)


@app.command("set", cls=Command)
def set_(
    organization: OrganizationArgument,
    limit: Annotated[
        str, typer.Argument(metavar="DOLLARS", help="US dollars a month, such as 40 or 12.50; 0: nothing.")
    ],
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Limit what may be spent in a month, from the current one on."""
    micros = _micros(limit)
    _set(Target(home, user), organization, micros, as_json=as_json)


@app.command(cls=Command)
def clear(
    organization: OrganizationArgument,
    yes: YesOption = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Remove the limit. What was spent stays counted."""
    insist(f"the limit of what {organization} may spend", yes=yes, as_json=as_json)
    _set(Target(home, user), organization, None, as_json=as_json)


def _set(target: Target, organization: str, micros: int | None, *, as_json: bool) -> None:
    async def work(client: AcervoClient) -> Budget:
        return await client.budgets.set((await people.organization(client, organization)).id, micros)

    _tell(ask(target, work), as_json=as_json)


def _micros(text: str) -> int:
    """Micro-dollars of an amount in dollars. Raises `CommandError`."""
    try:
        micros = Decimal(text.removeprefix("$")) * MICROS
        if micros == int(micros) >= 0:
            return int(micros)
    except (InvalidOperation, ValueError, OverflowError):
        pass
    raise CommandError(f"{text} is no amount in dollars", advice="Say it as in 40 or 12.50.")


def _tell(budget: Budget, *, as_json: bool) -> None:
    limit = dollars(budget.limit_micros) if budget.HasField("limit_micros") else "none"
    spent, reserved = dollars(budget.spent_micros), dollars(budget.reserved_micros)
    month = f"{budget.period_start_time.ToDatetime():%Y-%m}"
    said = f"limit: {limit} a month\nspent: {spent} in {month}\nreserved: {reserved}"
    tell("budget", encode.budget(budget), said, as_json=as_json)
