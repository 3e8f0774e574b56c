"""Knowledge bases as rows, read through the one predicate that says who reaches what."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

import asyncpg

from services.access.bases.claims import Embedding
from services.access.bases.embedding_settings import Serving
from services.access.reach import BaseKind, BaseScope, Caller, Holding, Targets, Visibility, Want
from services.access.reach_sql import FROM_BASES, NEAR, REACHED, REACHED_AMONG_MANY, arguments
from services.shared.db import Connection, Pool
from services.shared.embedding_providers import Provider
from services.shared.ingestion_config import IngestionConfig
from services.shared.ingestion_config_codec import config_from_json, config_to_json
from services.shared.paging import Page, PageRequest

_COLUMNS = """
    b.id, b.kind, b.scope, b.organization_id, b.owner_user_id, b.visibility, b.team_id, b.default_base,
    b.display_name, b.collection_name, b.ingestion_config, b.create_time, n.embedding_model, n.embedding_width,
    b.embedding_provider, b.embedding_endpoint_id, b.embedding_base_url,
    (SELECT s.id FROM secret_bindings x JOIN secrets s ON s.id = x.secret_id
      WHERE x.knowledge_base_id = b.id AND x.purpose = 'embedding') AS embedding_secret_id
"""
# A name stands for no hidden base, whoever asks: what nobody owns is never found by chance.
_RESOLVE = f"""
SELECT {_COLUMNS} {FROM_BASES}
 WHERE (b.id = ANY ($10::uuid[]) OR b.kind = 'regular' AND b.collection_name = ANY ($11::text[])) AND {REACHED}
"""
_FIND = f"SELECT {_COLUMNS} {FROM_BASES} WHERE b.id = $10 AND {REACHED}"
_LOCK = f"{_FIND} FOR UPDATE OF b"
_LOCK_SHARED = f"{_FIND} FOR KEY SHARE OF b"
# Hidden bases are in no listing, whoever asks.
_PAGE = f"""
SELECT {_COLUMNS} {FROM_BASES}
 WHERE b.kind = 'regular' AND b.id > $10 AND {NEAR} AND {REACHED_AMONG_MANY}
   AND ($11::uuid IS NULL OR b.organization_id = $11) AND ($12::text IS NULL OR b.collection_name = $12)
 ORDER BY b.id LIMIT $13
"""
_INSERT = """
INSERT INTO knowledge_bases (id, scope, organization_id, owner_user_id, visibility, team_id, default_base,
                             display_name, collection_name, ingestion_config, kind)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
RETURNING create_time
"""
_UPDATE = """
UPDATE knowledge_bases SET display_name = $2, visibility = $3, team_id = $4, ingestion_config = $5 WHERE id = $1
"""
_DELETE = "DELETE FROM knowledge_bases WHERE id = ANY ($1::uuid[])"


def holding_from_row(row: asyncpg.Record) -> Holding:
    """What decides on access to the base of a row."""
    visibility = row["visibility"]
    return Holding(
        kind=BaseKind(row["kind"]),
        scope=BaseScope(row["scope"]),
        organization_id=row["organization_id"],
        owner_user_id=row["owner_user_id"],
        visibility=None if visibility is None else Visibility(visibility),
        team_id=row["team_id"],
    )


def serving_from_row(row: asyncpg.Record) -> Serving:
    """Who serves the embedding model of the base of a row."""
    return Serving(
        provider=Provider(row["embedding_provider"]),
        secret_id=row["embedding_secret_id"],
        endpoint_id=row["embedding_endpoint_id"],
        base_url=row["embedding_base_url"],
    )


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A base, which owns a collection."""

    id: UUID
    display_name: str
    collection_name: str
    holding: Holding
    """Who may reach it."""
    embedding: Embedding
    serving: Serving
    """Who serves that model; without a key where the secret is gone."""
    ingestion_config: IngestionConfig
    default_base: bool
    """Whether it is its organization's default: emptied, never deleted."""
    create_time: datetime

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> Self:
        return cls(
            id=row["id"],
            display_name=row["display_name"],
            collection_name=row["collection_name"],
            holding=holding_from_row(row),
            embedding=Embedding(row["embedding_model"], row["embedding_width"]),
            serving=serving_from_row(row),
            ingestion_config=config_from_json(row["ingestion_config"]),
            default_base=row["default_base"],
            create_time=row["create_time"],
        )


@dataclass(frozen=True, slots=True)
class Filter:
    """Which bases a listing holds; None: all of them."""

    organization_id: UUID | None = None
    collection_name: str | None = None


async def resolve(
    pool: "Pool | Connection", caller: Caller, targets: Targets, want: Want
) -> Sequence[KnowledgeBase]:
    """The bases that the targets name and the caller reaches, by one statement."""
    rows = await pool.fetch(_RESOLVE, *arguments(caller, want), list(targets.ids), list(targets.names))
    return [KnowledgeBase.from_row(row) for row in rows]


async def find(
    connection: "Pool | Connection", caller: Caller, base_id: UUID, want: Want
) -> KnowledgeBase | None:
    """One base, if the caller reaches it."""
    row = await connection.fetchrow(_FIND, *arguments(caller, want), base_id)
    return None if row is None else KnowledgeBase.from_row(row)


async def lock(connection: Connection, caller: Caller, base_id: UUID, want: Want) -> KnowledgeBase | None:
    """One base, if the caller reaches it still, held until the transaction ends. The name's lock comes first."""
    return await _lock(connection, _LOCK, caller, base_id, want)


async def lock_shared(
    connection: Connection, caller: Caller, base_id: UUID, want: Want
) -> KnowledgeBase | None:
    """One base, if the caller reaches it still, kept from being deleted until the transaction ends."""
    return await _lock(connection, _LOCK_SHARED, caller, base_id, want)


async def _lock(
    connection: Connection, statement: str, caller: Caller, base_id: UUID, want: Want
) -> KnowledgeBase | None:
    if await connection.fetchrow(statement, *arguments(caller, want), base_id) is None:
        return None
    # A statement that waited has the base as it is now, and beside it members, grants and keys as they were before.
    return await find(connection, caller, base_id, want)


async def page(pool: Pool, caller: Caller, which: Filter, wanted: PageRequest) -> Page[KnowledgeBase]:
    """The regular bases that a person or an agent may view, oldest first."""
    rows = await pool.fetch(
        _PAGE,
        *arguments(caller, Want.VIEW),
        wanted.after,
        which.organization_id,
        which.collection_name,
        wanted.limit,
    )
    return wanted.cut([KnowledgeBase.from_row(row) for row in rows])


async def insert(
    connection: Connection,
    base_id: UUID,
    *,
    display_name: str,
    collection_name: str,
    holding: Holding,
    ingestion_config: IngestionConfig,
    default_base: bool,
) -> datetime:
    """Store a base, under the lock of its name; return when it was made."""
    made: datetime = await connection.fetchval(
        _INSERT,
        base_id,
        holding.scope,
        holding.organization_id,
        holding.owner_user_id,
        holding.visibility,
        holding.team_id,
        default_base,
        display_name,
        collection_name,
        config_to_json(ingestion_config),
        holding.kind,
    )
    return made


async def update(connection: Connection, base: KnowledgeBase) -> None:
    """Store what a base is called, who sees it and how it reads, under its lock."""
    await connection.execute(
        _UPDATE,
        base.id,
        base.display_name,
        base.holding.visibility,
        base.holding.team_id,
        config_to_json(base.ingestion_config),
    )


async def delete(connection: Connection, base_ids: Sequence[UUID]) -> None:
    """Remove bases, under the locks of their names."""
    await connection.execute(_DELETE, base_ids)
