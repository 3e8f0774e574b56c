"""`acervo search`: passages that answer a question."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

import typer

from acervo.vectorstore.v1.search_pb2 import Passage
from acervoctl import encode
from acervoctl.connect import Target
from acervoctl.errors import CommandError
from acervoctl.options import HomeOption, JsonOption, UserOption
from acervoctl.output import out, print_json, shown


def search(
    query: Annotated[str, typer.Argument(help="The question.", show_default=False)],
    collection: Annotated[
        list[str] | None,
        typer.Option(
            "--collection", "-c", help="Name of a collection; may be given again.", show_default=False
        ),
    ] = None,
    base: Annotated[
        list[str] | None,
        typer.Option("--base", help="Id of a knowledge base; may be given again.", show_default=False),
    ] = None,
    top_k: Annotated[
        int, typer.Option("--top-k", "-k", min=1, max=100, help="How many passages at most.")
    ] = 10,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Find the passages that fit a question best, with file and page.

    The number behind each is what they are ordered by: higher fits better, within one answer only.
    """
    if not collection and not base:
        raise CommandError("say where: --collection NAME or --base ID", advice="See --help.")
    passages = asyncio.run(_search(Target(home, user), query, collection or (), base or (), top_k))
    if as_json:
        print_json({"query": query, "passages": [encode.passage(passage) for passage in passages]})
        return
    if not passages:
        out.print("nothing found")
    for number, passage in enumerate(passages, start=1):
        print_passage(number, passage)


async def _search(
    target: Target, query: str, collections: Sequence[str], bases: Sequence[str], top_k: int
) -> Sequence[Passage]:
    async with target.client() as client:
        return await client.search(query, collection_names=collections, knowledge_base_ids=bases, top_k=top_k)


def print_passage(number: int, passage: Passage) -> None:
    """Write where a passage stands, and the part of it that fits the question as one paragraph."""
    page = f", page {passage.page}" if passage.page else ""
    out.print(f"[bold]{number}. {shown(passage.filename)}{page}[/bold]  ({passage.scores.fused:.3f})")
    before = "" if passage.text.startswith(passage.excerpt) else "… "
    after = "" if passage.text.endswith(passage.excerpt) else " …"
    text = " ".join(passage.excerpt.split())
    out.print(f"   {before}{shown(text)}{after}")
