"""Storing, by chunks a second: the whole path and vectorstore's own, against a bare COPY of the very same rows."""

import time
from itertools import count
from pathlib import Path
from uuid import UUID

from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervoctl.ingesting import Stage, ingest_files
from bench.cpu import milliseconds_each, used
from bench.figures import Part, Ratio, Series, Step, interleaved
from bench.floor import BareTable, rows_of
from bench.ground import Ground, ground
from bench.indexer import Indexer, indexer
from bench.plan import Plan
from bench.texts import Corpus
from services.shared.db import Connection
from services.shared.names import table_name
from services.vectorstore.tables import SCHEMA

NAME = "store"
_IDS = "SELECT document_id FROM rag_documents WHERE knowledge_base_id = $1 ORDER BY document_id"


def steps(plan: Plan) -> int:
    """How many steps `measure` takes."""
    return 4 * plan.repetitions


async def measure(plan: Plan, corpus: Corpus, step: Step) -> Part:
    """Store the same texts in each way, each time into another collection."""
    async with ground("access", "upload", "ingest", "vectorstore") as on, indexer(on) as worker:
        storing = _Storing(plan, corpus, on, worker)
        async with worker.pool.acquire() as connection:
            await storing.prepare(connection)
            plain, indexed = storing.plain, storing.indexed
            seconds = await interleaved(
                plan.repetitions,
                {
                    "whole_path": storing.whole_path,
                    "vectorstore": storing.vectorstore,
                    "copy_plain": lambda: plain.copy(connection, storing.rows),
                    "copy_indexed": lambda: indexed.copy(connection, storing.rows),
                },
                step,
            )
    return _part(seconds, plan, storing)


class _Storing:
    """The ways, and what they share.

    `rows` are those of all documents, as the whole path has stored them; `computed` is the processor time of each run
    of the whole path, in seconds.
    """

    def __init__(self, plan: Plan, corpus: Corpus, on: Ground, worker: Indexer) -> None:
        self._texts = [corpus.document(number) for number in range(plan.documents)]
        self._on = on
        self._worker = worker
        self._numbers = count(1)
        self.plain, self.indexed = BareTable("bench_plain"), BareTable("bench_indexed")
        self.rows: list[bytes] = []
        self.chunks = 0
        self.computed: list[float] = []

    async def prepare(self, connection: Connection) -> None:
        """Store once for the floor's sake, which also warms up what is there."""
        base = await self._next_base()
        self._files = [self._file(number, text) for number, text in enumerate(self._texts)]
        await self._ingest(base)
        table = f"{SCHEMA}.{table_name(base.collection_name, 1)}"
        ids = [row["document_id"] for row in await connection.fetch(_IDS, UUID(base.id))]
        self.rows = await rows_of(connection, table, ids)
        self.chunks = await connection.fetchval(f"SELECT count(*) FROM {table}")  # noqa: S608 - our own name
        await self.plain.create(connection, table, indexes=False)
        await self.indexed.create(connection, table, indexes=True)

    async def whole_path(self) -> float:
        """Upload all documents as `acervo ingest` does, until all are done; return the seconds."""
        base = await self._next_base()
        before = used(self._on.stack)
        seconds = await self._ingest(base)
        self.computed.append(used(self._on.stack) - before)
        return seconds

    async def vectorstore(self) -> float:
        """Embed and store all documents from their chunk files, in this process; return the seconds."""
        base = await self._next_base()
        written = [await self._worker.write(base, text, number) for number, text in enumerate(self._texts)]
        started = time.perf_counter()
        await self._worker.index(written)
        seconds = time.perf_counter() - started
        stored = await self._worker.pool.fetch(_IDS, UUID(base.id))
        assert len(stored) == len(written), "not every document was stored"
        return seconds

    async def _ingest(self, base: KnowledgeBase) -> float:
        started = time.perf_counter()
        ended = await ingest_files(
            self._on.client,
            self._files,
            knowledge_base_id=base.id,
            replace_older=True,
            on_change=lambda _: None,
        )
        seconds = time.perf_counter() - started
        assert all(status.stage is Stage.DONE for status in ended), "not every document is done"
        return seconds

    async def _next_base(self) -> KnowledgeBase:
        return await self._on.base(f"store_{next(self._numbers)}")

    def _file(self, number: int, text: str) -> Path:
        path = self._on.folder / f"document-{number}.txt"
        path.write_text(text)
        return path


def _part(seconds: dict[str, list[float]], plan: Plan, storing: _Storing) -> Part:
    chunks = storing.chunks
    rates = {
        name: Series(name, "chunks/s", [chunks / value for value in values])
        for name, values in seconds.items()
    }
    documents = Series(
        "whole_path_documents", "documents/s", [plan.documents / s for s in seconds["whole_path"]]
    )
    computed = milliseconds_each(storing.computed, plan.documents)
    ratios = [
        Ratio(f"{ours} / {floor}", rates[ours], rates[floor])
        for ours in ("whole_path", "vectorstore")
        for floor in ("copy_plain", "copy_indexed")
    ]
    return Part(
        NAME,
        f"Storing of {plan.documents} documents, {chunks} chunks of at most 500 characters",
        [*rates.values(), documents, Series("whole_path_cpu", "ms/document", computed)],
        ratios,
        [
            "The floor copies ready rows, a transaction a document, into a table without or with the same indexes."
        ],
    )
