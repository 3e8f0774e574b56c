"""Brings the schemas of the services up to date, with dbmate and as each service's own role.

Every schema gets the shared tables (`services/shared/migrations`, recorded in `shared_migrations`), then the
service's own (`services/<service>/migrations`, recorded in `schema_migrations`). A database lock makes
concurrent runs wait for each other. The schemas themselves come from `services.shared.bootstrap`.

    ACERVO_DATABASE_URL_INGEST=... python -m services.shared.migrate ingest

An address is `ACERVO_DATABASE_URL_<SERVICE>`, else `ACERVO_DATABASE_URL`.
"""

import argparse
import asyncio
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from services.shared.bootstrap import SERVICES, search_path

_SERVICES_DIR = Path(__file__).resolve().parents[1]
_LOOPBACK = frozenset({"", "localhost", "127.0.0.1", "::1"})


class MigrationFailed(Exception):
    """A migration was refused. `output` is what dbmate said."""

    def __init__(self, service: str, output: str) -> None:
        self.service = service
        self.output = output
        super().__init__(f"migrating {service} failed: {output.strip()}")


async def migrate_all(urls: Mapping[str, str]) -> None:
    """Migrate the schemas of several services, given as service -> address, at the same time.

    Raises the first `MigrationFailed`, once all have ended.
    """
    results = await asyncio.gather(*(migrate(*item) for item in urls.items()), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result


async def migrate(service: str, url: str) -> None:
    """Bring the schema of one service up to date. Raises `MigrationFailed`."""
    for folder, table in _migrations(service):
        await _dbmate(service, _dbmate_url(service, url), folder, table)


def _migrations(service: str) -> Iterator[tuple[Path, str]]:
    yield _SERVICES_DIR / "shared" / "migrations", "shared_migrations"
    own = _SERVICES_DIR / service / "migrations"
    if any(own.glob("*.sql")):
        yield own, "schema_migrations"


def _dbmate_url(service: str, url: str) -> str:
    """Add what dbmate needs: the search path, and no TLS where the database is on this machine."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    query["search_path"] = search_path(service)
    if (parts.hostname or "") in _LOOPBACK:
        query.setdefault("sslmode", "disable")
    return urlunsplit(parts._replace(query=urlencode(query, safe="/,")))


async def _dbmate(service: str, url: str, folder: Path, table: str) -> None:
    process = await asyncio.create_subprocess_exec(
        _dbmate_path(),
        *("--env", "ACERVO_DBMATE_URL", "--env-file", os.devnull),
        *("--migrations-dir", str(folder), "--migrations-table", table),
        *("--no-dump-schema", "--migration-lock", "--wait", "migrate"),
        env={**os.environ, "ACERVO_DBMATE_URL": url},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    if process.returncode != 0:
        raise MigrationFailed(service, output.decode(errors="replace"))


def _dbmate_path() -> str:
    places = (sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath))
    path = shutil.which("dbmate", path=os.pathsep.join(places))
    if path is None:
        raise FileNotFoundError("dbmate is not installed: install the extra `migrate`")
    return path


def main() -> int:
    """Entry point of a Job: the services to migrate are arguments, all of them by default."""
    parser = argparse.ArgumentParser(description="Bring the schemas of Acervo's services up to date.")
    parser.add_argument("services", nargs="*", metavar="SERVICE", help=", ".join(SERVICES))
    services = parser.parse_args().services or list(SERVICES)
    unknown = sorted(set(services) - set(SERVICES))
    if unknown:
        parser.error(f"no such service: {', '.join(unknown)}")
    fallback = os.environ.get("ACERVO_DATABASE_URL", "")
    urls = {name: os.environ.get(f"ACERVO_DATABASE_URL_{name.upper()}", fallback) for name in services}
    missing = [name for name, url in urls.items() if not url]
    if missing:
        parser.error(f"no database address for: {', '.join(missing)}")
    try:
        asyncio.run(migrate_all(urls))
    except MigrationFailed as failure:
        print(failure, file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
