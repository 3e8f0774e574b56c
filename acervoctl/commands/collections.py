"""`acervo collections`: the knowledge bases that one reaches, and what is held under a name without an owner."""

import asyncio
from collections import Counter
from typing import Annotated, Any

import typer

from acervo.access.v1.collections_pb2 import DropCollectionResponse, ProvenanceCount
from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervo.vectorstore.v1.collections_pb2 import CollectionStats
from acervo_client import AcervoClient
from acervoctl import encode
from acervoctl import encode_access as access
from acervoctl.commands.acting import agree, ask, insist, tell
from acervoctl.commands.listing import STATES
from acervoctl.connect import Target
from acervoctl.options import Command, Group, HomeOption, JsonOption, UserOption, YesOption
from acervoctl.output import counted, print_json, print_table

app = typer.Typer(cls=Group)

_COUNTED_TOGETHER = 100

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the collection.", show_default=False)
]


@app.callback(invoke_without_command=True)
def list_(
    context: typer.Context, as_json: JsonOption = False, home: HomeOption = None, user: UserOption = None
) -> None:
    """List the knowledge bases that you reach, with what they hold."""
    if context.invoked_subcommand is not None:
        return
    found = asyncio.run(_collections(Target(home, user)))
    rows = [encode.knowledge_base(base, stats) for base, stats in found]
    if as_json:
        print_json({"collections": rows})
        return
    print_table(
        ("collection", "id", "scope", "model", "documents", "chunks", "name"),
        [
            (
                *(row["collection"], row["id"], row["scope"], f"{row['model']} ({row['width']})"),
                *(row["documents"], row["chunks"], row["display_name"]),
            )
            for row in rows
        ],
    )


async def _collections(target: Target) -> list[tuple[KnowledgeBase, CollectionStats]]:
    async with target.client() as client:
        bases = [base async for base in client.bases.list()]
        found: list[tuple[KnowledgeBase, CollectionStats]] = []
        for start in range(0, len(bases), _COUNTED_TOGETHER):
            some = bases[start : start + _COUNTED_TOGETHER]
            found += zip(some, await client.stats([base.id for base in some]), strict=True)
        return found


@app.command(cls=Command)
def provenance(
    name: NameArgument,
    confirm_operator: Annotated[
        bool,
        typer.Option("--confirm-operator", help="Vouch that what is of unknown origin is an operator's."),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Vouch without a question; needed where no terminal can be asked.")
    ] = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Count what a collection is made of, by origin. Tells nothing of its content. For the deployment's admin.

    Regular bases are counted, and nothing more is told of them.
    """

    async def work(client: AcervoClient) -> dict[str, Any]:
        confirmed = 0
        if confirm_operator:
            await client.collections.inspect(name)
            agree(
                f"this declares what is of unknown origin in {name} an operator's, for everybody to be read",
                f"Is what is of unknown origin in {name} an operator's, and may everybody read it?",
                "declared",
                yes=yes,
                as_json=as_json,
            )
            confirmed = await client.collections.confirm(name)
        found = await client.collections.inspect(name)
        kinds = [await _kind(client, count) for count in found.counts]
        row = {"collection": name, "kinds": kinds, "teardowns": found.teardown_count}
        return {**row, "confirmed": confirmed} if confirm_operator else row

    row = ask(Target(home, user), work)
    tell("provenance", row, _said(row), as_json=as_json)


async def _kind(client: AcervoClient, count: ProvenanceCount) -> dict[str, Any]:
    """What there is of a kind, in numbers."""
    ids = list(count.knowledge_base_ids)
    row: dict[str, Any] = {"kind": access.kind_name(count.kind), "bases": count.base_count, "ids": ids}
    if ids:
        states = Counter(
            [one.state for base_id in ids async for one in client.documents.list(knowledge_base_id=base_id)]
        )
        row["documents"] = {name.value: states[number] for name, number in STATES.items()}
        row["chunks"] = sum(stats.chunk_count for stats in await client.stats(ids))
    return row


def _said(row: dict[str, Any]) -> str:
    lines = []
    for kind in row["kinds"]:
        line = f"{kind['kind']}: {counted(kind['bases'], 'base')}"
        if kind["ids"]:
            states = ", ".join(f"{number} {state}" for state, number in kind["documents"].items())
            line += f" ({', '.join(kind['ids'])}); documents: {states}; {counted(kind['chunks'], 'chunk')}"
        lines.append(line)
    if row["teardowns"]:
        lines.append(f"{counted(row['teardowns'], 'deletion')} under way")
    if "confirmed" in row:
        lines.append(f"{counted(row['confirmed'], 'base')} declared an operator's")
    return "\n".join(lines)


@app.command(cls=Command)
def drop(
    name: NameArgument,
    base: Annotated[
        str, typer.Option("--knowledge-base", help="Id of the one base that is meant.", show_default=False)
    ] = "",
    yes: YesOption = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Empty the one knowledge base that holds a name, and remove what nobody owns there. For the deployment's admin.

    Where several bases hold the name, nothing is done before one is named.
    """

    async def work(client: AcervoClient) -> DropCollectionResponse:
        await client.collections.inspect(name)
        what = f"all that the base {base} holds under {name}" if base else f"all that is held under {name}"
        insist(what, yes=yes, as_json=as_json)
        return await client.collections.drop(name, knowledge_base_id=base)

    gone = ask(Target(home, user), work)
    row = {
        "collection": name,
        "emptied": gone.emptied_knowledge_base_id,
        "deleted": list(gone.deleted_knowledge_base_ids),
    }
    done = [f"emptied {row['emptied']}"] if row["emptied"] else []
    done += [f"removed {one}" for one in gone.deleted_knowledge_base_ids]
    tell("dropped", row, f"{', '.join(done)}; its content goes in the background", as_json=as_json)
