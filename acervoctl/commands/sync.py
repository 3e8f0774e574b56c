"""`acervo sync local`: keeping a collection in step with a directory of the server."""

import asyncio
import contextlib
import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from acervo.sync.v1 import sources_pb2
from acervo.sync.v1.sources_pb2 import RUN_STATE_DONE, RUN_STATE_RUNNING, Run, Source
from acervo_client import AcervoClient, AcervoError
from acervoctl import encode
from acervoctl.bases import Place
from acervoctl.connect import Target
from acervoctl.errors import CommandError, Exit, interrupted
from acervoctl.options import (
    BaseOption,
    CollectionOption,
    Command,
    HomeOption,
    JsonOption,
    RecursiveOption,
    UserOption,
)
from acervoctl.output import counted, err, out, print_json, sentences, shown

app = typer.Typer(help="Keep collections in step with other places.", no_args_is_help=True)

_POLL_SECONDS = 0.5


class Mode(StrEnum):
    """What a run does with what it finds."""

    NEW_ONLY = "new_only"
    UPDATE_ONLY = "update_only"
    FULL = "full"


_MODES = {
    Mode.NEW_ONLY: sources_pb2.SYNC_MODE_NEW_ONLY,
    Mode.UPDATE_ONLY: sources_pb2.SYNC_MODE_UPDATE_ONLY,
    Mode.FULL: sources_pb2.SYNC_MODE_FULL,
}


@app.command(cls=Command)
def local(
    path: Annotated[
        Path, typer.Argument(help="A directory of the machine that runs sync.", show_default=False)
    ],
    collection: CollectionOption = None,
    base: BaseOption = None,
    mode: Annotated[
        Mode,
        typer.Option(
            help="new_only: new and changed files. update_only: changed files of which there is a document. "
            "full: both, read anew whatever their times say, and documents whose file is gone are removed. "
            "Equal bytes are not indexed again in any of them."
        ),
    ] = Mode.NEW_ONLY,
    recursive: RecursiveOption = True,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Run a sync of a directory once and wait for its documents. For the deployment's admin."""
    # As sync keeps it: without links, so that the source of this directory is found again.
    path = _resolved(path)
    place = Place.of(collection, base)
    try:
        run = asyncio.run(_sync(Target(home, user), path, place, mode, recursive=recursive, quiet=as_json))
    except KeyboardInterrupt:
        raise interrupted("a run that began goes on", place.listing) from None
    if as_json:
        print_json({"run": encode.run(run)})
    else:
        _print_run(run)
    if run.state != RUN_STATE_DONE:
        raise typer.Exit(Exit.UNUSABLE)
    if run.counts.failed:
        raise typer.Exit(Exit.FAILED)


def _resolved(path: Path) -> Path:
    try:
        resolved = path.resolve(strict=False)
    except (OSError, RuntimeError) as error:
        raise CommandError(f"{path} cannot be read: {error}", advice="Check the path.") from None
    if os.fsencode(resolved).decode("utf-8", "ignore") != str(resolved):
        advice = "Name a directory above it, or give it another name."
        raise CommandError(f"{path} is not named in UTF-8, as a source has to be", advice=advice)
    return resolved


async def _sync(target: Target, path: Path, place: Place, mode: Mode, *, recursive: bool, quiet: bool) -> Run:
    async with target.client() as client:
        source = await _ensure_source(client, place, str(path), recursive=recursive)
        run = await client.sources.start_run(source.id, _MODES[mode])
        with contextlib.nullcontext() if quiet else err.status("syncing") as status:
            while run.state == RUN_STATE_RUNNING:
                await asyncio.sleep(_POLL_SECONDS)
                run = await client.sources.run(run.id)
                if status is not None:
                    status.update(f"syncing: {_counts(run)}")
        return run


async def _ensure_source(client: AcervoClient, place: Place, path: str, *, recursive: bool) -> Source:
    """The source of this directory that the base has, or a new one, and the base with it."""
    known = await place.find(client)
    base = known or await place.ensure(client)
    for source in await client.sources.list(base.id):
        if source.local_directory.path != path:
            continue
        if source.local_directory.recursive != recursive:
            how = "with" if source.local_directory.recursive else "without"
            raise CommandError(
                f"{path} is a source of this collection already, {how} its folders of folders",
                advice="Choose the same with --recursive or --no-recursive, or another collection.",
            )
        return source
    try:
        return await client.sources.create_local(path, knowledge_base_id=base.id, recursive=recursive)
    except AcervoError:
        if known is None:
            await client.bases.delete(base.id)
        raise


def _counts(run: Run) -> str:
    counts = encode.run(run)["counts"]
    listed = counted(counts.pop("listed"), "file")
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"{listed}: {told}" if told else listed


def _print_run(run: Run) -> None:
    for file in encode.run(run)["failed_files"]:
        out.print(f"[red]failed[/red] {shown(file['path'])}: {file['reason']}")
        out.print(f"    {shown(sentences(file['message'], file['advice']))}")
    if run.state != RUN_STATE_DONE:
        failure = encode.failure_of(run.failure_reason, run.failure_message)
        told = sentences(failure["message"], failure["advice"])
        out.print(f"[red]the run was not completed[/red]: {shown(told)} ({failure['reason']})")
    if run.kinds_not_taken:
        out.print(f"skipped, since such files are not taken: {_kinds(run.kinds_not_taken)}")
    out.print(_counts(run))


def _kinds(kinds: Mapping[str, int]) -> str:
    """The most frequent first. Example: `12 .png, 1 without an extension`."""
    often = sorted(kinds.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(
        f"{count} {shown(f'.{name}') if name else 'without an extension'}" for name, count in often
    )
