"""`acervo endpoint`: registered servers of embedding models."""

from enum import StrEnum
from typing import Annotated

import typer

from acervo.access.v1 import endpoints_pb2 as pb
from acervo.access.v1.endpoints_pb2 import Endpoint
from acervo_client import AcervoClient
from acervoctl import encode_access as encode
from acervoctl import people
from acervoctl.commands.acting import ask, insist, tell, tell_rows
from acervoctl.connect import Target
from acervoctl.options import Command, HomeOption, JsonOption, UserOption, YesOption

app = typer.Typer(help="Servers of embedding models, on your own network.", no_args_is_help=True)

EndpointArgument = Annotated[str, typer.Argument(help="Id of the endpoint.", show_default=False)]
OrganizationOption = Annotated[
    str | None,
    typer.Option("--org", help="Id or name of an organization. Without: the deployment.", show_default=False),
]
_SHOWN = ("id", "kind", "display_name", "base_url", "organization_id")


class KindName(StrEnum):
    """What serves there."""

    OLLAMA = "ollama"
    TEI = "tei"
    VLLM = "vllm"
    LM_STUDIO = "lm_studio"
    OTHER = "other"


KindOption = Annotated[KindName | None, typer.Option(help="What serves there: a note.", show_default=False)]
_KINDS = {
    None: pb.ENDPOINT_KIND_UNSPECIFIED,
    KindName.OLLAMA: pb.ENDPOINT_KIND_OLLAMA,
    KindName.TEI: pb.ENDPOINT_KIND_TEI,
    KindName.VLLM: pb.ENDPOINT_KIND_VLLM,
    KindName.LM_STUDIO: pb.ENDPOINT_KIND_LM_STUDIO,
    KindName.OTHER: pb.ENDPOINT_KIND_OTHER,
}


async def _organization(client: AcervoClient, text: str | None) -> str:
    return "" if text is None else (await people.organization(client, text)).id


@app.command("list", cls=Command)
def list_(
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """List the deployment's endpoints, and those of one organization."""

    async def work(client: AcervoClient) -> list[Endpoint]:
        return await client.endpoints.list(await _organization(client, organization))

    rows = [encode.endpoint(one) for one in ask(Target(home, user), work)]
    if not as_json:
        rows = [{key: row[key] for key in _SHOWN} for row in rows]
    tell_rows("endpoints", rows, as_json=as_json)


@app.command(cls=Command)
def show(
    endpoint: EndpointArgument, as_json: JsonOption = False, home: HomeOption = None, user: UserOption = None
) -> None:
    """Show one endpoint."""
    found = encode.endpoint(ask(Target(home, user), lambda client: client.endpoints.get(endpoint)))
    said = "\n".join(f"{key}: {value}" for key, value in found.items() if value != "")
    tell("endpoint", found, said, as_json=as_json)


@app.command(cls=Command)
def create(
    name: Annotated[str, typer.Argument(help="What it is called.", show_default=False)],
    url: Annotated[str, typer.Argument(help="Where it answers: http or https.", show_default=False)],
    organization: OrganizationOption = None,
    kind: KindOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Register a server of an organization, or (for the deployment's admin) of the deployment."""

    async def work(client: AcervoClient) -> Endpoint:
        owner = await _organization(client, organization)
        return await client.endpoints.create(name, url, organization_id=owner, kind=_KINDS[kind])

    made = ask(Target(home, user), work)
    said = f"registered {made.display_name} ({made.id}) at {made.base_url}"
    tell("endpoint", encode.endpoint(made), said, as_json=as_json)


@app.command(cls=Command)
def update(
    endpoint: EndpointArgument,
    name: Annotated[str | None, typer.Option(help="What it is to be called.", show_default=False)] = None,
    url: Annotated[str | None, typer.Option(help="Where it answers.", show_default=False)] = None,
    kind: KindOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Change what an endpoint is called, what it is, or where."""

    async def work(client: AcervoClient) -> Endpoint:
        return await client.endpoints.update(endpoint, display_name=name, kind=_KINDS[kind], base_url=url)

    made = encode.endpoint(ask(Target(home, user), work))
    tell("endpoint", made, f"changed {made['display_name']} ({made['id']})", as_json=as_json)


@app.command(cls=Command)
def delete(
    endpoint: EndpointArgument,
    yes: YesOption = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Remove an endpoint. Bases that named it name none from then on."""
    insist(f"the endpoint {endpoint}", yes=yes, as_json=as_json)
    ask(Target(home, user), lambda client: client.endpoints.delete(endpoint))
    tell("endpoint", {"id": endpoint}, f"removed the endpoint {endpoint}", as_json=as_json)
