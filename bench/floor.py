"""The plain floors: the least that any program would have to do for the same end on the same machine."""

import hashlib
import io
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from acervo_client.uploads import MESSAGE_BYTES
from services.shared.db import Connection
from services.vectorstore.tables import SCHEMA

_LIKE = "CREATE TABLE {schema}.{name} (LIKE {table} INCLUDING STORAGE {extra})"
_ROWS = "SELECT * FROM {table} WHERE document_id = $1 ORDER BY ordinal"


def hash_and_copy(source: Path, target: Path) -> float:
    """Copy a file by messages' lengths while hashing it; return the seconds."""
    started = time.perf_counter()
    digest = hashlib.sha256()
    with source.open("rb", buffering=0) as reading, target.open("wb", buffering=0) as writing:
        while data := reading.read(MESSAGE_BYTES):
            digest.update(data)
            writing.write(data)
    digest.digest()
    return time.perf_counter() - started


async def rows_of(connection: Connection, table: str, document_ids: Sequence[UUID]) -> list[bytes]:
    """Return the rows of each document as the stream that a binary COPY takes."""
    return [await _rows_of(connection, table, document_id) for document_id in document_ids]


async def _rows_of(connection: Connection, table: str, document_id: UUID) -> bytes:
    stream = io.BytesIO()
    query = _ROWS.format(table=table)
    await connection.copy_from_query(query, document_id, output=stream, format="binary")
    return stream.getvalue()


class BareTable:
    """A table of the same columns as a collection's, beside it, with its indexes or without."""

    def __init__(self, name: str) -> None:
        self._name = name

    async def create(self, connection: Connection, table: str, *, indexes: bool) -> None:
        """Make it anew."""
        await connection.execute(f"DROP TABLE IF EXISTS {SCHEMA}.{self._name}")
        extra = "INCLUDING INDEXES" if indexes else ""
        await connection.execute(_LIKE.format(schema=SCHEMA, name=self._name, table=table, extra=extra))

    async def copy(self, connection: Connection, documents: Sequence[bytes]) -> float:
        """Empty it, COPY each document in a transaction of its own, and return the seconds that this took."""
        await connection.execute(f"TRUNCATE {SCHEMA}.{self._name}")
        started = time.perf_counter()
        for data in documents:
            await connection.copy_to_table(
                self._name, schema_name=SCHEMA, source=io.BytesIO(data), format="binary"
            )
        return time.perf_counter() - started
