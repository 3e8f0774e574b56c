"""Bytes in blob storage, and the rows that say which of them are wanted.

A blob has a row before its first byte: `pending` until its writer must be done, `live` from the transaction that makes
its owner true, `deleting` once nobody wants it. `Collector` removes what expired while pending and what is deleting;
nothing is ever removed by its age alone.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, Self
from urllib.parse import urlsplit

import obstore
from obstore.store import LocalStore, ObjectStore, from_url

from services.shared.db import Connection, Pool
from services.shared.staged_file import staged_file

log = logging.getLogger(__name__)

# Buckets want parts of 5 MiB at least.
_PART_BYTES = 8 * 1024 * 1024
_PARTS_IN_FLIGHT = 2
_READ_CHUNK_BYTES = 1024 * 1024
# Keys begin with the service and the kind of thing, such as `ingest/pages`; what follows is one thing's own.
_SHARED_DEPTH = 2
_COLLECT_BATCH = 256
_TRY_AGAIN_SECONDS = 60.0


class BlobNotFound(Exception):
    """There is no object under the key."""


class BlobExpired(Exception):
    """A blob was not finished in time, or not wanted any more, so that it cannot become live."""


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
        """
        if isinstance(self._store, LocalStore) and self._store.prefix is not None:
            try:
                async with staged_file(Path(self._store.prefix) / key) as file:
                    yield file
            except FileNotFoundError:
                raise BlobExpired(key) from None
            return
        async with obstore.open_writer_async(
            self._store, key, buffer_size=_PART_BYTES, max_concurrency=_PARTS_IN_FLIGHT
        ) as writer:
            yield writer

    async def put(self, key: str, data: bytes) -> None:
        """Store an object at once."""
        await obstore.put_async(self._store, key, data, use_multipart=False)

    async def get(self, key: str) -> bytes:
        """Return an object.

        Raises:
            BlobNotFound: if it is not there.
        """
        try:
            result = await obstore.get_async(self._store, key)
            return bytes(await result.bytes_async())
        except FileNotFoundError:
            raise BlobNotFound(key) from None

    async def stream(self, key: str) -> AsyncIterator[bytes]:
        """Yield an object's bytes in chunks of about 1 MiB.

        Raises:
            BlobNotFound: if it is not there.
        """
        try:
            result = await obstore.get_async(self._store, key)
        except FileNotFoundError:
            raise BlobNotFound(key) from None
        async for chunk in result.stream(min_chunk_size=_READ_CHUNK_BYTES):
            yield bytes(chunk)

    async def download(self, key: str, path: Path) -> None:
        """Copy an object into a file.

        Raises:
            BlobNotFound: if it is not there.
        """
        with path.open("wb") as file:
            async for chunk in self.stream(key):
                await asyncio.to_thread(file.write, chunk)

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove objects, with what an interrupted write left of them. Absent ones are fine."""
        try:
            await obstore.delete_async(self._store, list(keys))
        except FileNotFoundError:  # which leaves others of the batch where they are
            for key in keys:
                with contextlib.suppress(FileNotFoundError):
                    await obstore.delete_async(self._store, key)
        if isinstance(self._store, LocalStore) and self._store.prefix is not None:
            await asyncio.to_thread(_remove_staged, Path(self._store.prefix), keys)

    async def list_keys(self, prefix: str | None = None) -> AsyncIterator[str]:
        """Yield the keys of all objects below a prefix (whole path parts)."""
        async for batch in obstore.list(self._store, prefix):
            for entry in batch:
                yield entry["path"]


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
_ABANDON = "UPDATE blobs SET state = 'deleting', expires_at = now() WHERE key = $1 AND state = 'pending'"
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


async def abandon(connection: Connection, key: str) -> None:
    """Give up an object that was not finished. One that is live stays: its commit may have gone through unheard."""
    await connection.execute(_ABANDON, key)


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
