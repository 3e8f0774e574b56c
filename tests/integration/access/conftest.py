"""access, served over gRPC on a fresh database, and people who call it."""

import base64
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.access import reach_sql
from services.access.app import servicers
from services.access.rpc import CALLERS
from services.access.settings import AccessSettings
from services.shared.client import open_channel
from services.shared.db import Pool, open_pool
from services.shared.server import build_server
from tests.conftest import Databases
from tests.integration.access.callers import ADMIN, Access, person_id
from tests.signing import Trust


@pytest.fixture
async def pool(databases: Databases) -> AsyncIterator[Pool]:
    pool = await open_pool(databases["access"], size=4, application="test", prepare=reach_sql.prepare)
    yield pool
    await pool.close()


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(tmp_path)


@pytest.fixture
def master_keys(tmp_path: Path) -> Path:
    """The file of the vault's master keys."""
    path = tmp_path / "vault-keys"
    path.write_text(f"1 {base64.b64encode(os.urandom(32)).decode()}\n")
    return path


@pytest.fixture
def vault_keys(master_keys: Path) -> Path | None:
    """What access is told of the vault's master keys."""
    return master_keys


@pytest.fixture
async def access(pool: Pool, trust: Trust, vault_keys: Path | None) -> AsyncIterator[Access]:
    settings = AccessSettings.model_validate(
        {
            "database_url": "",
            "nats_url": "",
            "blob_url": "",
            "issuers": str(trust.issuers),
            "service_tokens": str(trust.directory),
            "admins": str(person_id(ADMIN)),
            "vault_keys_file": vault_keys,
        }
    )
    server = await build_server(settings, trust.verifier("access"), servicers(pool, settings), CALLERS)
    await server.start()
    channel = open_channel(server.address)
    yield Access(channel, trust)
    await channel.close()
    await server.stop(0)
