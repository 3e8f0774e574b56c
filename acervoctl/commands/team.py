"""`acervo team`: groups of an organization's members."""

from typing import Annotated

import typer

from acervo.access.v1.teams_pb2 import Team
from acervo_client import AcervoClient
from acervoctl import encode_access as encode
from acervoctl import people
from acervoctl.commands.acting import ask, insist, tell, tell_rows
from acervoctl.connect import Target
from acervoctl.options import (
    Command,
    HomeOption,
    JsonOption,
    OrganizationArgument,
    PersonArgument,
    UserOption,
    YesOption,
)

app = typer.Typer(help="Groups of an organization's members.", no_args_is_help=True)

TeamArgument = Annotated[str, typer.Argument(help="Id or name of the team.", show_default=False)]
NameArgument = Annotated[str, typer.Argument(help="What it is called.", show_default=False)]


@app.command("list", cls=Command)
def list_(
    organization: OrganizationArgument,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """List the teams of an organization of yours."""

    async def work(client: AcervoClient) -> list[Team]:
        found = await people.organization(client, organization)
        return await client.teams.list(found.id)

    found = ask(Target(home, user), work)
    tell_rows("teams", [encode.team(one) for one in found], as_json=as_json)


@app.command(cls=Command)
def create(
    organization: OrganizationArgument,
    name: NameArgument,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Make a team, with nobody in it."""

    async def work(client: AcervoClient) -> Team:
        found = await people.organization(client, organization)
        return await client.teams.create(found.id, name)

    made = ask(Target(home, user), work)
    tell("team", encode.team(made), f"made {made.display_name} ({made.id})", as_json=as_json)


@app.command(cls=Command)
def rename(
    team: TeamArgument,
    name: NameArgument,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Call a team otherwise."""

    async def work(client: AcervoClient) -> Team:
        return await client.teams.rename(await people.team(client, team), name)

    made = ask(Target(home, user), work)
    tell("team", encode.team(made), f"{made.id} is called {made.display_name}", as_json=as_json)


@app.command(cls=Command)
def delete(
    team: TeamArgument,
    yes: YesOption = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Remove a team with what was granted to it. Knowledge bases that were visible to it turn private."""

    async def work(client: AcervoClient) -> str:
        found = await people.team(client, team)
        insist(f"the team {team}", yes=yes, as_json=as_json)
        await client.teams.delete(found)
        return found

    gone = ask(Target(home, user), work)
    tell("team", {"id": gone}, f"removed the team {team}", as_json=as_json)


@app.command(cls=Command)
def members(
    team: TeamArgument, as_json: JsonOption = False, home: HomeOption = None, user: UserOption = None
) -> None:
    """List who is in a team."""

    async def work(client: AcervoClient) -> list[str]:
        return await client.teams.members(await people.team(client, team))

    found = ask(Target(home, user), work)
    tell_rows("members", [{"user_id": one} for one in found], as_json=as_json)


@app.command(cls=Command)
def add(
    team: TeamArgument,
    person: PersonArgument,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Take a member of the organization into a team."""
    user_id = people.person_id(person)

    async def work(client: AcervoClient) -> None:
        await client.teams.add_member(await people.team(client, team), user_id)

    ask(Target(home, user), work)
    tell("member", {"user_id": user_id}, f"{person} ({user_id}) is in the team", as_json=as_json)


@app.command(cls=Command)
def remove(
    team: TeamArgument,
    person: PersonArgument,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Take a person out of a team, or leave it."""
    user_id = people.person_id(person)

    async def work(client: AcervoClient) -> None:
        await client.teams.remove_member(await people.team(client, team), user_id)

    ask(Target(home, user), work)
    tell("member", {"user_id": user_id}, f"{person} ({user_id}) is not in the team", as_json=as_json)
