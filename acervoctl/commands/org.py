"""`acervo org`: organizations."""

from typing import Annotated

import typer

from acervo.access.v1.organizations_pb2 import Member, Organization
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

app = typer.Typer(help="Organizations.", no_args_is_help=True)


@app.command("list", cls=Command)
def list_(as_json: JsonOption = False, home: HomeOption = None, user: UserOption = None) -> None:
    """List the organizations that you are a member of."""
    found = ask(Target(home, user), lambda client: client.organizations.list())
    tell_rows("organizations", [encode.organization(one) for one in found], as_json=as_json)


@app.command(cls=Command)
def create(
    name: Annotated[str, typer.Argument(help="What it is called.", show_default=False)],
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Make an organization with its default knowledge base. You own it."""
    made = ask(Target(home, user), lambda client: client.organizations.create(name))
    tell("organization", encode.organization(made), f"made {made.display_name} ({made.id})", as_json=as_json)


@app.command(cls=Command)
def rename(
    organization: OrganizationArgument,
    name: Annotated[str, typer.Argument(help="What it is to be called.", show_default=False)],
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Call an organization otherwise."""

    async def work(client: AcervoClient) -> Organization:
        return await client.organizations.rename((await people.organization(client, organization)).id, name)

    made = ask(Target(home, user), work)
    said = f"{made.id} is called {made.display_name}"
    tell("organization", encode.organization(made), said, as_json=as_json)


@app.command(cls=Command)
def transfer(
    organization: OrganizationArgument,
    person: PersonArgument,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Make another member the owner in your place. You become an admin."""

    async def work(client: AcervoClient) -> Member:
        found = await people.organization(client, organization)
        return await client.organizations.transfer(found.id, people.person_id(person))

    owner = ask(Target(home, user), work)
    tell("member", encode.member(owner), f"{person} is an owner, and you are an admin", as_json=as_json)


@app.command(cls=Command)
def delete(
    organization: OrganizationArgument,
    yes: YesOption = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Remove an organization with its members, teams and knowledge bases."""

    async def work(client: AcervoClient) -> Organization:
        found = await people.organization(client, organization)
        insist(f"{found.display_name} ({found.id}) with all its knowledge bases", yes=yes, as_json=as_json)
        await client.organizations.delete(found.id)
        return found

    gone = ask(Target(home, user), work)
    said = f"removed {gone.display_name}; what its bases hold goes in the background"
    tell("organization", encode.organization(gone), said, as_json=as_json)
