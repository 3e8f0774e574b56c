"""Embedding in turns, over a real broker: one tenant's documents that take long keep no other's waiting."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervo.events.v1.work_pb2 import EmbedDocument
from services.shared.broker import Broker, Delivery, Outgoing
from services.shared.bus import EMBED, Lane, lane_subject
from services.shared.ids import uuid7
from services.shared.turns import Turns, pulled
from services.vectorstore import consumers
from tests.conftest import NatsServer
from tests.integration.vectorstore.stage import Document, Stage

SLOTS = 2
Eventually = Callable[..., Awaitable[None]]


async def _send(broker: Broker, stage: Stage, base: KnowledgeBase, tenant: UUID, count: int) -> None:
    """Hand over documents of a tenant, as ingest does."""
    for n in range(count):
        document = await stage.write(Document(base, [f"text {n}"]))
        message = EmbedDocument(document_id=str(document.id), attempt=1, parse_epoch=1, tenant_id=str(tenant))
        subject = lane_subject(EMBED, Lane.INTERACTIVE)
        assert await broker.publish([Outgoing(uuid7(), subject, message.SerializeToString())])


async def _dead(consumer: str, delivery: Delivery, error: str) -> None:
    raise AssertionError(f"{consumer} could not decode {delivery}: {error}")


async def test_one_tenants_many_long_documents_do_not_keep_anothers_waiting(
    stage: Stage, nats_server: NatsServer, eventually: Eventually
) -> None:
    broker, stopping, lane = (
        await Broker.connect(nats_server.url("vectorstore"), "vectorstore"),
        asyncio.Event(),
        Lane.INTERACTIVE,
    )
    await broker.ensure()
    long, short = stage.base("manuals"), stage.base("notes")
    stage.access.gates[long.id] = asyncio.Event()
    await _send(broker, stage, long, uuid7(), 12)
    await _send(broker, stage, short, uuid7(), 1)
    consuming = asyncio.create_task(
        broker.consume(
            f"embed-{lane}",
            consumers.work(stage.indexing, Turns(SLOTS), lane),
            _dead,
            slots=pulled(lane, SLOTS),
            heartbeat_seconds=20,
            stopping=stopping,
        )
    )

    async def stored(base: KnowledgeBase, count: int) -> bool:
        return len(await stage.stored(base)) == count

    await eventually(lambda: stored(short, 1))
    assert not await stage.stored(long)
    assert await stage.pool.fetchval("SELECT count(*) FROM jobs") == 2, "what waits for a turn is not claimed"
    stage.access.gates[long.id].set()
    await eventually(lambda: stored(long, 12))
    stopping.set()
    await consuming
    await broker.close()
