"""`acervo kb`: knowledge bases, and who they are visible to."""

from enum import StrEnum
from typing import Annotated

import typer

from acervo.access.v1 import knowledge_bases_pb2 as pb
from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervo.common.v1.ingestion_config_pb2 import IngestionConfig
from acervo_client import AcervoClient
from acervoctl import encode_access as encode
from acervoctl import people
from acervoctl.commands.acting import ask, insist, tell, tell_rows
from acervoctl.connect import Target
from acervoctl.errors import CommandError
from acervoctl.options import BaseArgument, Command, HomeOption, JsonOption, UserOption, YesOption

app = typer.Typer(help="Knowledge bases, and who they are visible to.", no_args_is_help=True)

OrganizationOption = Annotated[
    str | None, typer.Option("--org", help="Id or name of an organization of yours.", show_default=False)
]
_SHOWN = ("id", "collection", "display_name", "scope", "visibility", "organization_id")


ProviderOption = Annotated[
    str | None,
    typer.Option(help="Who serves the embedding model: local, openai, ollama ...", show_default=False),
]
SecretOption = Annotated[
    str | None, typer.Option(help="Id of the secret that pays for it.", show_default=False)
]
EndpointOption = Annotated[
    str | None, typer.Option(help="Id of the endpoint that serves it.", show_default=False)
]
UrlOption = Annotated[
    str | None, typer.Option("--base-url", help="Where the provider answers.", show_default=False)
]


class ScopeName(StrEnum):
    """Whose a base is, as the command line spells it."""

    PERSONAL = "personal"
    ORG = "org"
    APP = "app"


class VisibilityName(StrEnum):
    """Which members see an organization's base. A team's goes by --team."""

    PRIVATE = "private"
    ORG = "org"


_SCOPES = {
    ScopeName.PERSONAL: pb.SCOPE_PERSONAL,
    ScopeName.ORG: pb.SCOPE_ORG,
    ScopeName.APP: pb.SCOPE_APP,
}
_VISIBILITIES = {
    None: pb.VISIBILITY_UNSPECIFIED,
    VisibilityName.PRIVATE: pb.VISIBILITY_PRIVATE,
    VisibilityName.ORG: pb.VISIBILITY_ORG,
}


@app.command("list", cls=Command)
def list_(
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """List the knowledge bases that you reach, or those of one organization."""

    async def work(client: AcervoClient) -> list[KnowledgeBase]:
        found = "" if organization is None else (await people.organization(client, organization)).id
        return [one async for one in client.bases.list(organization_id=found)]

    rows = [encode.knowledge_base(one) for one in ask(Target(home, user), work)]
    if not as_json:
        rows = [{key: row[key] for key in _SHOWN} for row in rows]
    tell_rows("knowledge_bases", rows, as_json=as_json)


@app.command(cls=Command)
def show(
    base: BaseArgument, as_json: JsonOption = False, home: HomeOption = None, user: UserOption = None
) -> None:
    """Show one knowledge base."""

    async def work(client: AcervoClient) -> KnowledgeBase:
        return await client.bases.get((await people.base(client, base)).id)

    found = encode.knowledge_base(ask(Target(home, user), work))
    said = "\n".join(f"{key}: {value}" for key, value in found.items() if value != "")
    tell("knowledge_base", found, said, as_json=as_json)


@app.command(cls=Command)
def create(
    name: Annotated[str, typer.Argument(help="What it is called.", show_default=False)],
    collection: Annotated[
        str, typer.Option("--collection", "-c", help="Name of the collection; else one is derived.")
    ] = "",
    scope: Annotated[
        ScopeName | None, typer.Option(help="Whose it is. Default: org with --org, else personal.")
    ] = None,
    organization: OrganizationOption = None,
    visibility: Annotated[
        VisibilityName | None, typer.Option(help="Which members see it. Default: org.")
    ] = None,
    team: Annotated[
        str, typer.Option(help="Id or name of the one team that sees it, in place of --visibility.")
    ] = "",
    model: Annotated[
        str, typer.Option(help="Name of the embedding model. Goes with --width.", show_default=False)
    ] = "",
    width: Annotated[int, typer.Option(help="Width of the model's vectors.", show_default=False)] = 0,
    provider: ProviderOption = None,
    secret: SecretOption = None,
    endpoint: EndpointOption = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Make a knowledge base."""
    scope = scope or (ScopeName.PERSONAL if organization is None else ScopeName.ORG)
    if team and visibility is not None:
        raise CommandError("name either --team or --visibility", advice="See --help.")

    async def work(client: AcervoClient) -> KnowledgeBase:
        owner = "" if organization is None else (await people.organization(client, organization)).id
        return await client.bases.create(
            name,
            collection_name=collection,
            scope=_SCOPES[scope],
            organization_id=owner,
            visibility=pb.VISIBILITY_TEAM if team else _VISIBILITIES[visibility],
            team_id=await people.team(client, team) if team else "",
            embedding=pb.EmbeddingSettings(model=model, width=width),
            embedding_provider=provider or "",
            embedding_secret_id=secret or "",
            embedding_endpoint_id=endpoint or "",
            embedding_base_url=url or "",
        )

    made = ask(Target(home, user), work)
    said = f"made {made.display_name} ({made.id}) on the collection {made.collection_name}"
    tell("knowledge_base", encode.knowledge_base(made), said, as_json=as_json)


@app.command(cls=Command)
def update(
    base: BaseArgument,
    name: Annotated[str | None, typer.Option(help="What it is to be called.", show_default=False)] = None,
    visibility: Annotated[
        VisibilityName | None, typer.Option(help="Which members see it.", show_default=False)
    ] = None,
    team: Annotated[
        str, typer.Option(help="Id or name of the one team that sees it, in place of --visibility.")
    ] = "",
    chunk_size: Annotated[int | None, typer.Option(help="Characters.", show_default=False)] = None,
    chunk_overlap: Annotated[int | None, typer.Option(help="Characters.", show_default=False)] = None,
    provider: ProviderOption = None,
    secret: SecretOption = None,
    endpoint: EndpointOption = None,
    url: UrlOption = None,
    no_secret: Annotated[bool, typer.Option("--no-secret", help="No secret pays for it any more.")] = False,
    no_endpoint: Annotated[
        bool, typer.Option("--no-endpoint", help="No endpoint serves it any more.")
    ] = False,
    no_url: Annotated[
        bool, typer.Option("--no-base-url", help="The provider answers at its own address again.")
    ] = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Change a knowledge base. What is left out stays."""
    if team and visibility is not None:
        raise CommandError("name either --team or --visibility", advice="See --help.")
    for option, named, cleared in (
        ("--secret", secret, no_secret),
        ("--endpoint", endpoint, no_endpoint),
        ("--base-url", url, no_url),
    ):
        if named is not None and cleared:
            raise CommandError(f"name either {option} or --no{option[1:]}", advice="See --help.")
    shown = pb.VISIBILITY_TEAM if team else None if visibility is None else _VISIBILITIES[visibility]
    config = None
    if chunk_size is not None or chunk_overlap is not None:
        config = IngestionConfig(chunk_size=chunk_size, chunk_overlap=chunk_overlap)

    async def work(client: AcervoClient) -> KnowledgeBase:
        return await client.bases.update(
            (await people.base(client, base)).id,
            display_name=name,
            visibility=shown,
            team_id=await people.team(client, team) if team else "",
            ingestion_config=config,
            embedding_provider=provider,
            embedding_secret_id="" if no_secret else secret,
            embedding_endpoint_id="" if no_endpoint else endpoint,
            embedding_base_url="" if no_url else url,
        )

    made = ask(Target(home, user), work)
    said = f"changed {made.display_name} ({made.id})"
    tell("knowledge_base", encode.knowledge_base(made), said, as_json=as_json)


@app.command(cls=Command)
def delete(
    base: BaseArgument,
    yes: YesOption = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Remove a knowledge base with all that it holds, or empty it, where it is an organization's default."""

    async def work(client: AcervoClient) -> KnowledgeBase:
        found = await people.base(client, base)
        insist(f"{found.display_name} ({found.id}) with all that it holds", yes=yes, as_json=as_json)
        await client.bases.delete(found.id)
        return found

    gone = ask(Target(home, user), work)
    done = "emptied" if gone.default_base else "removed"
    said = f"{done} {gone.display_name} ({gone.id}); its content goes in the background"
    tell("knowledge_base", encode.knowledge_base(gone), said, as_json=as_json)
