"""`acervo token`: a token of a local person, or of an agent that acts for one, for curl, grpcurl and other programs."""

import sys
from typing import Annotated

import typer

from acervoctl import people
from acervoctl.commands.acting import ask
from acervoctl.connect import Target
from acervoctl.options import HomeOption, JsonOption, UserOption
from acervoctl.output import print_json


def token(
    hours: Annotated[float, typer.Option(min=0.01, max=24 * 365, help="How long it is good for.")] = 12,
    agent: Annotated[
        str | None,
        typer.Option(
            help="Id or name of an agent that is to act for the person: one of theirs, or of their organizations.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Print a token of a person of the local stack; by default of its admin. For an agent, the stack must run."""
    seconds = hours * 3600
    target = Target(home, user)
    agent_id = "" if agent is None else ask(target, lambda client: people.agent(client, agent)).id
    made = target.token(seconds=seconds, agent_id=agent_id)
    if as_json:
        who = {"user": target.resolve_user(), "agent_id": agent_id}
        print_json({"token": made, **who, "expires_in_seconds": int(seconds)})
    else:
        sys.stdout.write(f"{made}\n")
