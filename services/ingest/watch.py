"""Tells watchers of changes: one listener and one reader for all streams of a process, and no polling.

A subscriber holds, for each document it watches, at most the latest state that it has not taken yet: a slow one
skips states and holds nobody up.
"""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from acervo.common.v1.error_reason_pb2 import ERROR_REASON_OVERLOADED
from services.ingest import rows
from services.ingest.documents import Document, State
from services.shared.db import DISCONNECTED, Listener, Pool
from services.shared.errors import AcervoError, Overloaded, Unavailable

log = logging.getLogger(__name__)

CHANNEL = "documents"
MOST_SUBSCRIPTIONS = 1000
MOST_OF_ONE_CALLER = 64
_TOO_MANY = (
    f"You are watching in {MOST_OF_ONE_CALLER} calls already: "
    "name more documents in one call, or end another first."
)
_READ_BATCH = 500
_RETRY_SECONDS = 0.5
# Documents that change within this time of a reading are read together by the next one.
_GATHER_SECONDS = 0.02

Change = tuple[UUID, Document | None]
"""A document as it is now; None once it is gone."""


class Subscription:
    """The changes of some documents, since they were last taken."""

    def __init__(self) -> None:
        self._pending: dict[UUID, Document | None] = {}
        self._changed = asyncio.Event()
        self._closed = False

    def close(self) -> None:
        """End whoever takes from this."""
        self._closed = True
        self._changed.set()

    def put(self, document_id: UUID, document: Document | None) -> None:
        """Hold a state until it is taken, in place of the one before."""
        self._pending[document_id] = document
        self._changed.set()

    async def take(self, seconds: float) -> list[Change]:
        """Wait up to `seconds` for changes and return them; nothing when there were none.

        Raises:
            Unavailable: if the process goes down; another one can be asked.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        if self._closed:
            raise Unavailable
        self._changed.clear()
        changes = list(self._pending.items())
        self._pending.clear()
        return changes


class Hub:
    """Reads the documents that changed, once for all who watch them."""

    def __init__(self, pool: Pool, listener: Listener) -> None:
        self._pool = pool
        self._listener = listener
        self._watchers: dict[UUID, set[Subscription]] = {}
        self._subscriptions: Counter[str] = Counter()
        self._closed = False
        self._unread: set[UUID] = set()
        self._wake = asyncio.Event()

    @contextlib.contextmanager
    def subscribe(self, document_ids: Sequence[UUID], caller: str) -> Iterator[Subscription]:
        """Yield a subscription of `caller` that starts with each document as it is.

        Raises:
            AcervoError: OVERLOADED if the caller has too many, or all have.
            Unavailable: if the process goes down.
        """
        if self._closed:
            raise Unavailable
        if self._subscriptions[caller] >= MOST_OF_ONE_CALLER:
            raise AcervoError(ERROR_REASON_OVERLOADED, _TOO_MANY)
        if self._subscriptions.total() >= MOST_SUBSCRIPTIONS:
            raise Overloaded
        subscription = Subscription()
        self._subscriptions[caller] += 1
        for document_id in document_ids:
            self._watchers.setdefault(document_id, set()).add(subscription)
        self._look_at(document_ids)
        try:
            yield subscription
        finally:
            self._subscriptions -= Counter((caller,))
            for document_id in document_ids:
                self._leave(document_id, subscription)

    def close(self) -> None:
        """End all subscriptions, since the process goes down."""
        self._closed = True
        for watchers in self._watchers.values():
            for subscription in watchers:
                subscription.close()

    async def run(self) -> None:
        """Hear of changes and hand them out until cancelled."""
        with self._listener.payloads(CHANNEL) as queue:
            self._look_at(list(self._watchers))
            async with asyncio.TaskGroup() as group:
                group.create_task(self._hear(queue))
                group.create_task(self._read())

    async def _hear(self, queue: "asyncio.Queue[str | None]") -> None:
        while True:
            payload = await queue.get()
            # None: some were missed. Whatever is watched may have changed.
            self._look_at([UUID(payload)] if payload else list(self._watchers))

    def _look_at(self, document_ids: Sequence[UUID]) -> None:
        watched = self._watchers.keys() & set(document_ids)
        if watched:
            self._unread |= watched
            self._wake.set()

    async def _read(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            batch = list(self._unread)[:_READ_BATCH]
            self._unread.difference_update(batch)
            try:
                await self._hand_out(batch)
            except (*DISCONNECTED, TimeoutError) as error:
                log.warning("watched documents could not be read: %s", type(error).__name__)
                await asyncio.sleep(_RETRY_SECONDS)
                self._look_at(batch)
            if self._unread:
                self._wake.set()
            await asyncio.sleep(_GATHER_SECONDS)

    async def _hand_out(self, batch: Sequence[UUID]) -> None:
        async with self._pool.acquire() as connection:
            found = {document.id: document for document in await rows.get(connection, batch)}
        for document_id in batch:
            for subscription in self._watchers.get(document_id, ()):
                subscription.put(document_id, found.get(document_id))

    def _leave(self, document_id: UUID, subscription: Subscription) -> None:
        watchers = self._watchers.get(document_id, set())
        watchers.discard(subscription)
        if not watchers:
            self._watchers.pop(document_id, None)


class View:
    """What one watcher has seen, so that it is told of each state once and of the end of them all."""

    def __init__(self, document_ids: Sequence[UUID]) -> None:
        self._seen: dict[UUID, Document | None] = {}
        self._open = set(document_ids)

    @property
    def over(self) -> bool:
        """Whether every document is done, failed or gone."""
        return not self._open

    @property
    def base_ids(self) -> set[UUID]:
        """The bases of the documents that were seen and are not gone."""
        return {document.knowledge_base_id for document in self._seen.values() if document is not None}

    def news(self, changes: Sequence[Change]) -> Mapping[UUID, Document | None]:
        """Return those of the changes that the watcher has not seen."""
        fresh = {
            document_id: document
            for document_id, document in changes
            if document_id not in self._seen or self._seen[document_id] != document
        }
        for document_id, document in fresh.items():
            self._seen[document_id] = document
            if document is not None and document.state is State.PROCESSING:
                self._open.add(document_id)
            else:
                self._open.discard(document_id)
        return fresh
