"""`acervo ingest`: files and folders into a collection."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from acervo_client import AcervoClient
from acervoctl.bases import Place
from acervoctl.connect import Target
from acervoctl.errors import CommandError, Exit, interrupted
from acervoctl.files import find_files
from acervoctl.ingesting import (
    UNREADABLE,
    UNREADABLE_ADVICE,
    FileStatus,
    OnChange,
    Stage,
    ingest_files,
    refusal,
    why_unreadable,
)
from acervoctl.options import (
    BaseOption,
    CollectionOption,
    HomeOption,
    JsonOption,
    RecursiveOption,
    UserOption,
)
from acervoctl.output import counted, err, out, print_json, sentences, shown
from acervoctl.progress import view


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.", show_default=False)],
    collection: CollectionOption = None,
    base: BaseOption = None,
    operator: Annotated[
        bool,
        typer.Option("--operator", help="Into the collection's hidden base, as the deployment's admin."),
    ] = False,
    recursive: RecursiveOption = True,
    replace: Annotated[
        bool, typer.Option(help="Take the place of what came from the same path before.")
    ] = True,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Index files in a collection, which is made where it is absent, and wait until they can be found.

    After Ctrl-C, what was handed over goes on being processed.
    """
    place = Place.of(collection, base, operator=operator)
    files = find_files(paths, recursive=recursive)
    if not files:
        folders = "" if recursive else "Leave --no-recursive out to read folders of folders."
        raise CommandError(
            "there are no files", advice=folders or "Name a file, or a folder that holds some."
        )
    _check_readable(files)
    known: dict[Path, FileStatus] = {}
    work = _ingest(Target(home, user), files, place, known, replace_older=replace, quiet=as_json)
    try:
        statuses = asyncio.run(work)
    except KeyboardInterrupt:
        raise _interrupted(known, place) from None
    _print_end(statuses, place, as_json=as_json)
    if any(status.stage is not Stage.DONE for status in statuses):
        raise typer.Exit(Exit.FAILED)


def _check_readable(files: Sequence[Path]) -> None:
    """Raises `CommandError` where no file at all can be read."""
    if all(map(why_unreadable, files)):
        more = f"; nor can {counted(len(files) - 1, 'other file')}" if files[1:] else ""
        message = f"{files[0]} cannot be read: {why_unreadable(files[0])}{more}"
        raise CommandError(message, advice=UNREADABLE_ADVICE, reason=UNREADABLE)


async def _ingest(
    target: Target,
    files: Sequence[Path],
    place: Place,
    known: dict[Path, FileStatus],
    *,
    replace_older: bool,
    quiet: bool,
) -> list[FileStatus]:
    async with target.client() as client:
        base = await place.find(client)
        if base is None:
            refused = [status for path in files if (status := refusal(path))]
            if len(refused) == len(files):
                return refused  # no base is made for nothing
            base = await place.ensure(client)

        def note(status: FileStatus) -> None:
            known[status.path] = status

        return await ingest_with_view(
            client, files, base.id, replace_older=replace_older, quiet=quiet, note=note
        )


async def ingest_with_view(
    client: AcervoClient,
    files: Sequence[Path],
    base_id: str,
    *,
    replace_older: bool,
    quiet: bool,
    note: OnChange = lambda _: None,
) -> list[FileStatus]:
    """Ingest files, show on standard error how it goes, and tell `note` of each change."""
    with view(err, len(files), quiet=quiet) as showing:

        def on_change(status: FileStatus) -> None:
            note(status)
            showing.changed(status)

        return await ingest_files(
            client, files, knowledge_base_id=base_id, replace_older=replace_older, on_change=on_change
        )


def print_failures(statuses: Sequence[FileStatus]) -> None:
    """List the files that were refused or failed, each with the reason and what to do about it."""
    for status in statuses:
        if status.stage in (Stage.REFUSED, Stage.ERROR):
            out.print(f"[red]{status.stage}[/red] {shown(status.path)}: {status.reason}")
            out.print(f"    {shown(sentences(status.message, status.advice))}")


def _interrupted(known: dict[Path, FileStatus], place: Place) -> CommandError:
    handed_over = sum(bool(status.document_id) and not status.stage.ended for status in known.values())
    if not handed_over:
        return interrupted()
    go_on = "goes on" if handed_over == 1 else "go on"
    return interrupted(f"{counted(handed_over, 'document')} {go_on} being processed", place.listing)


def _print_end(statuses: Sequence[FileStatus], place: Place, *, as_json: bool) -> None:
    counts = Counter(status.stage for status in statuses)
    if as_json:
        print_json(
            {
                "collection": place.collection_name,
                "files": [_encode(status) for status in statuses],
                "counts": {stage.value: counts[stage] for stage in Stage if stage.ended},
            }
        )
        return
    for status in statuses:
        for code, message in status.warnings:
            out.print(f"{shown(status.path)}: {code}: {shown(message)}")
    print_failures(statuses)
    ends = [f"{counts[stage]} {stage}" for stage in Stage if counts[stage]]
    unchanged = sum(status.unchanged for status in statuses)
    if unchanged:
        ends[0] += f" ({unchanged} unchanged)"
    out.print(f"{counted(len(statuses), 'file')}: {', '.join(ends)}")


def _encode(status: FileStatus) -> dict[str, object]:
    failed = status.stage is not Stage.DONE
    failure = {"reason": status.reason, "message": status.message, "advice": status.advice}
    return {
        "path": status.path,
        "state": status.stage.value,
        "document_id": status.document_id or None,
        "already_present": status.already_present,
        "chunks": status.chunks,
        "pages": status.pages,
        "failure": failure if failed else None,
        "warnings": [{"code": code, "message": message} for code, message in status.warnings],
    }
