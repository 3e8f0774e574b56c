"""The commands of the audit log, against a stack that runs access alone."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from acervoctl.people import person_id
from tests.e2e import commands
from tests.e2e.test_cli_access import acervo, answer, home, refusal

__all__ = ["home"]


async def test_an_operator_reads_exports_and_verifies_what_was_done(
    home: Path, eventually: Callable[..., Awaitable[None]]
) -> None:
    acme = (await answer(home, "org", "create", "acme"))["organization"]["id"]
    await acervo(home, "member", "add", "acme", "bea", "--role", "admin")
    await acervo(home, "member", "add", "acme", "bea", "--role", "viewer")
    await acervo(home, "kb", "create", "Law", "--collection", "law")

    (changed, added, *_) = (await answer(home, "audit", "list", "--org", "acme"))["events"]
    assert (changed["action"], changed["before"], changed["after"]) == (
        "member.changed",
        {"role": "admin"},
        {"role": "viewer"},
    )
    assert changed["actor_user_id"] == person_id("admin")
    assert (added["action"], added["object_id"]) == ("member.added", person_id("bea"))
    narrowed = ("--org", acme, "--action", "member", "--object", person_id("bea"), "--limit", "1")
    (same,) = (await answer(home, "audit", "list", *narrowed))["events"]
    assert same["id"] == changed["id"]
    assert "admin -> viewer" in await acervo(home, "audit", "list", "--org", "acme")
    assert await refusal(home, "audit", "list", "--org", acme, "--user", "bea") == "NOT_FOUND"
    (mine,) = (await answer(home, "audit", "list"))["events"]
    assert mine["after"]["collection_name"] == "law"
    assert (await answer(home, "audit", "list", "--since", "2999-01-01"))["events"] == []
    assert (await answer(home, "audit", "list", "--deployment"))["events"] == []

    async def sealed() -> bool:
        return bool((await answer(home, "audit", "verify"))["verification"]["waiting"] == 0)

    await eventually(sealed)
    lines = (await acervo(home, "audit", "export", "--org", "acme")).splitlines()
    assert [json.loads(line)["action"] for line in lines][-2:] == ["member.added", "member.changed"]
    assert all(json.loads(line)["seal"] for line in lines)
    assert await asyncio.to_thread(commands.unread, home, "audit", "export", "--org", "acme") == (141, b"")
    head = (await answer(home, "audit", "verify"))["verification"]["head"]
    assert head in await acervo(home, "audit", "verify", "--head", head)
    sequence, _, _ = head.partition(":")
    done = await asyncio.to_thread(_verify, home, f"{int(sequence)}:{'0' * 64}")
    assert done == (1, "head_differs")
    assert await refusal(home, "audit", "verify", "--head", "1:2") == "USAGE"
    assert await refusal(home, "audit", "verify", "--user", "bea") == "NOT_FOUND"


def _verify(home: Path, head: str) -> tuple[int, str]:
    done = commands.acervo(home, "audit", "verify", "--head", head, "--json")
    return done.returncode, json.loads(done.stdout)["verification"]["broken"]["fault"]
