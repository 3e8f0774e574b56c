"""`acervo documents`: what is there."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated

import typer

from acervo.ingest.v1 import documents_pb2
from acervo.ingest.v1.documents_pb2 import Document
from acervoctl import encode
from acervoctl.bases import Place
from acervoctl.connect import Target
from acervoctl.options import BaseOption, CollectionOption, HomeOption, JsonOption, UserOption
from acervoctl.output import counted, out, print_json, print_table, sentences, shown


class State(StrEnum):
    """The states of a document, as the command line spells them."""

    PROCESSING = "processing"
    DONE = "done"
    ERROR = "error"


STATES = {
    State.PROCESSING: documents_pb2.DOCUMENT_STATE_PROCESSING,
    State.DONE: documents_pb2.DOCUMENT_STATE_DONE,
    State.ERROR: documents_pb2.DOCUMENT_STATE_ERROR,
}


def documents(
    collection: CollectionOption = None,
    base: BaseOption = None,
    state: Annotated[
        list[State] | None, typer.Option(help="Only those in this state; may be given again.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Failures too that a later document of the same file followed.")
    ] = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """List the documents of a collection, newest first, with their state and what there is to say of them.

    A document waits (queued), is read and cut (parsing), is stored (embedding), and is then done or in error.
    """
    place = Place.of(collection, base)
    found = asyncio.run(_documents(Target(home, user), place, state or ()))
    current = found if every else without_older_failures(found)
    states = Counter(one.state for one in current)
    counts = {name.value: states[number] for name, number in STATES.items()}
    if as_json:
        print_json({"documents": [encode.document(one) for one in current], "counts": counts})
        return
    _print_documents(current)
    left_out = len(found) - len(current)
    older = f"; {counted(left_out, 'older failure')} left out: --all shows them" if left_out else ""
    out.print(f"{counts['done']} done, {counts['processing']} processing, {counts['error']} in error{older}")


def without_older_failures(newest_first: Sequence[Document]) -> list[Document]:
    """Without failed documents of files of which the list holds a newer document."""
    seen: set[tuple[str, str]] = set()
    kept: list[Document] = []
    for one in newest_first:
        origin = (one.knowledge_base_id, one.source_path or one.filename)
        if one.state != documents_pb2.DOCUMENT_STATE_ERROR or origin not in seen:
            kept.append(one)
        seen.add(origin)
    return kept


def _print_documents(found: Sequence[Document]) -> None:
    rows = [
        (
            *(one.id, encode.stage_name(one.stage) or encode.state_name(one.state)),
            *(one.chunk_count, one.page_count or "", one.source_path or one.filename),
        )
        for one in found
    ]
    print_table(("id", "state", "chunks", "pages", "file"), rows)
    for one in found:
        for note in _notes(one):
            out.print(f"{shown(one.filename)}: {shown(note)}")


def _notes(one: Document) -> Iterator[str]:
    """Why a document failed and what to do, and what was left out of it or changed."""
    failure = encode.failure(one)
    if failure is not None:
        yield f"{failure['reason']}: {sentences(failure['message'], failure['advice'])}"
    for warning in one.warnings:
        yield f"{warning.code}: {warning.message}"


async def _documents(target: Target, place: Place, states: Sequence[State]) -> list[Document]:
    async with target.client() as client:
        return [one async for one in place.documents(client, [STATES[state] for state in states])]
