"""What a running stack's database is asked, read from its log."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import asyncpg

from acervoctl.stack.credentials import Credentials
from acervoctl.stack.postgres import Postgres
from acervoctl.stack.stack import Stack
from services.shared.bootstrap import SERVICES

_SETTINGS: Final = {"log_line_prefix": "#|%a|", "log_statement": "all"}
_STATEMENT: Final = re.compile(
    r"^#\|([^|]*)\|LOG:  (?:execute [^:]*|statement): (.*(?:\n\t.*)*)", re.MULTILINE
)


@dataclass
class StatementLog:
    """The statements of all services since it was cleared, without those that their loops were heard to repeat."""

    path: Path
    exact = False
    _from: int = 0
    _of_loops: frozenset[str] = frozenset()

    @classmethod
    async def of(cls, stack: Stack) -> Self:
        credentials = Credentials.load_or_create(stack.home.keys / "credentials.json")
        connection = await asyncpg.connect(Postgres(stack.home, credentials).maintenance_url)
        try:
            for name, value in _SETTINGS.items():
                await connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
            await connection.execute("SELECT pg_reload_conf()")
        finally:
            await connection.close()
        return cls(stack.home.logs / "postgres.log")

    async def learn_loops(self) -> bool:
        """Take what is heard, while nobody calls, as that of loops; whether each service was heard renewing leases."""
        heard = self.heard()
        self._of_loops |= frozenset(heard)
        renewing = {line.partition(":")[0] for line in self._of_loops if "INTO leases" in line}
        return renewing >= set(SERVICES)

    def clear(self) -> None:
        """Forget what was asked so far."""
        self._from = self.path.stat().st_size

    def heard(self) -> tuple[str, ...]:
        """Who asked what, sorted: services work side by side."""
        with self.path.open("rb") as log:
            log.seek(self._from if self._from <= self.path.stat().st_size else 0)  # the keeper cuts it
            text = log.read().decode(errors="replace")
        asked = [f"{service}: {statement}" for service, statement in _STATEMENT.findall(text)]
        return tuple(
            sorted(line for line in asked if line not in self._of_loops and not _of_the_driver(line))
        )


def _of_the_driver(line: str) -> bool:
    """Whether a connection asks for the types of a statement's arguments, which it meets for the first time."""
    return "typeinfo_tree" in line or "pg_catalog.pg_type" in line
