"""`acervo secret`: credentials of an organization, and the master key that seals them all."""

import os
from enum import StrEnum
from typing import Annotated

import typer

from acervo.access.v1.knowledge_bases_pb2 import (
    VISIBILITY_ORG,
    VISIBILITY_PRIVATE,
    VISIBILITY_TEAM,
    VISIBILITY_UNSPECIFIED,
    Visibility,
)
from acervo.access.v1.secrets_pb2 import RewrapSecretsResponse, Secret
from acervo_client import AcervoClient
from acervoctl import encode_access as encode
from acervoctl import people
from acervoctl.commands.acting import ask, insist, tell, tell_rows
from acervoctl.connect import Target
from acervoctl.errors import CommandError, Exit
from acervoctl.options import Command, HomeOption, JsonOption, OrganizationArgument, UserOption, YesOption
from acervoctl.secret_values import read_value
from acervoctl.stack import vault

app = typer.Typer(help="Credentials of an organization, sealed.", no_args_is_help=True)

SecretArgument = Annotated[str, typer.Argument(help="Id of the secret.", show_default=False)]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FIELD=VALUE", help="A field that is not secret.", show_default=False),
]
FromOption = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="FIELD=PATH",
        help="A field from a file; - is standard input. What is secret and missing is asked for on a terminal.",
        show_default=False,
    ),
]
TeamOption = Annotated[
    str, typer.Option("--team", help="Id or name of a team that is to see it.", show_default=False)
]


class KindName(StrEnum):
    """What a secret is."""

    API_KEY = "api_key"
    AWS_CREDENTIALS = "aws_credentials"
    GCP_SERVICE_ACCOUNT = "gcp_service_account"
    AZURE_CREDENTIALS = "azure_credentials"
    GIT_TOKEN = "git_token"  # noqa: S105 - the name of a kind
    ATLASSIAN_TOKEN = "atlassian_token"  # noqa: S105
    GRAPH_APP = "graph_app"
    NOTION_TOKEN = "notion_token"  # noqa: S105


class VisibilityName(StrEnum):
    """Which members see a secret, as far as their roles let them. A team's goes by --team."""

    PRIVATE = "private"
    ORG = "org"


VisibilityOption = Annotated[
    VisibilityName | None,
    typer.Option(help="Which members see it, if their role lets them see others' secrets."),
]
_SHOWN = ("id", "kind", "display_name", "hint", "visibility", "owner_user_id")


def _visibility(name: VisibilityName | None, team: str) -> Visibility:
    if team and name is not None:
        raise CommandError(
            "say --visibility or --team, not both", advice="A team's secret is visible to the team."
        )
    if team:
        return VISIBILITY_TEAM
    codes = {VisibilityName.PRIVATE: VISIBILITY_PRIVATE, VisibilityName.ORG: VISIBILITY_ORG}
    return VISIBILITY_UNSPECIFIED if name is None else codes[name]


@app.command("list", cls=Command)
def list_(
    organization: OrganizationArgument,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """List the secrets of an organization that you see. What they hold is never told."""

    async def work(client: AcervoClient) -> list[Secret]:
        return await client.secrets.list((await people.organization(client, organization)).id)

    rows = [encode.secret(one) for one in ask(Target(home, user), work)]
    if not as_json:
        rows = [{key: row[key] for key in _SHOWN} for row in rows]
    tell_rows("secrets", rows, as_json=as_json)


@app.command(cls=Command)
def show(
    secret: SecretArgument, as_json: JsonOption = False, home: HomeOption = None, user: UserOption = None
) -> None:
    """Show one secret, without what it holds."""
    found = encode.secret(ask(Target(home, user), lambda client: client.secrets.get(secret)))
    said = "\n".join(f"{key}: {value}" for key, value in found.items() if value != "")
    tell("secret", found, said, as_json=as_json)


@app.command(cls=Command)
def create(
    organization: OrganizationArgument,
    name: Annotated[str, typer.Argument(help="What it is called.", show_default=False)],
    kind: Annotated[KindName, typer.Option(help="What it is.", show_default=False)],
    given: SetOption = None,
    files: FromOption = None,
    visibility: VisibilityOption = None,
    team: TeamOption = "",
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Keep a credential. Private where nothing else is said."""
    shown = _visibility(visibility, team)
    value = read_value(kind, given or (), files or (), may_ask=not as_json)

    async def work(client: AcervoClient) -> Secret:
        found = await people.organization(client, organization)
        seen_by = await people.team(client, team) if team else ""
        return await client.secrets.create(found.id, name, value, visibility=shown, team_id=seen_by)

    made = ask(Target(home, user), work)
    tell("secret", encode.secret(made), f"keeps {made.display_name} ({made.id})", as_json=as_json)


@app.command(cls=Command)
def update(
    secret: SecretArgument,
    name: Annotated[str | None, typer.Option(help="What it is to be called.", show_default=False)] = None,
    value: Annotated[bool, typer.Option("--value", help="Have it hold something else, asked for.")] = False,
    given: SetOption = None,
    files: FromOption = None,
    visibility: VisibilityOption = None,
    team: TeamOption = "",
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Change how a secret is called, who sees it, or what it holds; then all fields are given anew."""
    shown = _visibility(visibility, team)
    target = Target(home, user)
    fresh = None
    if value or given or files:
        kind = encode.secret(ask(target, lambda client: client.secrets.get(secret)))["kind"]
        fresh = read_value(kind, given or (), files or (), may_ask=not as_json)

    async def work(client: AcervoClient) -> Secret:
        seen_by = await people.team(client, team) if team else ""
        return await client.secrets.update(
            secret, display_name=name, value=fresh, visibility=shown, team_id=seen_by
        )

    made = encode.secret(ask(target, work))
    tell("secret", made, f"changed {made['display_name']} ({made['id']})", as_json=as_json)


@app.command(cls=Command)
def delete(
    secret: SecretArgument,
    yes: YesOption = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Remove a secret. What uses it has no key from then on, and says so."""
    insist(f"the secret {secret}", yes=yes, as_json=as_json)
    uses = ask(Target(home, user), lambda client: client.secrets.delete(secret))
    missed = f"; {uses} bases and sources that used it have no key now" if uses else ""
    tell("secret", {"id": secret, "uses": uses}, f"removed the secret {secret}{missed}", as_json=as_json)


@app.command("rotate-master-key", cls=Command)
def rotate_master_key(
    keep: Annotated[
        bool, typer.Option("--keep-key", help="Make no new key: bring all to the newest there is.")
    ] = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Bring the whole vault to a new master key. For the deployment's admin; may be repeated at any time."""
    target = Target(home, user)
    if not keep:
        _check_admin(target)
        _add_key(target)

    async def work(client: AcervoClient) -> list[RewrapSecretsResponse]:
        return [page async for page in client.secrets.rewrap()]

    pages = ask(target, work)
    lost = [id_ for page in pages for id_ in page.unreadable_secret_ids]
    done = {
        "key_version": pages[-1].key_version,
        "rewrapped": sum(page.rewrapped for page in pages),
        "unreadable_secret_ids": lost,
        "remaining": pages[-1].remaining,
    }
    said = f"master key {done['key_version']}: {done['rewrapped']} secrets brought to it, {done['remaining']} left"
    tell("vault", done, said + "".join(f"\nno master key opens {id_}" for id_ in lost), as_json=as_json)
    if done["remaining"]:
        raise typer.Exit(Exit.FAILED)


def _check_admin(target: Target) -> None:
    """A key that is made is used from then on: nobody makes one who may not bring secrets to it."""
    if not ask(target, lambda client: client.who_am_i()).deployment_admin:
        raise CommandError(
            "only the deployment's admin rotates the master key", advice="Say who you are with --user."
        )


def _add_key(target: Target) -> None:
    home = target.resolve_home()
    if os.environ.get("ACERVO_ADDRESS_ACCESS") or not home.vault_keys.exists():
        raise CommandError(
            "only the local stack's keys are made here",
            advice="Add a key to the file that ACERVO_VAULT_KEYS_FILE of access names, then say --keep-key.",
        )
    vault.add_key(home)
