"""What vectorstore hears on the bus: decode, call. Every handler may be called again with the same message."""

from collections.abc import Mapping

from acervo.events.v1.facts_pb2 import BaseDeleted, BaseEmptied, DocumentDeleted
from acervo.events.v1.work_pb2 import EmbedDocument
from services.shared import bus
from services.shared.broker import Delivery, Handler, read_id
from services.shared.bus import Lane
from services.shared.db import Pool
from services.shared.jobs import Work
from services.shared.turns import Turns
from services.vectorstore import forgetting
from services.vectorstore.indexing import STAGE, Indexing


def work(indexing: Indexing, turns: Turns, lane: Lane) -> Handler:
    """The handler of work to embed in a lane. A document is claimed once its turn has come."""

    async def embed(delivery: Delivery) -> None:
        message = EmbedDocument.FromString(delivery.data)
        document_id = read_id(message.document_id)
        tenant_id = read_id(message.tenant_id or message.document_id)
        job = Work(document_id, STAGE, message.attempt, lane, tenant_id, delivery.subject, delivery.data)
        async with turns.of(tenant_id, lane):
            await indexing.index(job, message.parse_epoch)

    return embed


def facts(pool: Pool) -> Mapping[str, Handler]:
    """The handlers of facts, by subject."""

    async def document_deleted(delivery: Delivery) -> None:
        message = DocumentDeleted.FromString(delivery.data)
        await forgetting.forget_document(pool, read_id(message.document_id))

    async def base_deleted(delivery: Delivery) -> None:
        message = BaseDeleted.FromString(delivery.data)
        await forgetting.forget_base(
            pool,
            read_id(message.knowledge_base_id),
            read_id(message.teardown_id),
            message.collection_name,
            last_holder=message.last_holder,
        )

    async def base_emptied(delivery: Delivery) -> None:
        message = BaseEmptied.FromString(delivery.data)
        before = read_id(message.emptied_before)
        await forgetting.empty_base(
            pool, read_id(message.knowledge_base_id), read_id(message.teardown_id), before
        )

    return {
        bus.DOCUMENT_DELETED: document_deleted,
        bus.BASE_DELETED: base_deleted,
        bus.BASE_EMPTIED: base_emptied,
    }
