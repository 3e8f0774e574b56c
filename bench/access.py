"""`Resolve`: asked for a base among many bases, members and grants, against the same among ten bases.

Both deployments run side by side and are asked in turns, by a viewer who reaches bases in each way but the role alone.
"""

import contextlib
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import asyncpg
from grpc.aio import AioRpcError

from acervo.access.v1 import access_pb2
from acervo.access.v1.access_pb2_grpc import AccessServiceStub
from bench.figures import Part, Ratio, Series, Step, percentile
from bench.ground import Ground, ground
from bench.plan import Plan
from bench.texts import Corpus
from services.access import reach_sql
from services.access.bases import knowledge_bases
from services.access.reach import Caller, CallerKind, Targets, Want
from services.shared.client import call_options, open_channel
from services.shared.db import Pool, open_pool
from services.shared.ids import uuid7

NAME = "access"
GOAL_RATIO: Final = 2.0
"""However much there is, `Resolve` may take so many times what it takes in the small deployment."""

_WAYS: Final = ("organization", "team", "user_grant", "team_grant", "refused")
_SMALL_BASES: Final = 10
_MEMBERS_OF_ONE: Final = 100
_TEAMS_OF_ONE: Final = 20
_TEAMS_OF_MEMBER: Final = 3
_GRANTS_OF_SMALL: Final = 5
_CONFIG: Final = {
    "parser": "pymupdf",
    "chunk_size": 2500,
    "chunk_overlap": 200,
    "chunking_strategy": "recursive",
}
_BASE: Final = """
INSERT INTO knowledge_bases (id, scope, organization_id, owner_user_id, visibility, team_id, display_name,
                             collection_name, ingestion_config)
VALUES ($1, 'org', $2, $3, $4, $5, 'Base', $6, $7)
"""
_GRANT: Final = (
    "id",
    "knowledge_base_id",
    "organization_id",
    "grantee_kind",
    "grantee_id",
    "permission",
    "giver_user_id",
)


def steps(plan: Plan) -> int:
    """How many steps `measure` takes."""
    return 2 + plan.repetitions


async def measure(plan: Plan, corpus: Corpus, step: Step) -> Part:
    """Ask for bases in both deployments, in turns."""
    small = _Size(_SMALL_BASES, 1, _GRANTS_OF_SMALL * _SMALL_BASES)
    large = _Size(plan.bases, max(1, plan.members // _MEMBERS_OF_ONE), plan.grants)
    title = f"Resolve among {plan.bases} bases, {plan.members} members, {plan.grants} grants, and among {_SMALL_BASES}"
    part = Part(NAME, title)
    async with contextlib.AsyncExitStack() as stack:
        worlds: dict[str, _World] = {}
        for name, size in (("small", small), ("large", large)):
            on = await stack.enter_async_context(ground("access"))
            worlds[name] = await _World.filled(on, stack, size, random.Random(plan.seed))
            step()
        measured: dict[tuple[str, str], list[float]] = {}
        for world in worlds.values():
            await world.rounds(plan.questions)  # warm up
        for _ in range(plan.repetitions):
            taken = await _in_turns(worlds, plan.questions)
            for key, times in taken.items():
                measured.setdefault(key, []).append(percentile(times, 0.5))
            step()
    _add(part, measured)
    return part


@dataclass(frozen=True, slots=True)
class _Size:
    bases: int
    organizations: int
    grants: int


@dataclass(frozen=True, slots=True)
class _World:
    """A deployment, and for each way the bases that the asking person reaches by it."""

    stub: Any
    on: Ground
    pool: Pool
    caller: Caller
    asked: dict[str, Sequence[UUID]]

    @classmethod
    async def filled(
        cls, on: Ground, stack: contextlib.AsyncExitStack, size: _Size, chance: random.Random
    ) -> "_World":
        pool = await stack.enter_async_context(
            await open_pool(
                on.stack.database_urls["access"], size=1, application="bench", prepare=reach_sql.prepare
            )
        )
        channel = open_channel(on.stack.addresses["access"])
        stack.push_async_callback(channel.close)
        who = UUID((await on.client.who_am_i()).user_id)
        async with pool.acquire() as connection, connection.transaction():
            asked = await _Filling(connection, size, chance, who).run()
        await pool.execute("VACUUM ANALYZE")
        return cls(AccessServiceStub(channel), on, pool, Caller(CallerKind.PERSON, who), asked)

    async def rounds(self, number: int) -> dict[str, list[float]]:
        """Ask so often in each way; return the milliseconds of the calls, and of the statements by themselves."""
        taken: dict[str, list[float]] = {"rpc": [], "sql": []}
        for turn in range(number):
            for way in _WAYS:
                base_id = self.asked[way][turn % len(self.asked[way])]
                started = time.perf_counter()
                await self._rpc(base_id, refused=way == "refused")
                taken["rpc"].append((time.perf_counter() - started) * 1000)
                started = time.perf_counter()
                targets = Targets(frozenset({base_id}), frozenset())
                found = await knowledge_bases.resolve(self.pool, self.caller, targets, Want.VIEW)
                taken["sql"].append((time.perf_counter() - started) * 1000)
                assert bool(found) == (way != "refused"), way
        return taken

    async def _rpc(self, base_id: UUID, *, refused: bool) -> None:
        target = access_pb2.Target(knowledge_base_id=str(base_id))
        request = access_pb2.ResolveRequest(targets=[target], permission=access_pb2.PERMISSION_VIEW)
        try:
            await self.stub.Resolve(request, **call_options(self.on.stack.token()))
        except AioRpcError:
            assert refused, "the base was not reached"
        else:
            assert not refused, "the base was reached"


async def _in_turns(worlds: dict[str, _World], questions: int) -> dict[tuple[str, str], list[float]]:
    taken: dict[tuple[str, str], list[float]] = {}
    for _ in range(questions):
        for name, world in worlds.items():
            for way, times in (await world.rounds(1)).items():
                taken.setdefault((name, way), []).extend(times)
    return taken


class _Filling:
    """Makes organizations of the same shape; the asking person is a viewer of the first, in some of its teams."""

    def __init__(
        self,
        connection: "asyncpg.pool.PoolConnectionProxy[asyncpg.Record]",
        size: _Size,
        chance: random.Random,
        who: UUID,
    ) -> None:
        self._connection = connection
        self._size = size
        self._chance = chance
        self._who = who

    async def run(self) -> dict[str, Sequence[UUID]]:
        """Fill the database; return the bases that are asked for, by the way in which they are reached."""
        asked: dict[str, list[UUID]] = {way: [] for way in _WAYS}
        for number in range(self._size.organizations):
            await self._organization(asked if number == 0 else None)
        return dict(asked)

    async def _organization(self, asked: dict[str, list[UUID]] | None) -> None:
        organization, people = uuid7(), [uuid7() for _ in range(_MEMBERS_OF_ONE)]
        teams = [uuid7() for _ in range(_TEAMS_OF_ONE)]
        if asked is not None:
            people[0] = self._who
        await self._copy("organizations", ("id", "display_name"), [(organization, "Acme")])
        members = [(uuid7(), organization, person, "viewer") for person in people]
        await self._copy("members", ("id", "organization_id", "user_id", "role"), members)
        await self._copy(
            "teams", ("id", "organization_id", "display_name"), [(t, organization, "Team") for t in teams]
        )
        joined = [
            (person, team) for person in people[1:] for team in self._chance.sample(teams, _TEAMS_OF_MEMBER)
        ]
        joined += [(people[0], team) for team in teams[:_TEAMS_OF_MEMBER]]
        columns = ("id", "team_id", "organization_id", "user_id")
        await self._copy("team_members", columns, [(uuid7(), t, organization, p) for p, t in joined])
        await self._bases(organization, people, teams, asked)

    async def _bases(
        self,
        organization: UUID,
        people: Sequence[UUID],
        teams: Sequence[UUID],
        asked: dict[str, list[UUID]] | None,
    ) -> None:
        """Bases of all ways in turns, and grants to people other than the first and to teams that she is not in."""
        number = self._size.bases // self._size.organizations
        spare = self._size.grants // self._size.organizations
        strangers = [("user", person) for person in people[1:]]
        strangers += [("team", team) for team in teams[_TEAMS_OF_MEMBER:]]
        names, bases, grants = [], [], []
        for place in range(number):
            base, way = uuid7(), _WAYS[place % len(_WAYS)]
            if asked is not None:
                asked[way].append(base)
            names.append((f"base_{base.hex}", "hashing-256", 256))
            visibility = {"organization": "org", "team": "team"}.get(way, "private")
            team = teams[0] if way == "team" else None
            bases.append((base, organization, people[-1], visibility, team, names[-1][0], _CONFIG))
            extra = {"user_grant": ("user", people[0]), "team_grant": ("team", teams[0])}.get(way)
            to = self._chance.sample(strangers, min(len(strangers), spare // number - (extra is not None)))
            grants += [
                (uuid7(), base, organization, kind, grantee, "view", people[-1])
                for kind, grantee in ([*to, extra] if extra else to)
            ]
        await self._copy("collection_names", ("name", "embedding_model", "embedding_width"), names)
        await self._connection.executemany(_BASE, bases)
        await self._copy("grants", _GRANT, grants)

    async def _copy(self, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
        await self._connection.copy_records_to_table(table, columns=list(columns), records=rows)


def _add(part: Part, measured: dict[tuple[str, str], list[float]]) -> None:
    for what in ("rpc", "sql"):
        large, small = (
            Series(f"{name}_{what}_p50", "ms", measured[name, what]) for name in ("large", "small")
        )
        part.series += [large, small]
        part.ratios.append(Ratio(f"{what}: large / small, p50", large, small))
    ratio = part.ratios[0].spread.median
    part.notes.append(
        f"Resolve: {ratio:.2f} x, goal {GOAL_RATIO:g} x: {'met' if ratio <= GOAL_RATIO else 'missed'}"
    )
