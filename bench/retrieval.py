"""How well search finds: nDCG@10 of both legs and of their fusion, on public sets of questions and judgements.

    python -m bench.retrieval SETS [--model NAME] [--sets NAME,...] [--questions N]

SETS is a directory of `<name>.json.gz`: `{corpus: {id: text}, queries: {id: text}, qrels: {query id: [document id]}}`.
Each text is stored as one chunk and searched through the service's own code, on a PostgreSQL of its own.
"""

import argparse
import asyncio
import gzip
import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from uuid import UUID

from rich.console import Console
from rich.table import Table

from acervo.ingest.v1.chunks_pb2 import Chunk
from bench.ground import ground
from services.shared import jobs
from services.shared.bus import EMBED, Lane, lane_subject
from services.shared.db import Pool, open_pool
from services.shared.ids import uuid7
from services.shared.jobs import Claim, Work
from services.vectorstore import storing, wire
from services.vectorstore.chunk_file import SLICE_CHUNKS
from services.vectorstore.embedding import Embedders, Urgency
from services.vectorstore.indexing import STAGE
from services.vectorstore.models import DEFAULT_MODEL, Space, installed
from services.vectorstore.rows import Rows
from services.vectorstore.search import Base, Legs, Query, Searcher
from services.vectorstore.storing import Document
from services.vectorstore.terms import Lexicon

DEPTH = 10
_SLOTS = 2


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Texts, and questions with the ids of the texts that answer them."""

    name: str
    texts: dict[str, str]
    questions: list[tuple[str, frozenset[str]]]

    @classmethod
    def load(cls, path: Path, questions: int | None = None) -> "RetrievalSet":
        """Read a set, with its first `questions` that have a judgement."""
        data = json.loads(gzip.decompress(path.read_bytes()))
        judged = ((text, frozenset(data["qrels"].get(key, ()))) for key, text in data["queries"].items())
        asked = list(islice((entry for entry in judged if entry[1]), questions))
        texts = {key: text for key, text in data["corpus"].items() if text.strip()}
        return cls(path.name.removesuffix(".json.gz"), texts, asked)


@dataclass(frozen=True, slots=True)
class Figures:
    """nDCG@10 of each leg alone, and of both."""

    name: str
    vector: float
    lexical: float
    hybrid: float

    @property
    def gain(self) -> float:
        """What fusing adds to the better leg."""
        return self.hybrid - max(self.vector, self.lexical)


def ndcg(found: Sequence[str], relevant: Collection[str]) -> float:
    """Return nDCG@10 under binary relevance."""
    gain = sum(1 / math.log2(place + 2) for place, key in enumerate(found[:DEPTH]) if key in relevant)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(DEPTH, len(relevant))))
    return gain / ideal


async def measure(pool: Pool, embedders: Embedders, data: RetrievalSet, space: Space) -> Figures:
    """Store a set in a base of its own and ask its questions."""
    base = Base(uuid7(), f"set_{data.name.replace('-', '_')}_{uuid7().hex[-8:]}", space)
    await _store(pool, embedders, base, list(data.texts.values()))
    searcher = Searcher(pool, embedders)
    keys = list(data.texts)
    waiting = iter(data.questions)
    sums = dict.fromkeys(Legs, 0.0)

    async def ask() -> None:
        for question, relevant in waiting:
            for legs in Legs:
                passages = await searcher.search(Query(question, [base], DEPTH, legs, "bench"))
                sums[legs] += ndcg([keys[passage.ordinal] for passage in passages], relevant)

    await asyncio.gather(*(ask() for _ in range(_SLOTS)))
    vector, lexical, hybrid = (
        sums[legs] / len(data.questions) for legs in (Legs.VECTOR, Legs.LEXICAL, Legs.BOTH)
    )
    return Figures(data.name, vector, lexical, hybrid)


async def _store(pool: Pool, embedders: Embedders, base: Base, texts: Sequence[str]) -> None:
    document_id = uuid7()
    chunks = [Chunk(ordinal=ordinal, text=text) for ordinal, text in enumerate(texts)]
    vectors = await embedders.embed_documents(base.space, texts, Urgency.BULK, "ann")
    lexicon = Lexicon()
    with Rows(base.id, document_id, 1) as rows:
        for start in range(0, len(chunks), SLICE_CHUNKS):
            stretch = slice(start, start + SLICE_CHUNKS)
            rows.add(chunks[stretch], vectors[stretch], lexicon)
        await storing.store(
            pool, await _claim(pool, document_id), _document(base, document_id), base.space, rows
        )


async def _claim(pool: Pool, document_id: UUID) -> Claim:
    subject = lane_subject(EMBED, Lane.BULK)
    work = Work(document_id, STAGE, 1, Lane.BULK, document_id, subject, b"")
    claimed = await jobs.claim_new(pool, work, worker="bench", lease_seconds=600)
    assert isinstance(claimed, Claim), claimed
    return claimed


def _document(base: Base, document_id: UUID) -> Document:
    return Document(
        id=document_id,
        knowledge_base_id=base.id,
        collection=base.collection,
        attempt=1,
        address="",
        version=1,
        filename="set.txt",
        kind="txt",
        source="upload",
        time=None,
    )


async def _report(paths: Sequence[Path], space: Space, questions: int | None) -> list[Figures]:
    measured = []
    async with ground("access") as on:
        url = on.stack.database_urls["vectorstore"]
        embedders = Embedders()
        async with await open_pool(url, size=4, application="bench", prepare=wire.prepare) as pool:
            for path in paths:
                data = await asyncio.to_thread(RetrievalSet.load, path, questions)
                measured.append(await measure(pool, embedders, data, space))
        await embedders.close()
    return measured


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.retrieval", description="Measure how well search finds."
    )
    parser.add_argument("directory", type=Path, metavar="SETS")
    parser.add_argument("--model", default=DEFAULT_MODEL, choices=[spec.name for spec in installed()])
    parser.add_argument("--sets", default="", help="some of them, by name; all by default")
    parser.add_argument("--questions", type=int, help="of each set, at most")
    arguments = parser.parse_args()
    wanted = set(filter(None, arguments.sets.split(",")))
    paths = sorted(arguments.directory.glob("*.json.gz"))
    paths = [path for path in paths if not wanted or path.name.removesuffix(".json.gz") in wanted]
    (width,) = (spec.width for spec in installed() if spec.name == arguments.model)
    figures = asyncio.run(_report(paths, Space(arguments.model, width), arguments.questions))
    table = Table("set", "vector", "lexical", "hybrid", "against the better leg", title=arguments.model)
    for row in figures:
        table.add_row(
            row.name, *(f"{value:.3f}" for value in (row.vector, row.lexical, row.hybrid)), f"{row.gain:+.3f}"
        )
    Console().print(table)


if __name__ == "__main__":
    main()
