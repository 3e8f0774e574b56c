"""The vault of a running stack, from the command line to the disk: what a secret holds is found nowhere."""

import asyncio
import base64
import json
import subprocess
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import pytest

from acervo.access.v1 import secrets_pb2 as pb
from acervo.access.v1.secrets_pb2_grpc import SecretServiceStub
from acervoctl.people import person_id
from acervoctl.stack.home import temporary_home
from acervoctl.stack.postgres import installation
from acervoctl.stack.stack import Options, Stack
from services.shared.auth import ServiceTokens
from services.shared.client import call_options, open_channel
from tests.e2e import commands
from tests.e2e.statements import StatementLog

MARK = "MARK" + "0123456789abcdef" * 2 + "KRAM"
SAID = "Said9876543210"
SERVICE_ACCOUNT = {"type": "service_account", "client_email": "acervo@acme.example", "private_key": MARK}


class Vault:
    """A stack that runs access alone, with a base, and files whose content is secret."""

    def __init__(self, stack: Stack, beside: Path) -> None:
        self.stack = stack
        self.home = stack.home.root
        self._beside = beside
        self.channel = open_channel(stack.addresses["access"])
        self.stub: Any = SecretServiceStub(self.channel)

    async def run(self, *arguments: str, status: int = 0) -> Any:
        done = await asyncio.to_thread(commands.acervo, self.home, *arguments, "--json")
        assert done.returncode == status, done.stderr
        assert MARK not in done.stdout + done.stderr
        return json.loads(done.stderr if status == 2 else done.stdout)

    async def secret(self, *arguments: str, status: int = 0) -> Any:
        answer = await self.run("secret", *arguments, status=status)
        return answer["error"]["reason"] if status == 2 else answer["secret"]

    def file(self, content: str) -> str:
        path = self._beside / uuid4().hex
        path.write_text(content)
        return str(path)

    async def call(self, method: str, request: Any, service: str = "sync") -> Any:
        options = call_options(ServiceTokens(self.home / "tokens" / service).token("access"))
        return await getattr(self.stub, method)(request, **options)


async def test_what_a_secret_holds_is_in_no_file_of_a_stack_that_kept_opened_and_rotated_it(
    tmp_path: Path,
) -> None:
    with temporary_home("acervo-vault-") as home:
        options = Options(services=("access",), start_seconds=60, environment={"ACERVO_LOG_LEVEL": "DEBUG"})
        async with Stack(home, options) as stack:
            await stack.wait_ready()
            await StatementLog.of(stack)
            vault = Vault(stack, tmp_path)
            await use(vault)
            await vault.channel.close()
            dump = await asyncio.to_thread(dumped, stack)
        written = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
        assert [path for path, data in written.items() if holds(data)] == []
        assert not holds(dump)
        # What is no secret is found, so that one would be.
        kinds = {path.relative_to(home).parts[0] for path, data in written.items() if SAID.encode() in data}
        assert kinds == {"logs", "postgres"}
        assert SAID.encode() in dump
        log = (home / "logs" / "postgres.log").read_text()
        assert "INSERT INTO secrets" in log
        assert "DETAIL:  Parameters" in log


async def use(vault: Vault) -> None:
    """Keep, lend, open, change, rotate and delete secrets, rightly and wrongly."""
    await vault.run("org", "create", "acme")
    base = (await vault.run("kb", "create", "Plans", "--org", "acme"))["knowledge_base"]["id"]
    token = await vault.secret(
        "create",
        "acme",
        "Git",
        "--kind",
        "git_token",
        "--set",
        "username=ana",
        "--from",
        f"token={vault.file(MARK + chr(10))}",
    )
    assert (token["kind"], token["hint"], token["visibility"]) == ("git_token", "ana", "private")
    account = await vault.secret(
        "create",
        "acme",
        "Drive",
        "--kind",
        "gcp_service_account",
        "--visibility",
        "org",
        "--from",
        f"json={vault.file(json.dumps(SERVICE_ACCOUNT))}",
    )
    assert (account["hint"], account["visibility"]) == ("acervo@acme.example", "org")
    await mistaken(vault, token["id"])

    source = str(uuid4())
    bind = pb.BindSecretRequest(
        actor_user_id=person_id("admin"), secret_id=token["id"], knowledge_base_id=base, source_id=source
    )
    await vault.call("BindSecret", bind)
    opening = pb.OpenSecretRequest(
        secret_id=token["id"], knowledge_base_id=base, source_id=source, purpose=pb.SECRET_PURPOSE_SOURCE
    )
    assert (await vault.call("OpenSecret", opening)).value.git_token.token == MARK
    with pytest.raises(grpc.aio.AioRpcError):
        await vault.call("OpenSecret", opening, "ingest")

    done = (await vault.run("secret", "rotate-master-key"))["vault"]
    assert done == {"key_version": 2, "rewrapped": 2, "unreadable_secret_ids": [], "remaining": 0}
    again = (await vault.run("secret", "rotate-master-key", "--keep-key"))["vault"]
    assert (again["key_version"], again["rewrapped"]) == (2, 0)
    assert (await vault.call("OpenSecret", opening)).value.git_token.token == MARK
    changed = await vault.secret(
        "update", token["id"], "--name", SAID, "--from", f"token={vault.file(MARK * 2)}"
    )
    assert (changed["display_name"], changed["hint"]) == (SAID, "")
    assert (await vault.call("OpenSecret", opening)).value.git_token.token == MARK * 2
    await vault.stack.restarted("access", after=vault.stack.kill("access"))

    listed = (await vault.run("secret", "list", "acme"))["secrets"]
    assert [one["id"] for one in listed] == [token["id"], account["id"]]
    assert await vault.secret("delete", token["id"], status=2) == "USAGE"
    assert await vault.secret("delete", token["id"], "--yes") == {"id": token["id"], "uses": 1}
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await vault.call("OpenSecret", opening)
    assert "no key" in (refused.value.details() or "")


async def mistaken(vault: Vault, secret_id: str) -> None:
    """What is refused, with the secret in it."""
    spaced, secret = vault.file(f"{MARK} {MARK}"), vault.file(MARK)
    for arguments, reason in (
        (("create", "acme", "A", "--kind", "notion_token", "--from", f"token={spaced}"), "FIELD_INVALID"),
        (
            ("create", "acme", "A", "--kind", "gcp_service_account", "--from", f"json={secret}"),
            "FIELD_INVALID",
        ),
        (("create", "acme", "A", "--kind", "notion_token", "--set", f"token={MARK}"), "USAGE"),
        (("create", "acme", "A", "--kind", "notion_token", "--set", MARK), "USAGE"),
        (("create", "acme", "A", "--kind", "notion_token", "--from", "token=/nowhere"), "FILE_UNREADABLE"),
        (("create", "acme", "A", "--kind", "notion_token"), "FIELD_INVALID"),
        (("create", "nobodys", "A", "--kind", "notion_token", "--from", f"token={secret}"), "NOT_FOUND"),
        (("update", secret_id, "--from", f"token={secret}", "--user", "bea"), "NOT_FOUND"),
    ):
        assert await vault.secret(*arguments, status=2) == reason, arguments
    value = pb.SecretValue(notion_token=pb.NotionToken(token=MARK))
    request = pb.UpdateSecretRequest(request_id=str(uuid4()), secret_id=secret_id, value=value)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await vault.stub.UpdateSecret(request, **call_options(vault.stack.token()))
    assert not holds(repr(refused.value).encode())


def holds(data: bytes) -> bool:
    """Whether data hold the mark: as it is, in base64 wherever it begins, in hexadecimal digits, or in UTF-16."""
    marks = [
        MARK.encode(),
        MARK.encode().hex().encode(),
        MARK.encode().hex().upper().encode(),
        MARK.encode("utf-16-le"),
    ]
    marks += [base64.b64encode(b" " * shift + MARK.encode())[4:-4] for shift in range(3)]
    return any(mark in data for mark in marks)


def dumped(stack: Stack) -> bytes:
    """A backup of the database."""
    program = installation() / "bin" / "pg_dump"
    done = subprocess.run([program, stack.admin_database_url], capture_output=True, check=True)
    assert b"COPY access.secrets" in done.stdout
    return done.stdout
