"""`acervo agent`: programs that act for people, and what they are called."""

from typing import Annotated

import typer

from acervo.access.v1.agents_pb2 import Agent
from acervo_client import AcervoClient
from acervoctl import encode_access as encode
from acervoctl import people
from acervoctl.commands.acting import ask, insist, tell, tell_rows
from acervoctl.connect import Target
from acervoctl.options import Command, HomeOption, JsonOption, UserOption, YesOption

app = typer.Typer(help="Programs that act for people.", no_args_is_help=True)

AgentArgument = Annotated[
    str,
    typer.Argument(
        metavar="AGENT",
        help="Id or name of an agent of yours, or of your organizations.",
        show_default=False,
    ),
]
NameArgument = Annotated[str, typer.Argument(help="What it is called.", show_default=False)]
OrganizationOption = Annotated[
    str | None,
    typer.Option("--org", help="Id or name of an organization of yours; without: your own agents."),
]


@app.command("list", cls=Command)
def list_(
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """List the agents of an organization, or your own."""

    async def work(client: AcervoClient) -> list[Agent]:
        return await client.agents.list(await _organization(client, organization))

    tell_rows("agents", [encode.agent(one) for one in ask(Target(home, user), work)], as_json=as_json)


@app.command(cls=Command)
def create(
    name: NameArgument,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Register an agent, which then can be granted knowledge bases and given tokens."""

    async def work(client: AcervoClient) -> Agent:
        return await client.agents.create(name, await _organization(client, organization))

    made = ask(Target(home, user), work)
    tell("agent", encode.agent(made), f"made {made.display_name} ({made.id})", as_json=as_json)


@app.command(cls=Command)
def rename(
    agent: AgentArgument,
    name: NameArgument,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Call an agent otherwise."""

    async def work(client: AcervoClient) -> Agent:
        return await client.agents.rename((await people.agent(client, agent)).id, name)

    made = ask(Target(home, user), work)
    tell("agent", encode.agent(made), f"{made.id} is called {made.display_name}", as_json=as_json)


@app.command(cls=Command)
def delete(
    agent: AgentArgument,
    yes: YesOption = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Remove an agent with all that was granted to it. Its tokens are worth nothing from then on."""

    async def work(client: AcervoClient) -> Agent:
        found = await people.agent(client, agent)
        insist(f"the agent {found.display_name} ({found.id})", yes=yes, as_json=as_json)
        await client.agents.delete(found.id)
        return found

    gone = ask(Target(home, user), work)
    said = f"removed the agent {gone.display_name} ({gone.id})"
    tell("agent", {"id": gone.id}, said, as_json=as_json)


async def _organization(client: AcervoClient, text: str | None) -> str:
    return "" if text is None else (await people.organization(client, text)).id
