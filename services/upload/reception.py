"""Takes the bytes of a file into blob storage, and keeps the file once all of them are there and right."""

import contextlib
import time
from collections.abc import AsyncIterator, Callable
from uuid import UUID

from services.shared import bases, blobs
from services.shared.blobs import BlobExpired, BlobStore, StorageUnavailable
from services.shared.db import DISCONNECTED, Pool
from services.shared.endings import to_the_end
from services.shared.errors import Unavailable
from services.shared.idempotency import Call
from services.upload import files, requests
from services.upload.files import File, blob_key
from services.upload.intake import Content, Intake
from services.upload.requests import Made


class Repeated(Exception):
    """The same request was finished by another call while this one was streaming. `made` is what it made."""

    def __init__(self, made: Made) -> None:
        self.made = made
        super().__init__()


class Reception:
    """Receives files. What is not kept in the end leaves nothing behind that would not be collected."""

    def __init__(
        self, pool: Pool, store: BlobStore, *, answer_seconds: float, pending_seconds: float
    ) -> None:
        self._pool = pool
        self._store = store
        self._answer_seconds = answer_seconds
        self._pending_seconds = pending_seconds

    async def receive(
        self,
        file_id: UUID,
        parts: AsyncIterator[bytes],
        intake: Intake,
        describe: Callable[[Content], File],
        call: Call,
    ) -> File:
        """Store the bytes and keep the file as received, in one transaction with its bytes and its request.

        Raises:
            AcervoError: as `Intake`; BASE_DELETED; UNAVAILABLE where the upload took longer than its blob was held.
            Repeated: if the request was made before.
        """
        key = blob_key(file_id)
        try:
            await blobs.reserve(self._pool, key, seconds=self._pending_seconds)
            file = describe(await self._write(key, parts, intake))
            await to_the_end(self._keep(file, call))
        except BlobExpired:
            await to_the_end(self._give_up(key))
            raise Unavailable from None
        except BaseException:
            await to_the_end(self._give_up(key))
            raise
        return file

    async def _write(self, key: str, parts: AsyncIterator[bytes], intake: Intake) -> Content:
        extended = time.monotonic()
        async with self._store.writer(key) as writer:
            async for part in parts:
                intake.take(part)
                await writer.write(part)
                if time.monotonic() - extended > self._pending_seconds / 3:
                    await blobs.extend(self._pool, key, self._pending_seconds)
                    extended = time.monotonic()
            return intake.finish()

    async def _keep(self, file: File, call: Call) -> None:
        async with self._pool.acquire() as connection, connection.transaction():
            await bases.hold(connection, file.knowledge_base_id, file.id)
            made = await requests.note(connection, call, file.id)
            if made is not None:
                raise Repeated(made)
            await blobs.commit(connection, {file.blob_key: file.size})
            await files.insert(connection, file, self._answer_seconds)

    async def _give_up(self, key: str) -> None:
        with contextlib.suppress(*DISCONNECTED, StorageUnavailable):  # then it is collected once it expires
            async with self._pool.acquire() as connection:
                unwanted = await blobs.abandon(connection, key)
            if unwanted:
                await self._store.delete([key])
