"""`acervo token`: a token of a local person, for curl, grpcurl and other programs."""

import sys
from typing import Annotated

import typer

from acervoctl.connect import Target
from acervoctl.options import HomeOption, JsonOption, UserOption
from acervoctl.output import print_json


def token(
    hours: Annotated[float, typer.Option(min=0.01, max=24 * 365, help="How long it is good for.")] = 12,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Print a token of a person of the local stack; by default of its admin."""
    seconds = hours * 3600
    target = Target(home, user)
    made = target.token(seconds=seconds)
    if as_json:
        print_json({"token": made, "user": target.resolve_user(), "expires_in_seconds": int(seconds)})
    else:
        sys.stdout.write(f"{made}\n")
