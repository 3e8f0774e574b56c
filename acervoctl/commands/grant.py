"""`acervo grant`: single knowledge bases for persons, teams and agents, and why somebody reaches one."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from acervo.access.v1.access_pb2 import PERMISSION_EDIT, PERMISSION_VIEW
from acervo.access.v1.grants_pb2 import ExplainAccessResponse, Grant
from acervo_client import AcervoClient
from acervo_client.grants import Grantee
from acervoctl import encode_access as encode
from acervoctl import people
from acervoctl.commands.acting import ask, tell, tell_rows
from acervoctl.connect import Target
from acervoctl.errors import CommandError
from acervoctl.options import BaseArgument, Command, HomeOption, JsonOption, PersonArgument, UserOption

app = typer.Typer(help="Knowledge bases for persons, teams and agents.", no_args_is_help=True)

_SHOWN = ("id", "to", "grantee_id", "permission", "giver_user_id")


@app.command("list", cls=Command)
def list_(
    base: BaseArgument, as_json: JsonOption = False, home: HomeOption = None, user: UserOption = None
) -> None:
    """List to whom a knowledge base that you manage is granted."""

    async def work(client: AcervoClient) -> list[Grant]:
        return await client.grants.list((await people.base(client, base)).id)

    rows: list[dict[str, Any]] = [encode.grant(one) for one in ask(Target(home, user), work)]
    if not as_json:
        rows = [{key: row[key] for key in _SHOWN} for row in rows]
    tell_rows("grants", rows, as_json=as_json)


@app.command(cls=Command)
def add(
    base: BaseArgument,
    person: Annotated[
        str | None,
        typer.Option(help="A member of its organization, named as in `member`.", show_default=False),
    ] = None,
    team: Annotated[str | None, typer.Option(help="Id of a team.", show_default=False)] = None,
    agent: Annotated[str | None, typer.Option(help="Id or name of an agent.", show_default=False)] = None,
    edit: Annotated[bool, typer.Option("--edit", help="To write as well as to read.")] = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Grant a knowledge base to a person, a team or an agent, or widen what was granted."""
    grantee = _grantee(person, team, agent)
    permission = PERMISSION_EDIT if edit else PERMISSION_VIEW

    async def work(client: AcervoClient) -> Grant:
        found = await people.base(client, base)
        if agent is not None:
            grantee["agent_id"] = await people.agent_for(client, found, agent)
        return await client.grants.add(found.id, permission, **grantee)

    made = encode.grant(ask(Target(home, user), work))
    said = f"{made['to']} {made['grantee_id']} may {made['permission']} {base} ({made['id']})"
    tell("grant", made, said, as_json=as_json)


def _grantee(person: str | None, team: str | None, agent: str | None) -> Grantee:
    given: Sequence[Grantee] = [
        *([Grantee(user_id=people.person_id(person))] if person is not None else []),
        *([Grantee(team_id=team)] if team is not None else []),
        *([Grantee(agent_id=agent)] if agent is not None else []),
    ]
    if len(given) != 1:
        raise CommandError("say to whom: --person, --team or --agent, one of the three", advice="See --help.")
    return given[0]


@app.command(cls=Command)
def revoke(
    grant: Annotated[str, typer.Argument(help="Id of the grant.", show_default=False)],
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Take a grant back. It ends with the next call of whoever had it."""
    ask(Target(home, user), lambda client: client.grants.revoke(grant))
    tell("grant", {"id": grant}, f"took back {grant}", as_json=as_json)


@app.command(cls=Command)
def explain(
    base: BaseArgument,
    person: PersonArgument,
    agent: Annotated[str, typer.Option(help="Id or name of an agent that acts for the person.")] = "",
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Tell why a person, or an agent of theirs, may view or edit a knowledge base that you manage."""

    async def work(client: AcervoClient) -> ExplainAccessResponse:
        found = await people.base(client, base)
        agent_id = await people.agent_for(client, found, agent) if agent else ""
        return await client.grants.explain(found.id, people.person_id(person), agent_id=agent_id)

    why = encode.explanation(ask(Target(home, user), work))
    lines = [f"{want}: {', '.join(why[want]) or 'no'}" for want in ("view", "edit")]
    tell("access", why, "\n".join([f"role: {why['role'] or 'none'}", *lines]), as_json=as_json)
