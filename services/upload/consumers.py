"""What upload hears on the bus."""

from acervo.events.v1.facts_pb2 import BaseDeleted, BaseEmptied, DocumentDeleted, DocumentFinished
from services.shared import bus
from services.shared.broker import Delivery, Handler, read_id
from services.shared.db import Pool
from services.upload import files, removal, requests


class Consumers:
    """Handles the facts of other services. Each handler may be called again with the same fact."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def handlers(self) -> dict[str, Handler]:
        """The handler of each subject that upload hears."""
        return {
            bus.DOCUMENT_FINISHED: self.document_finished,
            bus.DOCUMENT_DELETED: self.document_deleted,
            bus.BASE_DELETED: self.base_deleted,
            bus.BASE_EMPTIED: self.base_emptied,
        }

    async def document_finished(self, delivery: Delivery) -> None:
        """A document is done or failed: bytes that were kept for its sake alone go."""
        fact = DocumentFinished.FromString(delivery.data)
        file_id, document_id = read_id(fact.file_id), read_id(fact.document_id)
        if await files.is_kept(self._pool, file_id):
            return
        async with self._pool.acquire() as connection, connection.transaction():
            discarded = await files.lock(connection, file_id)
            await files.mark_tracked(connection, file_id, document_id)
            if discarded:
                await removal.remove(connection, [file_id])

    async def document_deleted(self, delivery: Delivery) -> None:
        """A document is gone: so is its file."""
        fact = DocumentDeleted.FromString(delivery.data)
        file_id, document_id = read_id(fact.file_id), read_id(fact.document_id)
        async with self._pool.acquire() as connection, connection.transaction():
            await requests.answer(connection, file_id, document_id, already_present=False)
            await removal.remove(connection, [file_id])

    async def base_deleted(self, delivery: Delivery) -> None:
        """A base is gone: so are its files."""
        fact = BaseDeleted.FromString(delivery.data)
        await removal.bury_base(self._pool, read_id(fact.knowledge_base_id), read_id(fact.teardown_id))

    async def base_emptied(self, delivery: Delivery) -> None:
        """A base starts anew: the files that it held go."""
        fact = BaseEmptied.FromString(delivery.data)
        base_id, before = read_id(fact.knowledge_base_id), read_id(fact.emptied_before)
        await removal.empty_base(self._pool, base_id, before, read_id(fact.teardown_id))
