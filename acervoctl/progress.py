"""Showing an ingestion as it goes: a bar on a terminal, a line for each finished file elsewhere."""

from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from acervoctl.ingesting import FileStatus, Stage
from acervoctl.output import counted, shown

_SHOWN = (Stage.UPLOADING, Stage.QUEUED, Stage.PARSING, Stage.EMBEDDING)


class View(Protocol):
    """What is told of each change. Used as a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def changed(self, status: FileStatus) -> None: ...


def view(console: Console, total: int, *, quiet: bool) -> View:
    """The view that suits the console; one that shows nothing where `quiet` is set."""
    if quiet:
        return Silent()
    return Bar(console, total) if console.is_terminal else Lines(console)


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def changed(self, status: FileStatus) -> None:
        """Show nothing."""


class Lines(Silent):
    """One plain line for each file that is at its end."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def changed(self, status: FileStatus) -> None:
        """Write a line if the file is at its end."""
        if status.stage.ended:
            detail = counted(status.chunks, "chunk") if status.stage is Stage.DONE else status.reason
            unchanged = ", unchanged" if status.unchanged else ""
            self._console.print(f"{status.stage:8}{shown(status.path)} ({detail}{unchanged})")


class Bar(Silent):
    """A bar over all files, with how many are at which stage."""

    def __init__(self, console: Console, total: int) -> None:
        self._progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._total = total
        self._known: dict[Path, FileStatus] = {}
        self._task = self._progress.add_task("", total=total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def changed(self, status: FileStatus) -> None:
        """Move the bar."""
        self._known[status.path] = status
        counts = Counter(known.stage for known in self._known.values())
        ended = sum(count for stage, count in counts.items() if stage.ended)
        doing = " · ".join(f"{counts[stage]} {stage}" for stage in _SHOWN if counts[stage])
        if self._total - ended == 1 and not status.stage.ended:
            chunks = f", {counted(status.chunks, 'chunk')}" if status.chunks else ""
            doing = f"{status.stage} {shown(status.path.name)}{chunks}"
        self._progress.update(self._task, completed=ended, description=doing)
