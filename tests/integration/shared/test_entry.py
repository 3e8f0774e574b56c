"""Processes that are told something wrong say what, once, and end; who is only away is waited for."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from services.shared import broker
from services.shared.entry import MISCONFIGURED
from tests.conftest import Databases, NatsServer

Eventually = Callable[..., Awaitable[None]]
SERVICES = ("access", "gateway", "ingest", "sync", "upload", "vectorstore")
HIDDEN = "Sesame-7"


@pytest.fixture
def environment(
    tmp_path: Path, databases: Databases, nats_server: NatsServer, blob_url: str
) -> dict[str, str]:
    (tmp_path / "issuers.json").write_text("[]")
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("ACERVO_")},
        "ACERVO_DATABASE_URL": databases["upload"],
        "ACERVO_NATS_URL": nats_server.url("upload"),
        "ACERVO_BLOB_URL": blob_url,
        "ACERVO_ISSUERS": str(tmp_path / "issuers.json"),
        "ACERVO_SERVICE_TOKENS": str(tmp_path),
    }


async def start(service: str, environment: Mapping[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", f"services.{service}"), env=environment, stderr=asyncio.subprocess.PIPE
    )


async def ends_with(service: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The one line that a process says before it ends as one that is told something wrong."""
    process = await start(service, environment)
    _, said = await process.communicate()
    assert process.returncode == MISCONFIGURED, said.decode()
    (line,) = said.decode().splitlines()
    assert HIDDEN not in line
    told: dict[str, str] = json.loads(line)
    assert told["level"] == "CRITICAL"
    return told


def with_password(url: str, password: str) -> str:
    return re.sub(r"(://[^:@/]+):[^@]*@", rf"\1:{password}@", url)


@pytest.mark.parametrize("service", SERVICES)
async def test_each_process_names_the_setting_that_is_missing(
    service: str, environment: dict[str, str]
) -> None:
    del environment["ACERVO_ISSUERS"]
    told = await ends_with(service, environment)
    assert "ACERVO_ISSUERS" in told["setting"]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ACERVO_DATABASE_POOL", "1"),
        ("ACERVO_DATABASE_URL", f"nonsense://upload:{HIDDEN}@127.0.0.1/acervo"),
        ("ACERVO_DATABASE_URL", f"postgresql://upload:{HIDDEN}@127.0.0.1:port/acervo"),
        ("ACERVO_BLOB_URL", f"ftp://somebody:{HIDDEN}@example.com"),
        ("ACERVO_BLOB_URL", "file:///proc/nowhere"),
        ("ACERVO_ISSUERS", "/nowhere/issuers.json"),
        ("ACERVO_ISSUERS", "/dev/null"),
        ("ACERVO_ROLE", HIDDEN),
        ("ACERVO_LOG_LEVEL", HIDDEN),
    ],
)
async def test_a_setting_that_cannot_be_used_is_named_without_its_value(
    variable: str, value: str, environment: dict[str, str]
) -> None:
    environment[variable] = value
    assert (await ends_with("upload", environment))["setting"] == variable


async def test_access_names_the_file_of_master_keys_that_is_none(
    environment: dict[str, str], databases: Databases, nats_server: NatsServer, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.write_text(f"1 {HIDDEN}")
    own = {"ACERVO_DATABASE_URL": databases["access"], "ACERVO_NATS_URL": nats_server.url("access")}
    told = await ends_with("access", {**environment, **own, "ACERVO_VAULT_KEYS_FILE": str(keys)})
    assert told["setting"] == "ACERVO_VAULT_KEYS_FILE"


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:port", "192.0.2.1:80"])
async def test_the_gateway_names_the_address_that_it_cannot_listen_on(
    address: str, environment: dict[str, str]
) -> None:
    environment["ACERVO_LISTEN"] = address
    assert (await ends_with("gateway", environment))["setting"] == "ACERVO_LISTEN"


@pytest.mark.parametrize("part", ["password", "name"])
async def test_a_database_that_lets_nobody_in_is_not_waited_for(
    part: str, environment: dict[str, str]
) -> None:
    url = environment["ACERVO_DATABASE_URL"]
    wrong = {
        "password": with_password(url, HIDDEN),
        "name": re.sub(r"(//[^/]*)/[^?]*", r"\1/no_such_database", url),
    }
    environment["ACERVO_DATABASE_URL"] = wrong[part]
    assert (await ends_with("upload", environment))["setting"] == "ACERVO_DATABASE_URL"


async def test_a_broker_that_lets_nobody_in_is_told_of_once_however_often_it_is_tried(
    nats_server: NatsServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    eventually: Eventually,
) -> None:
    tries: list[Exception] = []
    report = broker.Reporter.report

    async def counted(reporter: broker.Reporter, error: Exception) -> None:
        tries.append(error)
        await report(reporter, error)

    async def tried_often() -> bool:
        return len(tries) > 5

    monkeypatch.setattr(broker.Reporter, "report", counted)
    url = with_password(nats_server.url("upload"), HIDDEN)
    connecting = asyncio.create_task(broker.Broker.connect(url, "upload"))
    await eventually(tried_often)
    connecting.cancel()
    await asyncio.gather(connecting, return_exceptions=True)
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == len(set(told)) == len({repr(error) for error in tries})
    (refused,) = (record for record in caplog.records if record.levelname == "ERROR")
    assert "ACERVO_NATS_URL" in refused.getMessage()
    assert HIDDEN not in caplog.text
