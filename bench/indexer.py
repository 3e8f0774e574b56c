"""vectorstore's own way, in this process: from the chunk file that ingest leaves to rows that can be searched."""

import asyncio
import contextlib
import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervo.events.v1.work_pb2 import EmbedDocument
from acervo.ingest.v1.chunks_pb2 import ChunkFileHeader
from bench.ground import CHUNK_OVERLAP, CHUNK_SIZE, Ground
from services.ingest.pool.records import head, write_chunks
from services.ingest.splitter import split
from services.shared.auth import ServiceTokens
from services.shared.blobs import BlobStore
from services.shared.bus import EMBED, Lane, lane_subject
from services.shared.client import Peers
from services.shared.db import Pool, open_pool
from services.shared.ids import uuid7
from services.shared.jobs import Work
from services.shared.readers.result import Page, Parsed
from services.vectorstore import wire
from services.vectorstore.chunk_file import key
from services.vectorstore.embedding import Embedders, EmbeddingCache
from services.vectorstore.indexing import STAGE, Indexing

_FIRST = 1
"""Attempt and epoch of everything here."""


@dataclass(frozen=True, slots=True)
class Written:
    """A document whose chunk file is in blob storage."""

    id: UUID
    chunks: int


class Indexer:
    """Writes chunk files as ingest does, and indexes them as a worker of vectorstore does, `slots` at once."""

    def __init__(self, pool: Pool, store: BlobStore, indexing: Indexing, slots: int) -> None:
        self.pool = pool
        self._store = store
        self._indexing = indexing
        self._slots = slots

    async def write(self, base: KnowledgeBase, text: str, number: int) -> Written:
        """Leave the chunk file of one text."""
        parsed = Parsed((Page(1, text),))
        file = io.BytesIO()
        count = write_chunks(parsed, split(parsed.text, CHUNK_SIZE, CHUNK_OVERLAP), file)
        document_id = uuid7()
        header = ChunkFileHeader(
            document_id=str(document_id),
            attempt=_FIRST,
            epoch=_FIRST,
            knowledge_base_id=base.id,
            collection_name=base.collection_name,
            chunk_count=count,
            filename=f"document-{number}.txt",
            kind="txt",
            source="upload",
            version=_FIRST,
        )
        await self._store.put(key(document_id, _FIRST, _FIRST), head(header) + file.getvalue())
        return Written(document_id, count)

    async def index(self, documents: Sequence[Written]) -> None:
        """Embed and store documents."""
        waiting = iter(documents)

        async def some() -> None:
            for document in waiting:
                await self._indexing.index(_work(document.id), _FIRST)

        await asyncio.gather(*(some() for _ in range(self._slots)))


def _work(document_id: UUID) -> Work:
    message = EmbedDocument(document_id=str(document_id), attempt=_FIRST, parse_epoch=_FIRST)
    subject = lane_subject(EMBED, Lane.BULK)
    return Work(document_id, STAGE, _FIRST, Lane.BULK, document_id, subject, message.SerializeToString())


@contextlib.asynccontextmanager
async def indexer(ground: Ground) -> AsyncIterator[Indexer]:
    """Act as a worker of the ground's vectorstore."""
    settings = ground.vectorstore()
    store = BlobStore.open(settings.blob_url)
    await store.mark("ingest")
    peers = Peers(settings, ServiceTokens(settings.service_tokens))
    embedders = Embedders()
    pool = await open_pool(
        settings.database_url, size=settings.database_pool, application="bench", prepare=wire.prepare
    )
    indexing = Indexing(
        pool,
        store,
        peers,
        EmbeddingCache(pool, embedders),
        worker="bench",
        lease_seconds=settings.lease_seconds,
        heartbeat_seconds=settings.heartbeat_seconds,
    )
    try:
        yield Indexer(pool, store, indexing, settings.embed_slots)
    finally:
        await pool.close()
        await peers.close()
        await embedders.close()
