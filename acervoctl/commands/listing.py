"""`acervo collections` and `acervo documents`: what is there."""

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervo.ingest.v1 import documents_pb2
from acervo.ingest.v1.documents_pb2 import Document, DocumentCounts
from acervo.vectorstore.v1.collections_pb2 import CollectionStats
from acervoctl import encode
from acervoctl.connect import Target
from acervoctl.options import CollectionOption, HomeOption, JsonOption, UserOption
from acervoctl.output import out, print_json

_COUNTED_TOGETHER = 100


class State(StrEnum):
    """The states of a document, as the command line spells them."""

    PROCESSING = "processing"
    DONE = "done"
    ERROR = "error"


_STATES = {
    State.PROCESSING: documents_pb2.DOCUMENT_STATE_PROCESSING,
    State.DONE: documents_pb2.DOCUMENT_STATE_DONE,
    State.ERROR: documents_pb2.DOCUMENT_STATE_ERROR,
}


def collections(as_json: JsonOption = False, home: HomeOption = None, user: UserOption = None) -> None:
    """List the knowledge bases that you reach, with what they hold."""
    found = asyncio.run(_collections(Target(home, user)))
    if as_json:
        print_json({"collections": [encode.knowledge_base(base, stats) for base, stats in found]})
        return
    table = Table("collection", "name", "scope", "model", "documents", "chunks", box=None)
    for base, stats in found:
        row = encode.knowledge_base(base, stats)
        model = f"{row['model']} ({row['width']})"
        name = escape(base.display_name)
        table.add_row(row["collection"], name, row["scope"], model, str(row["documents"]), str(row["chunks"]))
    out.print(table)


async def _collections(target: Target) -> list[tuple[KnowledgeBase, CollectionStats]]:
    async with target.client() as client:
        bases = [base async for base in client.bases.list()]
        found: list[tuple[KnowledgeBase, CollectionStats]] = []
        for start in range(0, len(bases), _COUNTED_TOGETHER):
            some = bases[start : start + _COUNTED_TOGETHER]
            found += zip(some, await client.stats([base.id for base in some]), strict=True)
        return found


def documents(
    collection: CollectionOption,
    state: Annotated[
        list[State] | None, typer.Option(help="Only those in this state; may be given again.")
    ] = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """List the documents of a collection, newest first, with their state."""
    found, counts = asyncio.run(_documents(Target(home, user), collection, state or ()))
    if as_json:
        totals = {name.value: getattr(counts, name.value) for name in State}
        print_json({"documents": [encode.document(one) for one in found], "counts": totals})
        return
    table = Table("file", "state", "chunks", "pages", "reason", box=None)
    for one in found:
        failure = encode.failure(one) or {"reason": ""}
        shown = encode.stage_name(one.stage) or encode.state_name(one.state)
        table.add_row(
            escape(one.filename), shown, str(one.chunk_count), str(one.page_count or ""), failure["reason"]
        )
    out.print(table)
    out.print(f"{counts.done} done, {counts.processing} processing, {counts.error} failed")


async def _documents(
    target: Target, collection: str, states: Sequence[State]
) -> tuple[list[Document], DocumentCounts]:
    wanted = [_STATES[state] for state in states]
    async with target.client() as client:
        counts = await client.documents.counts(collection_name=collection)
        found = [one async for one in client.documents.list(collection_name=collection, states=wanted)]
        return found, counts
