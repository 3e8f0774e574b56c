"""`acervo member`: who is in an organization."""

from enum import StrEnum
from typing import Annotated

import typer

from acervo.access.v1 import organizations_pb2 as pb
from acervo.access.v1.organizations_pb2 import Member
from acervo_client import AcervoClient
from acervoctl import encode_access as encode
from acervoctl import people
from acervoctl.commands.acting import ask, tell, tell_rows
from acervoctl.connect import Target
from acervoctl.options import (
    Command,
    HomeOption,
    JsonOption,
    OrganizationArgument,
    PersonArgument,
    UserOption,
)

app = typer.Typer(help="Who is in an organization.", no_args_is_help=True)


class RoleName(StrEnum):
    """The roles, from most to least, as the command line spells them."""

    OWNER = "owner"
    ADMIN = "admin"
    BUILDER = "builder"
    MEMBER = "member"
    VIEWER = "viewer"


_ROLES = {
    RoleName.OWNER: pb.ROLE_OWNER,
    RoleName.ADMIN: pb.ROLE_ADMIN,
    RoleName.BUILDER: pb.ROLE_BUILDER,
    RoleName.MEMBER: pb.ROLE_MEMBER,
    RoleName.VIEWER: pb.ROLE_VIEWER,
}


@app.command("list", cls=Command)
def list_(
    organization: OrganizationArgument,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """List the members of an organization of yours."""

    async def work(client: AcervoClient) -> list[Member]:
        found = await people.organization(client, organization)
        return await client.organizations.members(found.id)

    found = ask(Target(home, user), work)
    tell_rows("members", [encode.member(one) for one in found], as_json=as_json)


@app.command(cls=Command)
def add(
    organization: OrganizationArgument,
    person: PersonArgument,
    role: Annotated[RoleName, typer.Option(help="One that your own exceeds.")] = RoleName.VIEWER,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Take a person in, or change the role of a member."""

    async def work(client: AcervoClient) -> Member:
        found = await people.organization(client, organization)
        return await client.organizations.put_member(found.id, people.person_id(person), _ROLES[role])

    made = ask(Target(home, user), work)
    said = f"{person} ({made.user_id}) is {encode.role_name(made.role)} of {organization}"
    tell("member", encode.member(made), said, as_json=as_json)


@app.command(cls=Command)
def remove(
    organization: OrganizationArgument,
    person: PersonArgument,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Take a person out, or leave. What the person made stays; what was granted to the person ends."""
    user_id = people.person_id(person)

    async def work(client: AcervoClient) -> None:
        found = await people.organization(client, organization)
        await client.organizations.remove_member(found.id, user_id)

    ask(Target(home, user), work)
    tell("member", {"user_id": user_id}, f"removed {person} ({user_id}) from {organization}", as_json=as_json)
