"""`acervo grant`: single knowledge bases for persons, teams and agents, and why somebody reaches one."""

from typing import Annotated, Any

import typer

from acervo.access.v1.access_pb2 import PERMISSION_EDIT, PERMISSION_VIEW
from acervo.access.v1.grants_pb2 import ExplainAccessResponse, Grant
from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervo_client import AcervoClient, AcervoError
from acervo_client.grants import Grantee
from acervoctl import encode_access as encode
from acervoctl import people
from acervoctl.commands.acting import ask, tell, tell_rows
from acervoctl.connect import Target
from acervoctl.errors import CommandError
from acervoctl.options import BaseArgument, Command, HomeOption, JsonOption, PersonArgument, UserOption

app = typer.Typer(help="Knowledge bases for persons, teams and agents.", no_args_is_help=True)

PersonOption = Annotated[
    str | None,
    typer.Option(help="A member of its organization, named as in `member`.", show_default=False),
]
TeamOption = Annotated[str | None, typer.Option(help="Id or name of a team.", show_default=False)]
AgentOption = Annotated[str | None, typer.Option(help="Id or name of an agent.", show_default=False)]

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
    person: PersonOption = None,
    team: TeamOption = None,
    agent: AgentOption = None,
    edit: Annotated[bool, typer.Option("--edit", help="To write as well as to read.")] = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Grant a knowledge base to a person, a team or an agent, or widen what was granted."""
    _check_one(person, team, agent)
    permission = PERMISSION_EDIT if edit else PERMISSION_VIEW

    async def work(client: AcervoClient) -> Grant:
        found = await people.base(client, base)
        grantee = await _grantee(client, found, person, team, agent)
        return await client.grants.add(found.id, permission, **grantee)

    made = encode.grant(ask(Target(home, user), work))
    said = f"{made['to']} {made['grantee_id']} may {made['permission']} {base} ({made['id']})"
    tell("grant", made, said, as_json=as_json)


def _check_one(person: str | None, team: str | None, agent: str | None) -> None:
    if sum(one is not None for one in (person, team, agent)) != 1:
        raise CommandError("say to whom: --person, --team or --agent, one of the three", advice="See --help.")


async def _grantee(
    client: AcervoClient, base: KnowledgeBase, person: str | None, team: str | None, agent: str | None
) -> Grantee:
    if team is not None:
        return Grantee(team_id=await people.team(client, team))
    if agent is not None:
        return Grantee(agent_id=await people.agent_for(client, base, agent))
    return Grantee(user_id=people.person_id(person or ""))


@app.command(cls=Command)
def revoke(
    grant: Annotated[
        str,
        typer.Argument(
            help="Id of the grant; or the base, where it is said whose grant.", show_default=False
        ),
    ],
    person: PersonOption = None,
    team: TeamOption = None,
    agent: AgentOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Take a grant back. It ends with the next call of whoever had it."""
    of_somebody = (person, team, agent) != (None, None, None)
    if of_somebody:
        _check_one(person, team, agent)

    async def work(client: AcervoClient) -> str:
        grant_id = await _granted(client, grant, person, team, agent) if of_somebody else grant
        await client.grants.revoke(grant_id)
        return grant_id

    gone = ask(Target(home, user), work)
    tell("grant", {"id": gone}, f"took back {gone}", as_json=as_json)


async def _granted(
    client: AcervoClient, base: str, person: str | None, team: str | None, agent: str | None
) -> str:
    found = await people.base(client, base)
    ((field, wanted),) = (await _grantee(client, found, person, team, agent)).items()
    for one in await client.grants.list(found.id):
        if getattr(one, field) == wanted:
            return one.id
    raise AcervoError("NOT_FOUND", f"{base} is not granted to {wanted}.")


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


@app.command(cls=Command)
def reach(
    person: PersonArgument,
    agent: Annotated[str, typer.Option(help="Id or name of an agent that acts for the person.")] = "",
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """List which of the knowledge bases that you manage a person, or an agent of theirs, reaches, and why."""

    async def work(client: AcervoClient) -> list[dict[str, Any]]:
        user_id = people.person_id(person)
        agent_id = (await people.agent(client, agent)).id if agent else ""
        rows = []
        async for base in client.bases.list():
            try:
                why = encode.explanation(await client.grants.explain(base.id, user_id, agent_id=agent_id))
            except AcervoError as error:
                if error.reason != "NOT_FOUND":
                    raise
                continue  # it is somebody else's to manage
            if why["view"]:
                rows.append({"id": base.id, "collection": base.collection_name, **why})
        return rows

    rows = ask(Target(home, user), work)
    if not as_json:
        rows = [
            {key: ", ".join(value) if isinstance(value, list) else value for key, value in row.items()}
            for row in rows
        ]
    tell_rows("knowledge_bases", rows, as_json=as_json)
