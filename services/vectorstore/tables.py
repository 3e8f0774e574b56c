"""The tables of collections: one per collection and generation, made by the first write, found through `collections`.

Search is exact: each question reads every vector of the searched bases, which is fast up to some tens of thousands of
chunks a base and always right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg
from asyncpg import Record

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.db import Connection
from services.shared.errors import AcervoError
from services.shared.names import index_name, table_name
from services.vectorstore.models import Space
from services.vectorstore.terms import DIMENSIONS

SCHEMA = "vectors"

# Vectors up to this width fit a page beside the rest of their row, and are read far faster there than out of line.
_WIDEST_IN_PAGE = 1900
_DROP_LOCK_TIMEOUT = "500ms"

_FIND = "SELECT name, model, width, live FROM collections WHERE name = ANY($1::text[])"
_HOLD = "SELECT name, model, width, live FROM collections WHERE name = $1 FOR SHARE"
_CREATE = """
INSERT INTO collections (name, model, width, live) VALUES ($1, $2, $3, 1) ON CONFLICT (name) DO NOTHING
RETURNING true
"""
_LOCK = "SELECT name, model, width, live FROM collections WHERE name = $1 FOR UPDATE"
_REMOVE = "DELETE FROM collections WHERE name = $1"
_MOVE = "UPDATE collections SET model = $2, width = $3, live = $4 WHERE name = $1"
_HOLDS_ANY = "SELECT true FROM {table} LIMIT 1"
_IN_USE = """
SELECT true FROM {table} AS chunk
WHERE NOT EXISTS (
    SELECT FROM bases WHERE bases.knowledge_base_id = chunk.knowledge_base_id AND bases.state = 'deleted'
) LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection that holds something, or did."""

    name: str
    space: Space
    live: int

    @property
    def table(self) -> str:
        """The table that is read and written, as it stands in statements."""
        return f"{SCHEMA}.{table_name(self.name, self.live)}"


class SpaceConflict(AcervoError):
    """The collection's vectors were made by another model: comparing the two would answer plausible nonsense."""

    def __init__(self, stored: Space, wanted: Space) -> None:
        same_model = stored.model == wanted.model
        reason = (
            pb.ERROR_REASON_EMBEDDING_WIDTH_MISMATCH
            if same_model
            else pb.ERROR_REASON_EMBEDDING_SETTINGS_CONFLICT
        )
        super().__init__(reason)


async def find(connection: Connection, names: Sequence[str]) -> list[Collection]:
    """Return those of the named collections that something was stored in."""
    return [_collection(row) for row in await connection.fetch(_FIND, list(names))]


async def hold(connection: Connection, name: str) -> Collection | None:
    """Keep a collection from being dropped until the caller's transaction ends; None where nothing was stored."""
    row = await connection.fetchrow(_HOLD, name)
    return None if row is None else _collection(row)


async def hold_for_writing(connection: Connection, name: str, space: Space) -> Collection:
    """Keep a collection from being dropped until the caller's transaction ends; make its table if it has none.

    Raises:
        NameInvalid: it cannot be a table.
        SpaceConflict: its vectors are of another space.
    """
    seen = await find(connection, [name])
    if not seen and await connection.fetchval(_CREATE, name, space.model, space.width):
        collection = Collection(name, space, 1)
        await connection.execute(_table_ddl(collection))
        return collection
    # Two who share a row and then want it for themselves would wait for each other: who may have to move it, locks it.
    fits = bool(seen) and seen[0].space == space
    collection = _collection(await connection.fetchrow(_HOLD if fits else _LOCK, name))
    if collection.space == space:
        return collection
    if fits:
        raise asyncpg.SerializationError("the collection was moved meanwhile")
    return await _move(connection, collection, space)


async def drop_if_unused(connection: Connection, name: str) -> None:
    """Drop a collection's table, unless it holds chunks of bases that live.

    Waits at most half a second for each lock, and then raises `asyncpg.LockNotAvailableError`.
    """
    await connection.execute(f"SET LOCAL lock_timeout = '{_DROP_LOCK_TIMEOUT}'")
    row = await connection.fetchrow(_LOCK, name)
    if row is None:
        return
    table = _collection(row).table
    if await connection.fetchval(_IN_USE.format(table=table)):
        return
    await connection.execute(f"DROP TABLE {table}")
    await connection.execute(_REMOVE, name)


async def _move(connection: Connection, collection: Collection, space: Space) -> Collection:
    """Begin a collection that the caller has locked anew in another space, if nothing is stored in it."""
    if await connection.fetchval(_HOLDS_ANY.format(table=collection.table)):
        raise SpaceConflict(collection.space, space)
    moved = Collection(collection.name, space, collection.live + 1)
    await connection.execute(f"DROP TABLE {collection.table}")
    await connection.execute(_table_ddl(moved))
    await connection.execute(_MOVE, moved.name, space.model, space.width, moved.live)
    return moved


def _collection(row: Record | None) -> Collection:
    if row is None:
        raise asyncpg.SerializationError("the collection was dropped meanwhile")
    return Collection(row["name"], Space(row["model"], row["width"]), row["live"])


def _table_ddl(collection: Collection) -> str:
    """Return the statements that make a table. Names are checked by `services.shared.names`, widths are integers."""
    name, generation = collection.name, collection.live
    storage = "PLAIN" if collection.space.width <= _WIDEST_IN_PAGE else "EXTERNAL"
    key, base, terms = (index_name(name, generation, purpose) for purpose in ("key", "base", "gin"))
    return f"""
    CREATE TABLE {collection.table} (
        knowledge_base_id uuid NOT NULL,
        document_id uuid NOT NULL,
        attempt integer NOT NULL,
        ordinal integer NOT NULL,
        page integer NOT NULL,
        text_start bigint NOT NULL,
        text_end bigint NOT NULL,
        embedding vector({collection.space.width:d}) STORAGE {storage} NOT NULL,
        weights sparsevec({DIMENSIONS}) STORAGE MAIN NOT NULL,
        terms integer[] STORAGE MAIN NOT NULL,
        text text NOT NULL
    );
    CREATE UNIQUE INDEX {key} ON {collection.table} (document_id, attempt, ordinal);
    CREATE INDEX {base} ON {collection.table} (knowledge_base_id);
    CREATE INDEX {terms} ON {collection.table} USING gin (terms);
    """
