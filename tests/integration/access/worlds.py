"""Worlds of organizations, teams, bases and grants, as rows and as the rules see them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Self
from uuid import UUID

from hypothesis import strategies as st

from services.access import grants
from services.access.bases import knowledge_bases
from services.access.people.roles import Role
from services.access.reach import (
    BaseKind,
    BaseScope,
    Caller,
    CallerKind,
    Grantee,
    Holding,
    Standing,
    Targets,
    Visibility,
    Want,
    grounds,
)
from services.shared.db import Connection
from services.shared.ids import uuid7

ANA, BEA = UUID(int=1), UUID(int=2)
ASSISTANT, OTHER_AGENT = UUID(int=7), UUID(int=6)
# One for each place, none and those of the roles.
ORGANIZATIONS_AGENTS = tuple(UUID(int=100 + number) for number in range(1 + len(Role)))
CALLERS = (
    *(Caller(CallerKind.PERSON, user, admin) for user, admin in product([ANA, BEA], [False, True])),
    *(Caller(CallerKind.AGENT, user, agent_id=ASSISTANT) for user in (ANA, BEA)),
    *(Caller(CallerKind.AGENT, ANA, agent_id=agent) for agent in ORGANIZATIONS_AGENTS),
    Caller(CallerKind.AGENT, ANA, agent_id=OTHER_AGENT),
    Caller(CallerKind.SERVICE, None, service="ingest"),
)

_BASE = """
INSERT INTO knowledge_bases (id, kind, scope, organization_id, owner_user_id, visibility, team_id, display_name,
                             collection_name, ingestion_config)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'Notes', 'notes', $8)
"""
_GRANT = """
INSERT INTO grants (id, knowledge_base_id, organization_id, grantee_kind, grantee_id, permission, giver_user_id)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
_AGENT = "INSERT INTO agents (id, organization_id, owner_user_id, display_name) VALUES ($1, $2, $3, 'Clerk')"
_CONFIG = {"parser": "pymupdf", "chunk_size": 2500, "chunk_overlap": 200, "chunking_strategy": "recursive"}


@dataclass(frozen=True, slots=True)
class Place:
    """An organization with two teams, of which Ana is in the first if she is a member at all, and two agents, of which
    the first calls. Bea is in none."""

    id: UUID
    role: Role | None
    hers: UUID
    others: UUID
    agent: UUID
    other_agent: UUID

    def grantees(self) -> list[tuple[Grantee, UUID]]:
        """Who can be granted a base of it."""
        found = [(Grantee.TEAM, self.hers), (Grantee.TEAM, self.others)]
        found += [(Grantee.AGENT, self.agent), (Grantee.AGENT, self.other_agent)]
        return found if self.role is None else [(Grantee.USER, ANA), *found]


Given = tuple[Grantee, UUID, Want]
_TO_AGENTS = [(Grantee.AGENT, ASSISTANT), (Grantee.AGENT, OTHER_AGENT)]


def holdings(places: Iterable[Place]) -> list[Holding]:
    """Every base that the schema allows."""
    hidden = [kind for kind in BaseKind if kind is not BaseKind.REGULAR]
    found = [Holding(kind, BaseScope.APP, None, None, None) for kind in hidden]
    found += [Holding(BaseKind.REGULAR, BaseScope.APP, None, owner, None) for owner in (None, ANA, BEA)]
    found += [Holding(BaseKind.REGULAR, BaseScope.PERSONAL, None, owner, None) for owner in (ANA, BEA)]
    for place, owner in product(places, (None, ANA, BEA)):
        if owner is not None:
            found.append(Holding(BaseKind.REGULAR, BaseScope.PERSONAL, place.id, owner, None))
        for visibility in (Visibility.PRIVATE, Visibility.ORG):
            found.append(Holding(BaseKind.REGULAR, BaseScope.ORG, place.id, owner, visibility))
        for team in (place.hers, place.others):
            found.append(Holding(BaseKind.REGULAR, BaseScope.ORG, place.id, owner, Visibility.TEAM, team))
    return found


def grantable(holding: Holding, places: Mapping[UUID, Place]) -> list[tuple[Grantee, UUID]]:
    """Who can have a grant on a base, as far as the schema allows."""
    if holding.organization_id is None:
        return _TO_AGENTS
    return places[holding.organization_id].grantees()


@dataclass(frozen=True, slots=True)
class World:
    """What is in the database."""

    places: Mapping[UUID, Place]
    bases: Mapping[UUID, tuple[Holding, list[Given]]]

    @classmethod
    async def of_everything(cls, connection: Connection, *, sparse: bool = False) -> Self:
        """A place for each role that Ana may have, none included, and every base with each single grant.

        `sparse`: every base once, in turns with a grant or without one.
        """
        places = await _places(connection)
        bases = []
        for number, holding in enumerate(holdings(places.values())):
            single = [(*to, want) for to in grantable(holding, places) for want in (Want.VIEW, Want.EDIT)]
            variants: list[list[Given]] = [[], *([one] for one in single)]
            bases += (
                [(holding, variants[number % len(variants)])] if sparse else [(holding, v) for v in variants]
            )
        return await cls._stored(connection, places, bases)

    @classmethod
    async def drawn(cls, connection: Connection, data: st.DataObject) -> Self:
        """Some bases, with any grants."""
        places = await _places(connection)
        known = holdings(places.values())
        bases = []
        for holding in data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=6)):
            to = grantable(holding, places)
            given = data.draw(st.dictionaries(st.sampled_from(to), st.sampled_from([Want.VIEW, Want.EDIT])))
            bases.append((holding, [(*grantee, want) for grantee, want in given.items()]))
        return await cls._stored(connection, places, bases)

    @classmethod
    async def _stored(
        cls,
        connection: Connection,
        places: Mapping[UUID, Place],
        bases: Iterable[tuple[Holding, list[Given]]],
    ) -> Self:
        await connection.execute("INSERT INTO collection_names VALUES ('notes', 'hashing-256', 256)")
        world = cls(places, {uuid7(): base for base in bases})
        rows, given = [], []
        for base_id, (h, grants_) in world.bases.items():
            owned = (h.organization_id, h.owner_user_id, h.visibility, h.team_id)
            rows.append((base_id, h.kind, h.scope, *owned, _CONFIG))
            given += [
                (uuid7(), base_id, h.organization_id, kind, to, want, BEA) for kind, to, want in grants_
            ]
        await connection.executemany(_BASE, rows)
        await connection.executemany(_GRANT, given)
        return world

    def standing(self, caller: Caller, base_id: UUID) -> Standing:
        """What ties a caller to a base."""
        holding, given = self.bases[base_id]
        place = None if holding.organization_id is None else self.places[holding.organization_id]
        role = place.role if place is not None and caller.user_id == ANA else None
        teams = {place.hers} if place is not None and role is not None else set()
        mine = {
            (kind, want)
            for kind, to, want in given
            if to == caller.agent_id or (caller.agent_id is None and (to == caller.user_id or to in teams))
        }
        return Standing(role, holding.team_id in teams, frozenset(mine))


async def _places(connection: Connection) -> dict[UUID, Place]:
    roles = (None, *Role)
    places = [
        Place(uuid7(), role, uuid7(), uuid7(), agent, uuid7())
        for role, agent in zip(roles, ORGANIZATIONS_AGENTS, strict=True)
    ]
    for agent in (ASSISTANT, OTHER_AGENT):
        await connection.execute(_AGENT, agent, None, ANA)
    for place in places:
        await connection.execute("INSERT INTO organizations (id, display_name) VALUES ($1, 'Acme')", place.id)
        for team in (place.hers, place.others):
            insert = "INSERT INTO teams (id, organization_id, display_name) VALUES ($1, $2, 'Team')"
            await connection.execute(insert, team, place.id)
        for agent in (place.agent, place.other_agent):
            await connection.execute(_AGENT, agent, place.id, None)
        if place.role is not None:
            insert = "INSERT INTO members (id, organization_id, user_id, role) VALUES ($1, $2, $3, $4)"
            await connection.execute(insert, uuid7(), place.id, ANA, place.role)
            insert = (
                "INSERT INTO team_members (id, team_id, organization_id, user_id) VALUES ($1, $2, $3, $4)"
            )
            await connection.execute(insert, uuid7(), place.hers, place.id, ANA)
    return {place.id: place for place in places}


async def check_twins(connection: Connection, world: World) -> None:
    """The statement reaches what the rule does, by id and, but for hidden ones, by name; standings are read right."""
    for caller, want in product(CALLERS, Want):
        expected = {
            base_id
            for base_id, (holding, _) in world.bases.items()
            if grounds(caller, world.standing(caller, base_id), holding, want)
        }
        regular = {base_id for base_id in expected if world.bases[base_id][0].kind is BaseKind.REGULAR}
        for targets, wanted in (
            (Targets(frozenset(world.bases), frozenset()), expected),
            (Targets(frozenset(), frozenset({"notes"})), regular),
        ):
            reached = await knowledge_bases.resolve(connection, caller, targets, want)
            assert {base.id for base in reached} == wanted, (caller, want)
    for caller in CALLERS:
        if caller.kind is CallerKind.SERVICE:
            continue
        for base_id in list(world.bases)[::13]:
            found = await grants.find_standing(connection, base_id, caller)
            assert found == world.standing(caller, base_id), (caller, world.bases[base_id])
