"""`acervo account`: what somebody has here."""

from typing import Annotated

import typer

from acervo.access.v1.accounts_pb2 import DeleteAccountResponse
from acervo_client import AcervoClient
from acervoctl import people
from acervoctl.commands.acting import ask, insist, tell
from acervoctl.connect import Target
from acervoctl.options import Command, HomeOption, JsonOption, UserOption, YesOption
from acervoctl.output import counted

app = typer.Typer(help="What somebody has here.", no_args_is_help=True)


@app.command(cls=Command)
def show(as_json: JsonOption = False, home: HomeOption = None, user: UserOption = None) -> None:
    """Show who you are: your id, and whether you are the deployment's admin."""
    who = ask(Target(home, user), lambda client: client.who_am_i())
    row = {"user_id": who.user_id, "deployment_admin": who.deployment_admin}
    said = f"{who.user_id}{', the admin of the deployment' if who.deployment_admin else ''}"
    tell("account", row, said, as_json=as_json)


@app.command(cls=Command)
def delete(
    person: Annotated[
        str,
        typer.Argument(
            metavar="PERSON",
            help="Somebody else, for the deployment's admin. Default: you.",
            show_default=False,
        ),
    ] = "",
    yes: YesOption = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Remove a person's own knowledge bases, and the person from all organizations.

    What was made in organizations stays theirs. Their last owner is refused: hand them on, or remove them, first.
    """

    async def work(client: AcervoClient) -> tuple[str, DeleteAccountResponse]:
        user_id = people.person_id(person) if person else (await client.who_am_i()).user_id
        insist(f"all that is {user_id}'s own", yes=yes, as_json=as_json)
        return user_id, await client.delete_account(user_id)

    user_id, gone = ask(Target(home, user), work)
    row = {
        "user_id": user_id,
        "knowledge_bases": gone.knowledge_base_count,
        "organizations": gone.organization_count,
    }
    said = (
        f"removed {counted(gone.knowledge_base_count, 'knowledge base')} of {user_id}, who left "
        f"{counted(gone.organization_count, 'organization')}; what was held goes in the background"
    )
    tell("account", row, said, as_json=as_json)
