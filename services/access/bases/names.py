"""The rows of collection names: the locks under which claims, deletions and answers to teardowns meet."""

from collections.abc import Sequence
from uuid import UUID

from services.access.bases.claims import Embedding, Holder, Name
from services.access.bases.knowledge_bases import serving_from_row
from services.access.reach import Caller, Want
from services.access.reach_sql import FROM_BASES, REACHED, arguments
from services.shared.db import Connection, Pool

# The update changes nothing: it takes the row's lock, or waits for whoever has it.
_HOLD = """
INSERT INTO collection_names (name, embedding_model, embedding_width) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET name = excluded.name
RETURNING embedding_model, embedding_width
"""
_HOLDERS = f"""
SELECT b.kind <> 'regular' AS hidden, {REACHED} IS TRUE AS editable,
       b.organization_id, b.embedding_provider, b.embedding_endpoint_id,
       b.embedding_base_url, x.secret_id AS embedding_secret_id
  {FROM_BASES}
  LEFT JOIN secret_bindings x ON x.knowledge_base_id = b.id AND x.purpose = 'embedding'
 WHERE b.collection_name = $10 ORDER BY b.id
"""
_TEARDOWNS = "SELECT count(*) FROM teardowns WHERE collection_name = $1"
_LOCK = "SELECT name FROM collection_names WHERE name = $1 FOR UPDATE"
# Sorted, so that two deletions never wait for each other.
_LOCK_OF_ORGANIZATION = """
SELECT name FROM collection_names
 WHERE name IN (SELECT collection_name FROM knowledge_bases WHERE organization_id = $1)
 ORDER BY name FOR UPDATE
"""
_LOCK_OF_OWNER = """
SELECT name FROM collection_names
 WHERE name IN (SELECT collection_name FROM knowledge_bases WHERE scope = 'personal' AND owner_user_id = $1)
 ORDER BY name FOR UPDATE
"""
_COUNT = """
SELECT collection_name, count(*) AS holders FROM knowledge_bases
 WHERE collection_name = ANY ($1::text[]) GROUP BY collection_name
"""
_RELEASE = """
DELETE FROM collection_names n
 WHERE n.name = $1
   AND NOT EXISTS (SELECT FROM knowledge_bases b WHERE b.collection_name = n.name)
   AND NOT EXISTS (SELECT FROM teardowns t WHERE t.collection_name = n.name)
"""


async def hold(connection: Connection, name: str, caller: Caller, embedding: Embedding) -> Name:
    """Lock a name, which is made with `embedding` where it is new, and tell what a claim is judged by."""
    (row,) = await connection.fetch(_HOLD, name, embedding.model, embedding.width)
    holders = await connection.fetch(_HOLDERS, *arguments(caller, Want.EDIT), name)
    return Name(
        embedding=Embedding(row["embedding_model"], row["embedding_width"]),
        holders=[
            Holder(holder["editable"], holder["hidden"], serving_from_row(holder), holder["organization_id"])
            for holder in holders
        ],
        teardowns=await connection.fetchval(_TEARDOWNS, name),
    )


async def lock(connection: Connection, name: str) -> None:
    """Lock a name until the transaction ends; waits for whoever has it."""
    await connection.execute(_LOCK, name)


async def count_teardowns(connection: "Pool | Connection", name: str) -> int:
    """How many deletions of bases of the name are not answered by every service yet."""
    count: int = await connection.fetchval(_TEARDOWNS, name)
    return count


async def lock_of_organization(connection: Connection, organization_id: UUID) -> None:
    """Lock the names of all of an organization's bases until the transaction ends."""
    await connection.execute(_LOCK_OF_ORGANIZATION, organization_id)


async def lock_of_owner(connection: Connection, user_id: UUID) -> Sequence[str]:
    """Lock the names of all of a person's own bases until the transaction ends; return them."""
    return [row["name"] for row in await connection.fetch(_LOCK_OF_OWNER, user_id)]


async def count_holders(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    """How many bases hold each of the names, under their locks."""
    return {row["collection_name"]: row["holders"] for row in await connection.fetch(_COUNT, names)}


async def release(connection: Connection, name: str) -> None:
    """Free a name that no base holds and no teardown reserves, under its lock."""
    await connection.execute(_RELEASE, name)
