"""Databases that tests hand on: emptied after each test, which costs a tenth of making and dropping one."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

import asyncpg

from services.shared.bootstrap import SERVICES

# Everything that a database consists of beside its rows; two databases with the same of it differ in rows alone.
_SHAPE = """
SELECT md5(string_agg(line, E'\\n' ORDER BY line)) FROM (
    SELECT concat_ws(' ', 'column', attrelid::regclass, attname, atttypid::regtype, attnotnull, relkind) AS line
      FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
     WHERE relnamespace::regnamespace::text = ANY ($1::text[]) AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE relnamespace::regnamespace::text = ANY ($1::text[])
    UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
     WHERE connamespace::regnamespace::text = ANY ($1::text[])
    UNION ALL SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
     WHERE relnamespace::regnamespace::text = ANY ($1::text[])
    UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc
     WHERE pronamespace::regnamespace::text = ANY ($1::text[]) AND prokind = 'f'
) AS shape
"""
_TABLES = """
SELECT c.oid::regclass::text FROM pg_class c
 WHERE relnamespace::regnamespace::text = ANY ($1::text[]) AND relkind IN ('r', 'p')
"""
_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()
"""
_SCHEMAS = [*SERVICES, "vectors"]
_MIGRATIONS = "schema_migrations"


@dataclass
class Recycling:
    """Makes databases as copies of a template, and takes back those that still have its shape."""

    maintenance_url: str
    template: str
    _spare: list[str] = field(default_factory=list)
    _shape: str = ""

    def address(self, name: str) -> str:
        """The superuser's address of a database."""
        return self.maintenance_url.replace("@/postgres?", f"@/{name}?")

    async def take(self) -> str:
        """The name of an empty database."""
        if self._spare:
            return self._spare.pop()
        name = f"test_{secrets.token_hex(6)}"
        connection = await asyncpg.connect(self.maintenance_url)
        try:
            if not self._shape:
                self._shape = await self._look(self.template)
            await connection.execute(f"CREATE DATABASE {name} TEMPLATE {self.template}")
        finally:
            await connection.close()
        return name

    async def give_back(self, name: str) -> None:
        """Empty a database for the next test, or drop one that has become another."""
        connection = await asyncpg.connect(self.maintenance_url)
        try:
            await connection.execute(_OTHERS, name)
            if await self._empty(name):
                self._spare.append(name)
            else:
                await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        finally:
            await connection.close()

    async def _look(self, name: str) -> str:
        connection = await asyncpg.connect(self.address(name))
        try:
            return str(await connection.fetchval(_SHAPE, _SCHEMAS))
        finally:
            await connection.close()

    async def _empty(self, name: str) -> bool:
        """Remove all rows but those of migrations; whether the database has the template's shape."""
        connection = await asyncpg.connect(self.address(name))
        try:
            if await connection.fetchval(_SHAPE, _SCHEMAS) != self._shape:
                return False
            await connection.execute(_emptying([row[0] for row in await connection.fetch(_TABLES, _SCHEMAS)]))
            return True
        finally:
            await connection.close()


def _emptying(tables: Sequence[str]) -> str:
    deletions = "; ".join(f"DELETE FROM {table}" for table in tables if not table.endswith(_MIGRATIONS))
    return f"SET session_replication_role = replica; {deletions}"
