"""Counts, from the outside, what a stack holds: every chunk, every blob, every event that was not sent."""

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import asyncpg

from services.shared.blobs import BlobStore

_OWNERS = ("access", "upload", "ingest", "vectorstore", "sync")
_LEFT_OVER = {
    "unsent events": "SELECT count(*) FROM {schema}.outbox",
    "unanswered facts": "SELECT count(*) FROM {schema}.facts",
    "unfinished jobs": "SELECT count(*) FROM {schema}.jobs WHERE state <> 'ended'",
    "unfinished blobs": "SELECT count(*) FROM {schema}.blobs WHERE state <> 'live'",
    "dead letters": "SELECT count(*) FROM {schema}.dead_letters",
}


class Ledger:
    """Looks at one stack's database and blobs. Reads only."""

    def __init__(self, admin_url: str, blobs: Path) -> None:
        self._url = admin_url
        self._blobs = blobs

    async def left_over(self) -> Mapping[str, int]:
        """What should be nothing once all work is done, by service and kind; empty when it is."""
        connection = await asyncpg.connect(self._url)
        try:
            found = {
                f"{schema}: {what}": int(await connection.fetchval(query.format(schema=schema)))
                for schema in _OWNERS
                for what, query in _LEFT_OVER.items()
            }
        finally:
            await connection.close()
        found["unreferenced objects"] = len(await self.objects() - await self.wanted_objects())
        found["missing objects"] = len(await self.wanted_objects() - await self.objects())
        return {what: count for what, count in found.items() if count}

    async def objects(self) -> set[str]:
        """The keys of all objects in blob storage, with what interrupted writers left."""
        store = BlobStore.open(self._blobs.as_uri())
        # Unlike a glob, a walk goes on where a folder is removed meanwhile.
        staged = {
            str((Path(folder) / name).relative_to(self._blobs))
            for folder, _, names in os.walk(self._blobs)
            for name in names
            if "#" in name
        }
        return {key async for key in store.list_keys()} | staged

    async def wanted_objects(self) -> set[str]:
        """The keys that a live row of some service names."""
        connection = await asyncpg.connect(self._url)
        try:
            rows = [
                row["key"]
                for schema in _OWNERS
                for row in await connection.fetch(f"SELECT key FROM {schema}.blobs WHERE state = 'live'")
            ]
        finally:
            await connection.close()
        return set(rows)

    async def chunks(self, collection: str) -> Mapping[str, list[str]]:
        """The stored chunks of a collection: file name -> texts by ordinal.

        Raises AssertionError where an ordinal of a document is there twice or missing.
        """
        connection = await asyncpg.connect(self._url)
        try:
            live = await connection.fetchval(
                "SELECT live FROM vectorstore.collections WHERE name = $1", collection
            )
            rows = await connection.fetch(
                f"""
                SELECT d.filename, c.document_id, c.ordinal, c.text
                FROM vectors.rag_{collection}_g{live} AS c
                JOIN ingest.documents AS d ON d.id = c.document_id
                ORDER BY d.filename, c.document_id, c.ordinal
                """
            )
            stored = await connection.fetchval(f"SELECT count(*) FROM vectors.rag_{collection}_g{live}")
        finally:
            await connection.close()
        assert stored == len(rows), "chunks of documents that do not exist"
        texts: dict[str, list[str]] = {}
        for row in rows:
            texts.setdefault(row["filename"], []).append(row["text"])
        ordinals = Counter((row["document_id"], row["ordinal"]) for row in rows)
        assert max(ordinals.values(), default=1) == 1, "a chunk is stored twice"
        highest: dict[object, int] = {}
        for document, ordinal in ordinals:
            highest[document] = max(highest.get(document, 0), ordinal)
        assert len(ordinals) == sum(last + 1 for last in highest.values()), "a chunk is missing"
        return texts
