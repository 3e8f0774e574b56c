"""One pass over a source: list, compare, fetch, hand over, wait, remove.

Every step is recorded before the next depends on it, so that a pass that is interrupted at any moment goes on
where it was: what has an outcome is not looked at again, and what was being taken is handed over under the same
request id.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared import bases, kinds
from services.shared.db import Pool, Signal
from services.shared.errors import AcervoError, BaseGone
from services.sync import claims, files
from services.sync.connector import Connector, Entry, SourceUnreadable, Unreadable
from services.sync.files import Found, Outcome
from services.sync.modes import Held, Mode, worth_fetching, worth_taking
from services.sync.peers import Documents, Handed, Uploads, document_gone
from services.sync.runs import Run
from services.sync.sources import Source
from services.sync.staging import Staged, staged, too_large

T = TypeVar("T")

BATCH = 64
"""How many files are compared in one statement."""
ASK_SECONDS = 5.0
"""How long nothing may be heard of a run's documents before ingest is asked."""

PAUSES = (0.5, 1.0, 2.0, 4.0)
"""Seconds between the tries of a file that meets a passing fault, before the run as a whole is put off."""

PASSING = frozenset(
    {
        pb.ERROR_REASON_UNAVAILABLE,
        pb.ERROR_REASON_TRY_AGAIN,
        pb.ERROR_REASON_OVERLOADED,
        pb.ERROR_REASON_DEADLINE_EXCEEDED,
    }
)
# What says something about one file. Every other reason stops the run.
_OF_A_FILE = frozenset(
    {
        *range(40, 110),
        pb.ERROR_REASON_FIELD_INVALID,
        pb.ERROR_REASON_SOURCE_UNREADABLE,
        pb.ERROR_REASON_NOT_FOUND,
    }
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Files of a run that are handed over at once, and documents that may be under way before more are."""

    transfers: int
    unfinished: int


@dataclass(frozen=True, slots=True)
class Taking:
    """A file that is to be fetched. `again`: an interrupted pass may have handed it over already."""

    entry: Entry
    held: Held | None
    again: bool


@dataclass(frozen=True, slots=True)
class Means:
    """What every pass works with."""

    pool: Pool
    uploads: Uploads
    documents: Documents
    limits: Limits


class Pass:
    """One run of one source, by one worker. `ended` is set when documents end, whoever's they are."""

    def __init__(self, means: Means, source: Source, run: Run, connector: Connector, ended: Signal) -> None:
        self._pool = means.pool
        self._uploads = means.uploads
        self._documents = means.documents
        self._limits = means.limits
        self._source = source
        self._run = run
        self._connector = connector
        self._ended = ended

    async def carry_out(self) -> None:
        """Bring the base in step with the source. Returns once every document that was made has ended.

        Raises AcervoError where the run cannot go on.
        """
        complete = await self._take_all()
        await self._wait_for_documents(0)
        if self._run.mode is Mode.FULL and complete:
            await self._remove_gone()

    async def _take_all(self) -> bool:
        """Look at every file; whether the listing was complete."""
        complete = True
        batch: list[Entry | Unreadable] = []
        async with aclosing(self._connector.entries()) as entries:
            async for found in entries:
                complete = complete and not (isinstance(found, Unreadable) and found.hides_others)
                batch.append(found)
                if len(batch) == BATCH:
                    await self._take_batch(batch)
                    batch.clear()
        await self._take_batch(batch)
        await files.fail_untaken(self._pool, self._run.id, SourceUnreadable())
        return complete

    async def _take_batch(self, batch: Sequence[Entry | Unreadable]) -> None:
        if not batch:
            return
        await self._wait_for_documents(self._limits.unfinished)
        digests = [claims.digest(found.path) for found in batch]
        before = await files.outcomes(self._pool, self._run.id, digests)
        held = await claims.held(self._pool, self._source.id, digests)
        noted: list[Found] = []
        takings: list[Taking] = []
        for found, digest in zip(batch, digests, strict=True):
            outcome = before.get(digest)
            if outcome is None:
                noted.append(self._first_look(found, held.get(digest)))
                outcome = noted[-1].outcome
            if outcome is Outcome.TAKING and isinstance(found, Entry):
                takings.append(Taking(found, held.get(digest), again=digest in before))
        await files.note(self._pool, self._run.id, noted)
        await each(takings, self._take, at_once=self._limits.transfers)

    def _first_look(self, found: Entry | Unreadable, held: Held | None) -> Found:
        """What can be said of a file before a byte is fetched."""
        if isinstance(found, Unreadable):
            return Found(found.path, Outcome.FAILED, failure=AcervoError(found.reason))
        if not worth_fetching(self._run.mode, found.signal, held):
            return Found(found.path, Outcome.SKIPPED)
        try:
            limit = kinds.declared(found.name, "").document_limit
            if found.size > limit:
                raise too_large(limit)
        except kinds.KindUnsupported as refusal:
            return Found(found.path, Outcome.SKIPPED, kind_not_taken=refusal.metadata["extension"])
        except AcervoError as refusal:
            return Found(found.path, Outcome.FAILED, failure=refusal)
        return Found(found.path, Outcome.TAKING, replaces=held is not None and held.sha256 is not None)

    async def _take(self, taking: Taking) -> None:
        entry = taking.entry
        limit = kinds.declared(entry.name, "").document_limit
        try:
            async with staged(self._connector.fetch(entry), limit) as bytes_:
                if worth_taking(self._run.mode, bytes_.sha256, taking.held):
                    await self._hand_over(taking, bytes_)
                else:
                    await self._leave(entry, bytes_)
        except AcervoError as error:
            if error.reason not in _OF_A_FILE:
                raise
            await files.failed(self._pool, self._run.id, entry.path, error)

    async def _leave(self, entry: Entry, bytes_: Staged) -> None:
        """The bytes are held already; what the signal is now saves fetching them the next time."""
        async with self._pool.acquire() as connection, connection.transaction():
            signal = entry.signal
            await claims.seen_again(
                connection, self._source.id, entry.path, sha256=bytes_.sha256, signal=signal
            )
            await files.skipped(connection, self._run.id, entry.path)

    async def _hand_over(self, taking: Taking, bytes_: Staged) -> None:
        handed = await self._insist(taking.entry, bytes_)
        if handed.own_address:
            await self._record(taking, bytes_.sha256, handed)
        else:
            await files.skipped(self._pool, self._run.id, taking.entry.path)

    async def _insist(self, entry: Entry, bytes_: Staged) -> Handed:
        """Hand a file over, again after faults that pass. Raises BaseGone where there is no base to take it."""
        pauses = iter(PAUSES)
        while True:
            try:
                return await self._uploads.hand_over(self._source, self._run, entry, bytes_)
            except AcervoError as error:
                if _names_the_base(error):
                    raise BaseGone from None
                pause = next(pauses, None) if error.reason in PASSING else None
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    async def _record(self, taking: Taking, sha256: bytes, handed: Handed) -> None:
        """Claim the document, and wait for it unless the base held it before."""
        entry, document = taking.entry, handed.document
        async with self._pool.acquire() as connection, connection.transaction():
            await bases.hold(connection, self._run.knowledge_base_id, self._run.id)
            new = await claims.put(
                connection, self._source.id, document.id, entry.path, sha256=sha256, signal=entry.signal
            )
            if document.done and handed.already_present and not (new and taking.again):
                await files.skipped(connection, self._run.id, entry.path)
                return
            await files.handed(connection, self._run.id, entry.path, document.id)
            if document.done or document.failure:
                await files.finished(connection, document.id, document.failure)

    async def _wait_for_documents(self, most: int) -> None:
        """Return once at most so many of the run's documents are under way."""
        asked = time.monotonic()
        while await files.count_indexing(self._pool, self._run.id) > most:
            await self._ended.wait(ASK_SECONDS)
            if time.monotonic() - asked >= ASK_SECONDS:
                await self._ask_about_oldest()
                asked = time.monotonic()

    async def _ask_about_oldest(self) -> None:
        """Find out what ended without being heard of: before its row was written, for one. Raises BaseGone."""
        async with self._pool.acquire() as connection, connection.transaction():
            await bases.hold(connection, self._run.knowledge_base_id, self._run.id)
        for document_id in await files.indexing(self._pool, self._run.id, BATCH):
            document = await self._documents.find(document_id)
            if document is not None and not document.done and document.failure is None:
                continue
            failure = document_gone() if document is None else document.failure
            async with self._pool.acquire() as connection, connection.transaction():
                await files.finished(connection, document_id, failure)

    async def _remove_gone(self) -> None:
        await files.settle_removals(self._pool, self._run.id)
        if not await files.any_listed(self._pool, self._run.id) and await claims.any_of(
            self._pool, self._source.id
        ):
            raise SourceUnreadable(
                "The source holds no files any more. Nothing was removed, in case its volume is not mounted."
            )
        after = b""
        while gone := await claims.unlisted(self._pool, self._source.id, self._run.id, after, BATCH):
            for file in gone:
                if await self._connector.gone(file.path):
                    await self._remove(file.digest, file.path)
            after = gone[-1].digest

    async def _remove(self, digest: bytes, path: str) -> None:
        """Remove the documents of a file that is gone, but for those that another source brings too."""
        async with self._pool.acquire() as connection, connection.transaction():
            await bases.hold(connection, self._run.knowledge_base_id, self._run.id)
            doomed = await claims.sole_documents(connection, self._source.id, digest)
            if not doomed:
                await claims.release(connection, self._source.id, digest)
                return
            await files.removing(connection, self._run.id, path)
        for document_id in doomed:
            await self._documents.delete(document_id)
        async with self._pool.acquire() as connection, connection.transaction():
            await claims.release(connection, self._source.id, digest)
            await files.removed(connection, self._run.id, path)


def _names_the_base(error: AcervoError) -> bool:
    if error.reason == pb.ERROR_REASON_NOT_FOUND:
        return error.metadata.get("kind") != "document"
    return error.reason == pb.ERROR_REASON_BASE_DELETED


async def each(items: Sequence[T], work: Callable[[T], Awaitable[None]], *, at_once: int) -> None:
    """Do `work` for all items, a few at once. The first error cancels the rest, and is raised."""
    free = asyncio.Semaphore(at_once)

    async def one(item: T) -> None:
        async with free:
            await work(item)

    tasks = [asyncio.create_task(one(item)) for item in items]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
