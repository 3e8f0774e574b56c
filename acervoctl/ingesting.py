"""Taking many files into a base at once: uploads with bounded concurrency, then what becomes of each."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from acervo.ingest.v1.documents_pb2 import (
    DOCUMENT_SOURCE_CLI,
    DOCUMENT_STATE_DONE,
    DOCUMENT_STATE_ERROR,
    Document,
)
from acervo_client import AcervoClient, AcervoError, UploadOptions
from acervo_client.uploads import open_file
from acervoctl import encode
from services.shared import errors
from services.shared.kinds import HEAD_SIZE, agree
from services.shared.pathtext import path_text

UNREADABLE = "FILE_UNREADABLE"
"""The reason that is not the contract's, since no service is asked: a file of this machine cannot be read."""
UNREADABLE_ADVICE = "Check that it is there, is a file and may be read."

_UPLOADS = 4
_WATCHES = 4
_WATCHED_TOGETHER = 1000


class Stage(StrEnum):
    """How far a file has come. The last three are ends."""

    WAITING = "waiting"
    UPLOADING = "uploading"
    QUEUED = "queued"
    PARSING = "parsing"
    EMBEDDING = "embedding"
    DONE = "done"
    ERROR = "error"
    REFUSED = "refused"

    @property
    def ended(self) -> bool:
        return self in (Stage.DONE, Stage.ERROR, Stage.REFUSED)


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One file and what became of it so far. `reason`, `message` and `advice` are set for ERROR and REFUSED.

    `warnings`, each a code and a message, say what was left out of the document, or guessed.
    """

    path: Path
    stage: Stage = Stage.WAITING
    document_id: str = ""
    already_present: bool = False
    chunks: int = 0
    pages: int = 0
    reason: str = ""
    message: str = ""
    advice: str = ""
    warnings: tuple[tuple[str, str], ...] = ()

    @property
    def unchanged(self) -> bool:
        """Whether it was indexed before, just as it is."""
        return self.stage is Stage.DONE and self.already_present


OnChange = Callable[[FileStatus], None]


async def ingest_files(
    client: AcervoClient,
    paths: Sequence[Path],
    *,
    knowledge_base_id: str,
    replace_older: bool,
    on_change: OnChange,
) -> list[FileStatus]:
    """Upload all files, wait until each is at its end, and return them in the order given.

    A file's address is its absolute path: `replace_older` decides whether it takes the place of what came
    from there before. Raises `AcervoError` where no file could be taken, such as without a connection.
    """
    work = _Ingestion(client, knowledge_base_id, replace_older, on_change)
    try:
        async with asyncio.TaskGroup() as group:
            watchers = [group.create_task(work.watch()) for _ in range(_WATCHES)]
            await work.upload_all(paths)
            for _ in watchers:
                work.uploaded.put_nowait(None)
    except ExceptionGroup as errors:
        raise _first(errors) from None
    return [work.statuses[path] for path in paths]


def _first(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


class _Ingestion:
    def __init__(
        self, client: AcervoClient, knowledge_base_id: str, replace_older: bool, on_change: OnChange
    ) -> None:
        self.statuses: dict[Path, FileStatus] = {}
        self.uploaded: asyncio.Queue[str | None] = asyncio.Queue()
        self._paths: dict[str, list[Path]] = {}
        self._client = client
        self._knowledge_base_id = knowledge_base_id
        self._replace_older = replace_older
        self._on_change = on_change

    def _set(self, status: FileStatus) -> None:
        if self.statuses.get(status.path) != status:
            self.statuses[status.path] = status
            self._on_change(status)

    async def upload_all(self, paths: Sequence[Path]) -> None:
        waiting = iter(paths)

        async def upload_some() -> None:
            for path in waiting:
                await self._upload(path)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(_UPLOADS, len(paths))):
                group.create_task(upload_some())

    async def _upload(self, path: Path) -> None:
        status = FileStatus(path, Stage.UPLOADING)
        self._set(status)
        options = UploadOptions(replace=self._replace_older, source=DOCUMENT_SOURCE_CLI)
        try:
            answer = await self._client.documents.upload(
                path, knowledge_base_id=self._knowledge_base_id, options=options
            )
        except AcervoError as error:
            if error.concerns_all:
                raise
            self._set(_refused(status, error.reason, error.message, error.advice))
        except OSError as error:
            self._set(_unreadable(status, error))
        else:
            document = answer.document
            self._paths.setdefault(document.id, []).append(path)
            self._set(replace(_status(path, document), already_present=answer.already_present))
            if not self.statuses[path].stage.ended:
                self.uploaded.put_nowait(document.id)

    async def watch(self) -> None:
        """Watch what was uploaded, as many documents together as there are, until told that no more come."""
        async for document_ids in self._batches():
            async with contextlib.aclosing(self._client.documents.watch(document_ids)) as changes:
                async for change in changes:
                    for path in self._paths[change.document.id]:
                        self._note(path, change.document, deleted=change.deleted)

    async def _batches(self) -> AsyncIterator[list[str]]:
        last = False
        while not last:
            batch: list[str] = []
            item = await self.uploaded.get()
            while item is not None:
                batch.append(item)
                if self.uploaded.empty() or len(batch) == _WATCHED_TOGETHER:
                    break
                item = self.uploaded.get_nowait()
            last = item is None
            if batch:
                yield list(dict.fromkeys(batch))

    def _note(self, path: Path, document: Document, *, deleted: bool) -> None:
        known = self.statuses[path]
        if deleted:
            message = "It was removed while it was being indexed."
            advice = "Ingest it again if it should stay."
            self._set(replace(known, stage=Stage.ERROR, reason="NOT_FOUND", message=message, advice=advice))
            return
        self._set(replace(_status(path, document), already_present=known.already_present))


def refusal(path: Path) -> FileStatus | None:
    """How a file is refused for its name or first bytes, as upload refuses it; None where it may be taken."""
    status = FileStatus(path)
    try:
        with open_file(path) as file:
            agree(path_text(path.name), "", file.read(HEAD_SIZE))
    except errors.AcervoError as error:
        known = errors.meaning(error.reason)
        return _refused(status, errors.reason_name(error.reason), error.message, known.advice)
    except OSError as error:
        return _unreadable(status, error)
    return None


def why_unreadable(path: Path) -> str:
    """What keeps a file from being opened, in words of the system; empty where nothing does."""
    try:
        open_file(path).close()
    except OSError as error:
        return error.strerror or "unknown"
    return ""


def _unreadable(status: FileStatus, error: OSError) -> FileStatus:
    return _refused(status, UNREADABLE, f"{error.strerror}.", UNREADABLE_ADVICE)


def _refused(status: FileStatus, reason: str, message: str, advice: str) -> FileStatus:
    return replace(status, stage=Stage.REFUSED, reason=reason, message=message, advice=advice)


def _status(path: Path, document: Document) -> FileStatus:
    if document.state == DOCUMENT_STATE_DONE:
        stage = Stage.DONE
    elif document.state == DOCUMENT_STATE_ERROR:
        stage = Stage.ERROR
    else:
        stage = Stage(encode.stage_name(document.stage) or Stage.QUEUED)
    failure = encode.failure(document) or {}
    return FileStatus(
        path,
        stage,
        document.id,
        chunks=document.chunk_count,
        pages=document.page_count,
        reason=failure.get("reason", ""),
        message=failure.get("message", ""),
        advice=failure.get("advice", ""),
        warnings=tuple((warning.code, warning.message) for warning in document.warnings),
    )
