"""What ingest hears on the bus: decode, call. Every handler may be called again with the same message."""

from collections.abc import Mapping

from acervo.events.v1.facts_pb2 import BaseDeleted, BaseEmptied, DocumentFailed, DocumentIndexed
from acervo.events.v1.work_pb2 import ParseDocument
from services.ingest import outcomes, removal
from services.ingest.parsing import Parsing
from services.shared import bus
from services.shared.broker import Delivery, Handler, read_id
from services.shared.bus import Lane
from services.shared.db import Pool
from services.shared.turns import Turns


def work(parsing: Parsing, turns: Turns, lane: Lane) -> Handler:
    """The handler of work to parse in a lane. A document is claimed once its turn has come."""

    async def parse(delivery: Delivery) -> None:
        message = ParseDocument.FromString(delivery.data)
        document_id = read_id(message.document_id)
        tenant = read_id(message.tenant_id or message.document_id)
        is_long = await parsing.is_long(document_id, message.attempt)
        async with turns.of(tenant, lane, is_long=is_long):
            await parsing.parse(document_id, message.attempt)

    return parse


def facts(pool: Pool) -> Mapping[str, Handler]:
    """The handlers of facts, by subject."""

    async def indexed(delivery: Delivery) -> None:
        message = DocumentIndexed.FromString(delivery.data)
        fact = outcomes.Indexed(
            document_id=read_id(message.document_id),
            attempt=message.attempt,
            chunk_count=message.chunk_count,
            retired_ids=[read_id(text) for text in message.retired_document_ids],
            superseded=message.superseded,
        )
        await outcomes.index(pool, fact)

    async def failed(delivery: Delivery) -> None:
        message = DocumentFailed.FromString(delivery.data)
        await outcomes.fail_embed(pool, read_id(message.document_id), message.attempt, message.reason)

    async def base_deleted(delivery: Delivery) -> None:
        message = BaseDeleted.FromString(delivery.data)
        await removal.bury_base(pool, read_id(message.knowledge_base_id), read_id(message.teardown_id))

    async def base_emptied(delivery: Delivery) -> None:
        message = BaseEmptied.FromString(delivery.data)
        before = read_id(message.emptied_before)
        await removal.empty_base(
            pool, read_id(message.knowledge_base_id), before, read_id(message.teardown_id)
        )

    return {
        bus.DOCUMENT_INDEXED: indexed,
        bus.DOCUMENT_FAILED: failed,
        bus.BASE_DELETED: base_deleted,
        bus.BASE_EMPTIED: base_emptied,
    }
