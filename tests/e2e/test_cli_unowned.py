"""What operators ingest without an owner, from the command line to what others find."""

import asyncio
import json
from pathlib import Path
from typing import Any

from acervoctl.people import person_id
from acervoctl.stack.stack import Stack
from tests.e2e import commands


async def answer(home: Path, *arguments: str | Path) -> Any:
    return await asyncio.to_thread(commands.answer, home, *arguments)


async def refusal(home: Path, *arguments: str | Path) -> str:
    done = await asyncio.to_thread(commands.acervo, home, *arguments, "--json")
    assert done.returncode == 2, done.stdout
    reason: str = json.loads(done.stderr)["error"]["reason"]
    return reason


async def test_an_operators_content_is_hidden_until_it_is_taken_over_and_goes_with_a_drop(
    stack: Stack, stack_home: Path, tmp_path: Path
) -> None:
    home, path = stack_home, tmp_path / "birds.txt"
    path.write_text("Storks come in March.")
    operators = ("ingest", path, "--operator", "--collection", "birds")
    assert await refusal(home, *operators, "--user", "bea") == "NOT_FOUND"
    assert (await answer(home, *operators))["counts"]["done"] == 1
    for name in ("admin", "bea"):
        assert await refusal(home, "search", "storks", "--collection", "birds", "--user", name) == "NOT_FOUND"
    assert (
        await refusal(home, "kb", "create", "Mine", "--collection", "birds", "--user", "bea") == "NAME_TAKEN"
    )

    inspect = ("collections", "provenance", "birds")
    assert await refusal(home, *inspect, "--user", "bea") == "NOT_FOUND"
    (kind,) = (await answer(home, *inspect))["provenance"]["kinds"]
    (hidden,) = kind["ids"]
    assert kind == {
        "kind": "operator",
        "bases": 1,
        "ids": [hidden],
        "documents": {"processing": 0, "done": 1, "error": 0},
        "chunks": 1,
    }
    assert len((await answer(home, "search", "storks", "--base", hidden))["passages"]) == 1
    assert await refusal(home, "search", "storks", "--base", hidden, "--user", "bea") == "NOT_FOUND"

    made = await answer(home, "kb", "create", "Birds", "--scope", "app", "--collection", "birds")
    assert made["knowledge_base"]["id"] == hidden
    found = await answer(home, "search", "storks", "--collection", "birds", "--user", "bea")
    assert [passage["filename"] for passage in found["passages"]] == ["birds.txt"]
    confirmed = (await answer(home, *inspect, "--confirm-operator", "--yes"))["provenance"]
    assert (confirmed["kinds"], confirmed["confirmed"]) == ([{"kind": "regular", "bases": 1, "ids": []}], 0)

    assert await refusal(home, "collections", "drop", "birds") == "USAGE"
    dropped = (await answer(home, "collections", "drop", "birds", "--yes"))["dropped"]
    assert dropped == {"collection": "birds", "emptied": hidden, "deleted": []}


async def test_a_person_goes_with_what_is_the_persons_own(stack: Stack, stack_home: Path) -> None:
    home = stack_home
    base = (await answer(home, "kb", "create", "Diary", "--user", "bea"))["knowledge_base"]["id"]
    assert await refusal(home, "account", "delete", "bea", "--yes", "--user", "cem") == "NOT_FOUND"
    assert await refusal(home, "account", "delete", "--user", "bea") == "USAGE"
    await answer(home, "org", "create", "acme", "--user", "bea")
    assert await refusal(home, "account", "delete", "--yes", "--user", "bea") == "LAST_OWNER"
    await answer(home, "org", "delete", "acme", "--yes", "--user", "bea")
    gone = (await answer(home, "account", "delete", "bea", "--yes"))["account"]
    assert gone == {"user_id": person_id("bea"), "knowledge_bases": 1, "organizations": 0}
    assert await refusal(home, "kb", "show", base, "--user", "bea") == "NOT_FOUND"
