"""Searches: the Search RPC against the same SQL statements with the same arguments on one connection.

Beside them two calls that do nothing, one to each service that a search passes: what gRPC itself takes of it.
"""

import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg
from grpc_health.v1.health_pb2 import HealthCheckRequest
from grpc_health.v1.health_pb2_grpc import HealthStub

from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from bench.figures import Part, Ratio, Series, Step, percentile
from bench.ground import SPACE, Ground, ground
from bench.indexer import Indexer, Written, indexer
from bench.plan import Plan
from bench.texts import Corpus
from services.shared.client import open_channel
from services.shared.db import Connection, Pool, open_pool
from services.vectorstore import wire
from services.vectorstore.embedding import Embedders
from services.vectorstore.search import Base, Legs, Query, Searcher

NAME = "search"
GOAL_RATIO, GOAL_MILLISECONDS = 1.3, 3.0
"""A search may take so many times what its statements take, and so much more."""

_ALONE, _SHARED = "alone", "one_of_three"
_LIMIT = 10
_WRITTEN_TOGETHER = 50
_SERVICES = ("vectorstore", "access")
_WAYS = ("rpc", "in_process", "sql", "bare_calls")
_WARM_UP = 10


def steps(plan: Plan) -> int:
    """How many steps `measure` takes."""
    return 4 + 2 * plan.repetitions


async def measure(plan: Plan, corpus: Corpus, step: Step) -> Part:
    """Ask a base that has its collection for itself, and one that shares it with two others of its size."""
    async with ground("access", "vectorstore") as on:
        asked: dict[str, KnowledgeBase] = {}
        async with indexer(on) as worker:
            for scenario, name in ((_ALONE, "alone"), *[(_SHARED, "shared")] * 3):
                asked[scenario] = await _filled(on, worker, corpus, name, plan.chunks)
                step()
            await worker.pool.execute("VACUUM ANALYZE")
        questions = corpus.questions(plan.questions, plan.seed)
        part = Part(NAME, f"Search of a base of {plan.chunks} chunks, 256 wide, {_LIMIT} passages")
        async with _asking(on) as asking:
            for scenario, base in asked.items():
                await asking.rounds(base, questions[:_WARM_UP])
                measured = []
                for _ in range(plan.repetitions):
                    measured.append(await asking.rounds(base, questions))
                    step()
                _add(part, scenario, measured)
    return part


async def _filled(on: Ground, worker: Indexer, corpus: Corpus, name: str, chunks: int) -> KnowledgeBase:
    """Make a base of at least so many chunks."""
    base = await on.base(name)
    number = 0
    while chunks > 0:
        written: list[Written] = []
        while chunks > 0 and len(written) < _WRITTEN_TOGETHER:
            written.append(await worker.write(base, corpus.document(number), number))
            chunks -= written[-1].chunks
            number += 1
        await worker.index(written)
    return base


@dataclass(frozen=True, slots=True)
class _Asking:
    """The ways to ask. `sent` gets the statements of the searches in this process."""

    on: Ground
    searcher: Searcher
    sent: list[tuple[str, Sequence[Any]]]
    connection: Connection
    health: "Sequence[HealthStub]"
    """Of the services that a search passes."""

    async def rounds(self, base: KnowledgeBase, questions: Sequence[str]) -> dict[str, list[float]]:
        """Ask each question in each way, one after the other; return the milliseconds of each."""
        times: dict[str, list[float]] = {way: [] for way in _WAYS}
        ways = (self._rpc, self._in_process, self._sql, self._bare_calls)
        for question in questions:
            for way, ask in zip(_WAYS, ways, strict=True):
                started = time.perf_counter()
                await ask(base, question)
                times[way].append((time.perf_counter() - started) * 1000)
        return times

    async def _rpc(self, base: KnowledgeBase, question: str) -> None:
        found = await self.on.client.search(question, knowledge_base_ids=[base.id], top_k=_LIMIT)
        assert found, "nothing was found"

    async def _in_process(self, base: KnowledgeBase, question: str) -> None:
        self.sent.clear()
        bases = [Base(UUID(base.id), base.collection_name, SPACE)]
        await self.searcher.search(Query(question, bases, _LIMIT, Legs.BOTH, "bench"))

    async def _sql(self, base: KnowledgeBase, question: str) -> None:
        """Send again what the search before has sent."""
        for statement, arguments in self.sent:
            await self.connection.fetch(statement, *arguments)

    async def _bare_calls(self, base: KnowledgeBase, question: str) -> None:
        for service in self.health:
            await service.Check(HealthCheckRequest())


@contextlib.asynccontextmanager
async def _asking(on: Ground) -> AsyncIterator[_Asking]:
    sent: list[tuple[str, Sequence[Any]]] = []

    def note(query: asyncpg.connection.LoggedQuery) -> None:
        if query.args:
            sent.append((query.query, query.args))

    embedders = Embedders()
    async with contextlib.AsyncExitStack() as stack:
        lent = [await stack.enter_async_context(await _pool(on)) for _ in range(2)]
        async with lent[0].acquire() as logged:
            logged.add_query_logger(note)
        connection = await stack.enter_async_context(lent[1].acquire())
        channels = [
            await stack.enter_async_context(open_channel(on.stack.addresses[service]))
            for service in _SERVICES
        ]
        health = [HealthStub(channel) for channel in channels]
        yield _Asking(on, Searcher(lent[0], embedders), sent, connection, health)
    await embedders.close()


async def _pool(on: Ground) -> Pool:
    """Open a pool of one connection, prepared as the service prepares its own."""
    url = on.stack.database_urls["vectorstore"]
    return await open_pool(url, size=1, application="bench", prepare=wire.prepare)


def _add(part: Part, scenario: str, measured: Sequence[dict[str, list[float]]]) -> None:
    shares = (("p50", 0.5), ("p99", 0.99))
    series = {
        (way, label): Series(
            f"{scenario}_{way}_{label}", "ms", [percentile(repetition[way], share) for repetition in measured]
        )
        for way in _WAYS
        for label, share in shares
    }
    part.series += series.values()
    for label, _ in shares:
        rpc, sql = series["rpc", label], series["sql", label]
        part.ratios.append(Ratio(f"{scenario}: rpc / sql, {label}", rpc, sql))
    part.notes.append(_verdict(scenario, series["rpc", "p50"], series["sql", "p50"]))


def _verdict(scenario: str, rpc: Series, sql: Series) -> str:
    allowed = GOAL_RATIO * sql.spread.median + GOAL_MILLISECONDS
    met = "met" if rpc.spread.median <= allowed else "missed"
    goal = f"{GOAL_RATIO} x SQL + {GOAL_MILLISECONDS:g} ms = {allowed:.2f} ms"
    return f"{scenario}: p50 {rpc.spread.median:.2f} ms, goal {goal}: {met}"
