"""Bytes in blob storage, and the rows that say which of them are wanted.

A blob has a row before its first byte: `pending` until its writer must be done, `live` from the transaction that makes
its owner true, `deleting` once nobody wants it. `Collector` removes what expired while pending and what is deleting;
nothing is ever removed by its age alone.

The storage holds a mark for each service that keeps blobs in it, made by `claim`. Where the mark is missing it is not
the storage that the rows speak of (a volume that is not mounted, a wrong bucket): nothing is found absent there,
written or removed.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, ObjectStore, from_url

from services.shared.db import Connection, Pool
from services.shared.endings import to_the_end
from services.shared.errors import Unavailable
from services.shared.staged_file import StagedFileGone, staged_file, write_file

if TYPE_CHECKING:
    from obstore import GetResult

log = logging.getLogger(__name__)

# Buckets want parts of 5 MiB at least.
_PART_BYTES = 8 * 1024 * 1024
_PARTS_IN_FLIGHT = 2
_READ_CHUNK_BYTES = 1024 * 1024
# Keys begin with the service and the kind of thing, such as `ingest/pages`; what follows is one thing's own.
_SHARED_DEPTH = 2
_COLLECT_BATCH = 256
_TRY_AGAIN_SECONDS = 60.0
_MARK = ".acervo"
_SAMPLES = 16


class BlobNotFound(Exception):
    """There is no object under the key."""


class BlobExpired(Exception):
    """A blob was not finished in time, or not wanted any more, so that it cannot become live."""


class StorageUnavailable(Unavailable):
    """The storage is not there, or another one is in its place: nothing can be said of what it holds."""


class BlobWriter(Protocol):
    """Takes an object's bytes in order."""

    async def write(self, data: bytes, /) -> object:
        """Take the next bytes."""


class BlobStore:
    """Objects under keys, in a directory or a bucket: `file://`, `s3://`, `gs://` or `az://`."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    @classmethod
    def open(cls, url: str) -> Self:
        """Open the storage that a URL names; a directory is made where it is missing."""
        parts = urlsplit(url)
        if parts.scheme == "file":
            return cls(LocalStore(parts.path, mkdir=True, automatic_cleanup=False))
        return cls(from_url(url))

    @contextlib.asynccontextmanager
    async def writer(self, key: str) -> AsyncIterator[BlobWriter]:
        """Yield a writer; the object appears, whole, when the block ends, and not at all when it raises.

        Raises:
            BlobExpired: if it was collected while it was written.
            StorageUnavailable: if this is not where it belongs.
        """
        root = self._root
        if root is not None:
            await self._check([key])
            try:
                async with staged_file(root / key) as file:
                    yield file
            except StagedFileGone:
                raise BlobExpired(key) from None
            return
        async with obstore.open_writer_async(
            self._store, key, buffer_size=_PART_BYTES, max_concurrency=_PARTS_IN_FLIGHT
        ) as writer:
            yield writer

    async def put(self, key: str, data: bytes) -> None:
        """Store an object at once. Raises as `writer`."""
        root = self._root
        if root is None:
            await obstore.put_async(self._store, key, data, use_multipart=False)
            return
        await self._check([key])
        try:
            await to_the_end(asyncio.to_thread(write_file, root / key, data))
        except StagedFileGone:
            raise BlobExpired(key) from None

    async def get(self, key: str) -> bytes:
        """Return an object. Raises as `stream`."""
        return bytes(await (await self._found(key)).bytes_async())

    async def stream(self, key: str) -> AsyncIterator[bytes]:
        """Yield an object's bytes in chunks of about 1 MiB.

        Raises:
            BlobNotFound: if it is not there.
            StorageUnavailable: if that cannot be said.
        """
        result = await self._found(key)
        async for chunk in result.stream(min_chunk_size=_READ_CHUNK_BYTES):
            yield bytes(chunk)

    async def download(self, key: str, path: Path) -> None:
        """Copy an object into a file. Raises as `stream`."""
        with path.open("wb") as file:
            async for chunk in self.stream(key):
                await asyncio.to_thread(file.write, chunk)

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove objects, with what an interrupted write left of them. Absent ones are fine.

        Raises:
            StorageUnavailable: if their absence would say nothing.
        """
        await self._check(keys)
        try:
            await obstore.delete_async(self._store, list(keys))
        except FileNotFoundError:  # which leaves others of the batch where they are
            for key in keys:
                with contextlib.suppress(FileNotFoundError):
                    await obstore.delete_async(self._store, key)
        if self._root is not None:
            await asyncio.to_thread(_remove_staged, self._root, keys)

    async def list_keys(self, prefix: str | None = None) -> AsyncIterator[str]:
        """Yield the keys of all objects below a prefix (whole path parts)."""
        async for batch in obstore.list(self._store, prefix):
            for entry in batch:
                if not entry["path"].endswith(f"/{_MARK}"):
                    yield entry["path"]

    async def has(self, key: str) -> bool:
        """Whether there is an object under the key.

        Raises:
            StorageUnavailable: if the storage does not answer.
        """
        try:
            await obstore.head_async(self._store, key)
        except FileNotFoundError:
            return False
        except BaseError as error:
            raise StorageUnavailable from error
        return True

    async def mark(self, service: str) -> None:
        """Note that this is where the service's blobs are. Its keys begin with its name."""
        await obstore.put_async(self._store, _mark_of(service), b"", use_multipart=False)

    async def is_marked(self, service: str) -> bool:
        """Whether this is where the service's blobs are."""
        return await self.has(_mark_of(service))

    async def _found(self, key: str) -> "GetResult":
        try:
            return await obstore.get_async(self._store, key)
        except FileNotFoundError:
            await self._check([key])
            raise BlobNotFound(key) from None

    @property
    def _root(self) -> Path | None:
        """The directory, None where objects are in a bucket."""
        prefix = self._store.prefix if isinstance(self._store, LocalStore) else None
        return None if prefix is None else Path(prefix)

    async def _check(self, keys: Sequence[str]) -> None:
        for service in {key.partition("/")[0] for key in keys}:
            if not await self.is_marked(service):
                raise StorageUnavailable


def _mark_of(service: str) -> str:
    return f"{service}/{_MARK}"


def _remove_staged(root: Path, keys: Sequence[str]) -> None:
    """Remove the files `<key>#<anything>` that killed writers leave in a directory, reading each folder once."""
    wanted = {root / key for key in keys}
    for folder in {path.parent for path in wanted}:
        for staged in folder.glob("*#*"):
            if staged.with_name(staged.name.rpartition("#")[0]) in wanted:
                staged.unlink(missing_ok=True)
        _remove_empty(root, folder)


def _remove_empty(root: Path, folder: Path) -> None:
    """Remove the folders that one thing alone had, from the inside out; those that many share stay."""
    with contextlib.suppress(OSError):
        while len(folder.relative_to(root).parts) > _SHARED_DEPTH:
            folder.rmdir()
            folder = folder.parent


_RESERVE = """
INSERT INTO blobs (key, state, expires_at)
SELECT unnest($1::text[]), 'pending', now() + make_interval(secs => $2)
"""
_EXTEND = """
UPDATE blobs SET expires_at = now() + make_interval(secs => $2) WHERE key = $1 AND state = 'pending' RETURNING true
"""
_COMMIT = """
UPDATE blobs SET state = 'live', size = written.size, expires_at = NULL
FROM unnest($1::text[], $2::bigint[]) AS written (key, size)
WHERE blobs.key = written.key AND blobs.state = 'pending' RETURNING blobs.key
"""
_SAMPLE = "SELECT key FROM blobs WHERE state = 'live' LIMIT $1"
_ABANDON = "UPDATE blobs SET state = 'deleting', expires_at = now() WHERE key = $1 AND state = 'pending'"
_IS_LIVE = "SELECT true FROM blobs WHERE key = $1 AND state = 'live'"
_RELEASE = "UPDATE blobs SET state = 'deleting', expires_at = now() WHERE key = ANY($1::text[])"
_COLLECT = """
UPDATE blobs SET state = 'deleting', expires_at = now() + make_interval(secs => $1)
WHERE key IN (
    SELECT key FROM blobs WHERE state <> 'live' AND expires_at <= now() ORDER BY expires_at LIMIT $2
    FOR UPDATE SKIP LOCKED
)
RETURNING key
"""
_GONE = "DELETE FROM blobs WHERE key = ANY($1::text[]) AND state = 'deleting'"


async def claim(pool: Pool, store: BlobStore, service: str) -> None:
    """See to it, before anything else, that the storage is marked as the one that holds the service's blobs.

    Raises:
        StorageUnavailable: if it is not the one that holds those that are live.
    """
    if await store.is_marked(service):
        return
    live = [row["key"] for row in await pool.fetch(_SAMPLE, _SAMPLES)]
    if live and not any([await store.has(key) for key in live]):
        raise StorageUnavailable
    await store.mark(service)


async def reserve(pool: Pool, *keys: str, seconds: float) -> None:
    """Announce blobs before their first byte. Keys are never used twice."""
    await pool.execute(_RESERVE, keys, seconds)


async def extend(pool: Pool, key: str, seconds: float) -> None:
    """Give a pending blob's writer more time.

    Raises:
        BlobExpired: if it was given up.
    """
    if not await pool.fetchval(_EXTEND, key, seconds):
        raise BlobExpired(key)


async def commit(connection: Connection, sizes: Mapping[str, int]) -> None:
    """Make pending blobs live, in the transaction that makes their owner true. `sizes` are in bytes, by key.

    Raises:
        BlobExpired: if one was given up.
    """
    live = {row["key"] for row in await connection.fetch(_COMMIT, list(sizes), list(sizes.values()))}
    if given_up := sizes.keys() - live:
        raise BlobExpired(min(given_up))


async def abandon(connection: Connection, key: str) -> bool:
    """Give up an object; return whether it can never be wanted any more.

    One that is live stays: its commit may have gone through unheard.
    """
    await connection.execute(_ABANDON, key)
    # A statement of its own: the one before may have waited for that very commit.
    return not await connection.fetchval(_IS_LIVE, key)


async def release(connection: Connection, keys: Sequence[str]) -> None:
    """Say, in the transaction that makes it true, that nobody wants these blobs any more."""
    await connection.execute(_RELEASE, list(keys))


class Collector:
    """Removes the blobs of one schema that nobody wants, looking for them every so many seconds."""

    def __init__(self, pool: Pool, store: BlobStore, every_seconds: float) -> None:
        self._pool = pool
        self._store = store
        self._every = every_seconds

    async def run(self) -> None:
        """Collect until cancelled."""
        while True:
            if await self.collect() < _COLLECT_BATCH:
                await asyncio.sleep(self._every)

    async def collect(self) -> int:
        """Remove one batch; return how many. A removal that fails is tried again after a minute."""
        rows = await self._pool.fetch(_COLLECT, _TRY_AGAIN_SECONDS, _COLLECT_BATCH)
        keys = [row["key"] for row in rows]
        if keys:
            await self._store.delete(keys)
            await self._pool.execute(_GONE, keys)
        return len(keys)
