"""`acervo ingest`: files and folders into a collection."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from acervo_client import AcervoClient
from acervoctl.bases import ensure_base
from acervoctl.connect import Target
from acervoctl.errors import CommandError, Exit
from acervoctl.files import find_files
from acervoctl.ingesting import FileStatus, Stage, ingest_files
from acervoctl.options import CollectionOption, HomeOption, JsonOption, UserOption
from acervoctl.output import err, out, print_json
from acervoctl.progress import view


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.", show_default=False)],
    collection: CollectionOption,
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Read folders of folders too.")
    ] = False,
    replace: Annotated[
        bool, typer.Option(help="Take the place of what came from the same path before.")
    ] = True,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Index files in a collection, which is made where it is absent, and wait until they can be found.

    Exit status: 0 all are indexed, 1 some were refused or failed, 2 wrong usage or no connection.
    """
    files = find_files(paths, recursive=recursive)
    if not files:
        raise CommandError("there are no files", advice="Add --recursive to read folders of folders.")
    target = Target(home, user)
    statuses = asyncio.run(_ingest(target, files, collection, replace_older=replace, quiet=as_json))
    counts = Counter(status.stage for status in statuses)
    if as_json:
        print_json(
            {
                "collection": collection,
                "files": [_encode(status) for status in statuses],
                "counts": {stage.value: counts[stage] for stage in Stage if stage.ended},
            }
        )
    else:
        print_failures(statuses)
        ends = ", ".join(f"{counts[stage]} {stage}" for stage in Stage if counts[stage])
        out.print(f"{len(statuses)} files: {ends}")
    if counts[Stage.DONE] != len(statuses):
        raise typer.Exit(Exit.FAILED)


async def _ingest(
    target: Target, files: Sequence[Path], collection: str, *, replace_older: bool, quiet: bool
) -> list[FileStatus]:
    async with target.client() as client:
        base = await ensure_base(client, collection)
        return await ingest_with_view(client, files, base.id, replace_older=replace_older, quiet=quiet)


async def ingest_with_view(
    client: AcervoClient, files: Sequence[Path], base_id: str, *, replace_older: bool, quiet: bool
) -> list[FileStatus]:
    """Ingest files and show how it goes on standard error."""
    with view(err, len(files), quiet=quiet) as shown:
        return await ingest_files(
            client, files, knowledge_base_id=base_id, replace_older=replace_older, on_change=shown.changed
        )


def print_failures(statuses: Sequence[FileStatus]) -> None:
    """List the files that were refused or failed, each with the reason and what to do about it."""
    for status in statuses:
        if status.stage in (Stage.REFUSED, Stage.ERROR):
            out.print(
                f"[red]{status.stage}[/red] {escape(str(status.path))}: {status.reason}", soft_wrap=True
            )
            out.print(f"    {escape(f'{status.message} {status.advice}'.strip())}")


def _encode(status: FileStatus) -> dict[str, object]:
    failed = status.stage is not Stage.DONE
    failure = {"reason": status.reason, "message": status.message, "advice": status.advice}
    return {
        "path": str(status.path),
        "state": status.stage.value,
        "document_id": status.document_id or None,
        "already_present": status.already_present,
        "chunks": status.chunks,
        "pages": status.pages,
        "failure": failure if failed else None,
    }
