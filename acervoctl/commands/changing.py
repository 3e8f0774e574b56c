"""`acervo delete` and `acervo retry`: documents that are there, one by one or a whole base."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

import typer

from acervo.ingest.v1.documents_pb2 import DOCUMENT_STATE_ERROR
from acervo_client import AcervoClient, AcervoError
from acervoctl.bases import Place
from acervoctl.commands.acting import insist
from acervoctl.commands.listing import without_older_failures
from acervoctl.connect import Target
from acervoctl.errors import CommandError, Exit
from acervoctl.options import BaseOption, CollectionOption, HomeOption, JsonOption, UserOption, YesOption
from acervoctl.output import counted, out, print_json, sentences, shown

DocumentsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[DOCUMENT]...", help="Ids of documents.", show_default=False)
]


def delete(
    document: DocumentsArgument = None,
    collection: CollectionOption = None,
    base: BaseOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Remove documents by id, or a whole knowledge base with all that it holds."""
    target = Target(home, user)
    if document:
        _refuse_both(collection, base)
        _change(target, document, "removed", as_json=as_json)
        return
    asyncio.run(_delete_base(target, Place.of(collection, base), yes=yes, as_json=as_json))


def retry(
    document: DocumentsArgument = None,
    collection: CollectionOption = None,
    base: BaseOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Start failed documents again, by id or all of a collection. `acervo documents` shows how they go on."""
    target = Target(home, user)
    if document:
        _refuse_both(collection, base)
    else:
        document = asyncio.run(_failed(target, Place.of(collection, base)))
    _change(target, document, "started again", as_json=as_json)


_CALLS: dict[str, Callable[[AcervoClient, str], Awaitable[Any]]] = {
    "removed": lambda client, document_id: client.documents.delete(document_id),
    "started again": lambda client, document_id: client.documents.retry(document_id),
}
"""What is done to each document, by what it then is."""


def _refuse_both(collection: str | None, base: str | None) -> None:
    if collection is not None or base is not None:
        raise CommandError("name either documents or a collection", advice="See --help.")


def _change(target: Target, ids: Sequence[str], done: str, *, as_json: bool) -> None:
    """Do it to each document, tell of each refusal, and end with FAILED where there was one."""
    refused = asyncio.run(_each(target, list(dict.fromkeys(ids)), _CALLS[done]))
    changed = [one for one in dict.fromkeys(ids) if one not in refused]
    if as_json:
        failures = {
            one: {"reason": error.reason, "message": error.message, "advice": error.advice}
            for one, error in refused.items()
        }
        print_json({"documents": changed, "failures": failures})
    else:
        for one, error in refused.items():
            out.print(f"[red]refused[/red] {shown(one)}: {error.reason}")
            out.print(f"    {shown(sentences(error.message, error.advice))}")
        out.print(
            f"{counted(len(changed), 'document')} {done}" + (f", {len(refused)} refused" if refused else "")
        )
    if refused:
        raise typer.Exit(Exit.FAILED)


async def _each(
    target: Target, ids: Sequence[str], call: Callable[[AcervoClient, str], Awaitable[Any]]
) -> dict[str, AcervoError]:
    refused: dict[str, AcervoError] = {}
    async with target.client() as client:
        for document_id in ids:
            try:
                await call(client, document_id)
            except AcervoError as error:
                if error.concerns_all:
                    raise
                refused[document_id] = error
    return refused


async def _failed(target: Target, place: Place) -> list[str]:
    async with target.client() as client:
        current = without_older_failures([one async for one in place.documents(client)])
        return [one.id for one in current if one.state == DOCUMENT_STATE_ERROR]


async def _delete_base(target: Target, place: Place, *, yes: bool, as_json: bool) -> None:
    async with target.client() as client:
        base = await place.base(client)
        (stats,) = await client.stats([base.id])
        what = f"{base.display_name} ({base.id}) with {counted(stats.document_count, 'document')}"
        insist(f"the knowledge base {what}", yes=yes, as_json=as_json)
        await client.bases.delete(base.id)
    if as_json:
        print_json({"knowledge_base_id": base.id, "collection": base.collection_name})
    else:
        out.print(f"removed the knowledge base {shown(what)}; its content goes in the background")
