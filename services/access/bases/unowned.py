"""Hidden bases: content that nobody owns, kept by the deployment's admin. Locks are taken in the order name, base."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import asyncpg

from services.access.audit import log
from services.access.audit.bases import of_base
from services.access.audit.events import Action
from services.access.bases import knowledge_bases, names
from services.access.bases.claims import Embedding, conflicts
from services.access.bases.knowledge_bases import KnowledgeBase, holding_from_row
from services.access.bases.provenance import confirmed
from services.access.reach import BaseKind, BaseScope, Caller, CallerKind, Holding, Want
from services.access.refusals import BaseNotFound, CollectionNotFound, EmbeddingConflict
from services.shared.db import Connection, Pool
from services.shared.errors import NameTaken
from services.shared.ingestion_config import DEFAULT, IngestionConfig
from services.shared.ingestion_config_codec import config_to_json

MOST_TOLD = 100
_HOLDING = Holding(BaseKind.OPERATOR, BaseScope.APP, None, None, None)

_OLDEST = """
SELECT id FROM knowledge_bases WHERE collection_name = $1 AND kind = 'operator' ORDER BY id LIMIT 1
"""
_TAKE_OVER = """
UPDATE knowledge_bases SET kind = 'regular', owner_user_id = $2, display_name = $3, ingestion_config = $4
 WHERE collection_name = $1 AND kind = 'operator' RETURNING *
"""
_UNKNOWN = """
SELECT * FROM knowledge_bases WHERE collection_name = $1 AND kind = 'legacy_unknown' ORDER BY id FOR UPDATE
"""
_CONFIRM = "UPDATE knowledge_bases SET kind = $2 WHERE id = ANY ($1::uuid[])"
_COUNT = """
SELECT kind, count(*) AS bases, (array_agg(id ORDER BY id))[:$2] AS ids
  FROM knowledge_bases WHERE collection_name = $1 GROUP BY kind
"""


@dataclass(frozen=True, slots=True)
class Count:
    """A collection's bases of one kind."""

    kind: BaseKind
    bases: int
    ids: Sequence[UUID]
    """Of hidden ones, oldest first, at most `MOST_TOLD`."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a collection is made of."""

    counts: Sequence[Count]
    """In the order of `BaseKind`."""
    teardowns: int


def is_operator(caller: Caller) -> bool:
    """Whether the caller keeps what nobody owns."""
    return caller.kind is CallerKind.PERSON and caller.deployment_admin


async def open_base(
    connection: Connection,
    caller: Caller,
    name: str,
    wanted: Embedding | None,
    *,
    default: Embedding,
    base_id: UUID,
) -> KnowledgeBase:
    """The operators' base of a name; it is made, with `base_id`, where there is none.

    Whoever holds the name keeps it: what operators put beside is theirs alone. Raises BaseNotFound for others than the
    deployment's admin, NameTaken where the name is being torn down, EmbeddingConflict.
    """
    if not is_operator(caller):
        raise BaseNotFound
    held = await names.hold(connection, name, caller, wanted or default)
    if held.reserved:
        raise NameTaken(name)
    contrary = conflicts(held, wanted)
    if contrary:
        raise EmbeddingConflict(contrary)
    oldest = await connection.fetchval(_OLDEST, name)
    if oldest is None:
        await knowledge_bases.insert(
            connection,
            base_id,
            display_name=name,
            collection_name=name,
            holding=_HOLDING,
            ingestion_config=DEFAULT,
            default_base=False,
        )
        event = of_base(
            Action.KNOWLEDGE_BASE_CREATED, base_id, _HOLDING, display_name=name, collection_name=name
        )
        await log.record(connection, caller, event)
    base = await knowledge_bases.find(connection, caller, oldest or base_id, Want.EDIT)
    if base is None:
        raise BaseNotFound
    return base


async def take_over(
    connection: Connection, caller: Caller, name: str, *, display_name: str, config: IngestionConfig
) -> tuple[UUID, datetime] | None:
    """Turn the operators' bases of a name, which is locked, into app bases; return the oldest one's id and age."""
    rows = await connection.fetch(_TAKE_OVER, name, caller.person, display_name, config_to_json(config))
    for row in rows:
        await _record(connection, caller, Action.KNOWLEDGE_BASE_ADOPTED, row)
    return min(((row["id"], row["create_time"]) for row in rows), default=None)


async def inspect(pool: Pool, caller: Caller, name: str) -> Provenance:
    """What a collection is made of. Raises CollectionNotFound for others than the deployment's admin too."""
    if not is_operator(caller):
        raise CollectionNotFound
    rows = {BaseKind(row["kind"]): row for row in await pool.fetch(_COUNT, name, MOST_TOLD)}
    teardowns = await names.count_teardowns(pool, name)
    if not rows and not teardowns:
        raise CollectionNotFound
    return Provenance([_count(kind, rows[kind]) for kind in BaseKind if kind in rows], teardowns)


def _count(kind: BaseKind, row: asyncpg.Record) -> Count:
    return Count(kind, row["bases"], () if kind is BaseKind.REGULAR else row["ids"])


async def confirm(connection: Connection, caller: Caller, name: str) -> int:
    """Vouch for what is of unknown origin under a name; return how many bases that were.

    Raises CollectionNotFound where nothing holds the name, and for others than the deployment's admin.
    """
    if not is_operator(caller):
        raise CollectionNotFound
    await names.lock(connection, name)
    if not await names.count_holders(connection, [name]):
        raise CollectionNotFound
    rows = await connection.fetch(_UNKNOWN, name)
    kind = confirmed(BaseKind.LEGACY_UNKNOWN)
    await connection.execute(_CONFIRM, [row["id"] for row in rows], kind)
    for row in rows:
        await _record(connection, caller, Action.KNOWLEDGE_BASE_CONFIRMED, row)
    return len(rows)


async def _record(connection: Connection, caller: Caller, action: Action, row: asyncpg.Record) -> None:
    event = of_base(
        action,
        row["id"],
        holding_from_row(row),
        display_name=row["display_name"],
        collection_name=row["collection_name"],
    )
    await log.record(connection, caller, event)
