"""Documents as ingest hands them over, and what vectorstore makes of them, over one database."""

import io
from dataclasses import dataclass, field
from uuid import UUID

import zstandard
from google.protobuf.message import Message
from google.protobuf.proto import serialize_length_prefixed

from acervo.access.v1.access_pb2 import PERMISSION_VIEW
from acervo.access.v1.knowledge_bases_pb2 import EmbeddingSettings, KnowledgeBase
from acervo.events.v1.facts_pb2 import DocumentFailed, DocumentIndexed
from acervo.events.v1.work_pb2 import EmbedDocument
from acervo.ingest.v1.chunks_pb2 import Chunk, ChunkFileHeader
from services.shared import bus
from services.shared.blobs import BlobStore
from services.shared.bus import Lane
from services.shared.db import Pool
from services.shared.ids import uuid7
from services.shared.jobs import Work
from services.vectorstore import chunk_file, tables
from services.vectorstore.indexing import STAGE, Indexing
from services.vectorstore.models import Space
from services.vectorstore.search import Base, Legs, Passage, Query, Searcher
from tests.integration.ingest.access_double import AccessDouble

HASHING = ("hashing-256", 256)
_FACTS: dict[str, type[Message]] = {
    bus.DOCUMENT_INDEXED: DocumentIndexed,
    bus.DOCUMENT_FAILED: DocumentFailed,
}


@dataclass
class Document:
    """A document whose chunks ingest has written."""

    base: KnowledgeBase
    texts: list[str]
    id: UUID = field(default_factory=uuid7)
    attempt: int = 1
    address: str = ""
    version: int = 1
    page_starts: list[int] = field(default_factory=list)

    def work(self) -> Work:
        message = EmbedDocument(document_id=str(self.id), attempt=self.attempt, parse_epoch=1)
        subject = bus.lane_subject(bus.EMBED, Lane.INTERACTIVE)
        return Work(
            self.id, STAGE, self.attempt, Lane.INTERACTIVE, self.id, subject, message.SerializeToString()
        )


def chunk_file_of(document: Document) -> bytes:
    """A chunk file as ingest writes it."""
    header = ChunkFileHeader(
        document_id=str(document.id),
        attempt=document.attempt,
        epoch=1,
        knowledge_base_id=document.base.id,
        collection_name=document.base.collection_name,
        chunk_count=len(document.texts),
        filename=f"{document.id}.md",
        kind="md",
        address=document.address,
        version=document.version,
        source="upload",
    )
    stream = io.BytesIO()
    serialize_length_prefixed(header, stream)
    for ordinal, text in enumerate(document.texts):
        chunk = Chunk(
            ordinal=ordinal, text=text, page=ordinal + 1, start=ordinal * 100, end=ordinal * 100 + len(text)
        )
        if ordinal == 0:
            chunk.page_starts.extend(document.page_starts)
        serialize_length_prefixed(chunk, stream)
    return zstandard.ZstdCompressor().compress(stream.getvalue())


class Stage:
    """Vectorstore's own parts on a real database, with an access that does as it is told."""

    def __init__(
        self, pool: Pool, store: BlobStore, indexing: Indexing, searcher: Searcher, access: AccessDouble
    ) -> None:
        self.pool = pool
        self.store = store
        self.indexing = indexing
        self.searcher = searcher
        self.access = access

    def base(self, collection: str = "handbook", space: tuple[str, int] = HASHING) -> KnowledgeBase:
        """Make a base that exists for services."""
        model, width = space
        base = KnowledgeBase(
            id=str(uuid7()),
            collection_name=collection,
            embedding=EmbeddingSettings(model=model, width=width),
            embedding_provider="local",
        )
        self.access.grant("acervo:vectorstore", base, PERMISSION_VIEW)
        return base

    async def write(self, document: Document) -> Document:
        """Write a document's chunk file."""
        await self.store.put(chunk_file.key(document.id, document.attempt, 1), chunk_file_of(document))
        return document

    async def index(self, document: Document) -> None:
        """Hand a document over and index it."""
        await self.write(document)
        await self.indexing.index(document.work(), 1)

    async def facts(self) -> list[Message]:
        """What was put into the outbox so far, of documents."""
        rows = await self.pool.fetch("SELECT subject, payload FROM outbox ORDER BY id")
        return [_FACTS[row["subject"]].FromString(row["payload"]) for row in rows if row["subject"] in _FACTS]

    async def stored(self, base: KnowledgeBase) -> dict[UUID, list[str]]:
        """The texts that a base holds, by document."""
        async with self.pool.acquire() as connection:
            found = await tables.find(connection, [base.collection_name])
            if not found:
                return {}
            rows = await connection.fetch(
                f"SELECT document_id, text FROM {found[0].table} "
                "WHERE knowledge_base_id = $1 ORDER BY document_id, attempt, ordinal",
                UUID(base.id),
            )
        texts: dict[UUID, list[str]] = {}
        for row in rows:
            texts.setdefault(row["document_id"], []).append(row["text"])
        return texts

    async def search(
        self, text: str, *bases: KnowledgeBase, limit: int = 10, legs: Legs = Legs.BOTH
    ) -> list[Passage]:
        """Ask a question of bases."""
        asked = [
            Base(UUID(base.id), base.collection_name, Space(base.embedding.model, base.embedding.width))
            for base in bases
        ]
        return await self.searcher.search(Query(text, asked, limit, legs, "ann"))
