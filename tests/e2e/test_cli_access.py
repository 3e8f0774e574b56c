"""The commands about who may reach what, against a stack that runs access alone."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from acervo_client import AcervoClient
from acervo_client.local import PEOPLE, Description
from acervoctl.people import person_id
from acervoctl.stack.home import temporary_home
from acervoctl.stack.stack import Options, Stack
from services.shared.identity import user_id
from tests.e2e import commands

AGENT = "00000000-0000-0000-0000-000000000007"


@pytest.fixture
async def home() -> AsyncIterator[Path]:
    with temporary_home("acervo-cli-") as path:
        async with Stack(path, Options(services=("access",), start_seconds=60)) as stack:
            await stack.wait_ready()
            yield path


async def acervo(home: Path, *arguments: str, status: int = 0) -> str:
    """Run a command; return what it wrote: to standard error, where it is to fail."""
    done = await asyncio.to_thread(commands.acervo, home, *arguments)
    assert done.returncode == status, done.stderr
    return done.stderr if status else done.stdout


async def answer(home: Path, *arguments: str) -> Any:
    return json.loads(await acervo(home, *arguments, "--json"))


async def refusal(home: Path, *arguments: str) -> str:
    reason: str = json.loads(await acervo(home, *arguments, "--json", status=2))["error"]["reason"]
    return reason


async def test_an_operator_lets_people_teams_and_agents_at_a_base_and_out_again(home: Path) -> None:
    acme = (await answer(home, "org", "create", "acme"))["organization"]
    assert acme["role"] == "owner"
    assert (await answer(home, "member", "add", "acme", "bea"))["member"]["role"] == "viewer"
    team = (await answer(home, "team", "create", "acme", "Sales"))["team"]["id"]
    await answer(home, "team", "add", "Sales", "bea")
    assert (await answer(home, "team", "members", team))["members"] == [{"user_id": person_id("bea")}]

    made = ("kb", "create", "Plans", "--org", "acme", "--collection", "plans", "--visibility", "private")
    base = (await answer(home, *made))["knowledge_base"]
    assert (base["scope"], base["visibility"]) == ("org", "private")
    assert await refusal(home, "kb", "show", "plans", "--user", "bea") == "NOT_FOUND"
    granted = (await answer(home, "grant", "add", "plans", "--team", "Sales", "--edit"))["grant"]
    assert (granted["to"], granted["grantee_id"], granted["permission"]) == ("team", team, "edit")
    assert (await answer(home, "kb", "show", "plans", "--user", "bea"))["knowledge_base"] == base
    why = (await answer(home, "grant", "explain", base["id"], "bea"))["access"]
    assert why == {"role": "viewer", "view": ["team_grant"], "edit": ["team_grant"]}

    reached = (await answer(home, "grant", "reach", "bea"))["knowledge_bases"]
    assert {"id": base["id"], "collection": "plans", **why} in reached
    assert len(reached) == 2, "and the default base of the organization"

    await answer(home, "agent", "create", "Clerk", "--org", "acme")
    held = (await answer(home, "grant", "add", "plans", "--agent", "Clerk"))["grant"]
    assert "Clerk" in await acervo(home, "kb", "delete", "plans", "--yes", status=2)
    assert [one["to"] for one in (await answer(home, "grant", "list", "plans"))["grants"]] == [
        "team",
        "agent",
    ]
    assert (await answer(home, "grant", "revoke", "plans", "--agent", "Clerk"))["grant"] == {"id": held["id"]}
    assert await refusal(home, "grant", "revoke", "plans", "--agent", "Clerk") == "NOT_FOUND"
    await answer(home, "member", "remove", acme["id"], person_id("bea"))
    assert await refusal(home, "kb", "show", "plans", "--user", "bea") == "NOT_FOUND"
    await answer(home, "kb", "delete", "plans", "--yes")
    listed = (await answer(home, "kb", "list", "--org", "acme"))["knowledge_bases"]
    assert [one["default"] for one in listed] == [True]

    renamed = (await answer(home, "org", "rename", "acme", "Ajax"))["organization"]
    assert (await answer(home, "org", "rename", "Ajax", "acme"))["organization"] == {
        **renamed,
        "display_name": "acme",
    }
    await answer(home, "member", "add", "acme", "cem", "--role", "admin")
    assert (await answer(home, "org", "transfer", "acme", "cem"))["member"]["role"] == "owner"
    roles = {one["user_id"]: one["role"] for one in (await answer(home, "member", "list", "acme"))["members"]}
    assert roles == {person_id("admin"): "admin", person_id("cem"): "owner"}
    assert await refusal(home, "org", "delete", "acme", "--yes") == "NOT_FOUND"
    await answer(home, "team", "delete", team, "--yes")
    await answer(home, "org", "delete", "acme", "--yes", "--user", "cem")
    assert (await answer(home, "org", "list"))["organizations"] == []


async def test_an_operator_registers_endpoints_and_has_bases_served_there(home: Path) -> None:
    acme = (await answer(home, "org", "create", "acme"))["organization"]["id"]
    inside = "http://10.0.0.7:11434/v1/"
    assert await refusal(home, "endpoint", "create", "Ours", inside, "--org", "acme") == "FIELD_INVALID"
    ours = await answer(home, "endpoint", "create", "Ours", "https://1.1.1.1/v1", "--org", "acme")
    shared = (await answer(home, "endpoint", "create", "All", inside, "--kind", "ollama"))["endpoint"]
    assert (shared["base_url"], shared["kind"]) == ("http://10.0.0.7:11434/v1", "ollama")
    listed = (await answer(home, "endpoint", "list", "--org", "acme"))["endpoints"]
    assert [one["organization_id"] for one in listed] == [acme, ""]
    changed = await answer(home, "endpoint", "update", ours["endpoint"]["id"], "--name", "Other")
    assert (await answer(home, "endpoint", "show", ours["endpoint"]["id"])) == changed

    served = ("--provider", "ollama", "--endpoint", shared["id"], "--model", "bge-m3", "--width", "1024")
    await answer(home, "kb", "create", "Plans", "--org", "acme", "--collection", "plans", *served)
    base = (await answer(home, "kb", "update", "plans", "--name", "New", "--chunk-size", "1000"))[
        "knowledge_base"
    ]
    assert (base["display_name"], base["embedding_provider"], base["width"]) == ("New", "ollama", 1024)
    assert base["ingestion_config"]["chunk_size"] == 1000
    assert await refusal(home, "kb", "update", "plans", "--secret", acme) == "FIELD_INVALID"
    assert await refusal(home, "kb", "update", "plans", "--secret", acme, "--no-secret") == "USAGE"
    await answer(home, "endpoint", "delete", shared["id"], "--yes")
    left = (await answer(home, "kb", "show", "plans"))["knowledge_base"]
    assert (left["embedding_provider"], left["embedding_endpoint_id"]) == ("ollama", "")
    back = await answer(
        home, "kb", "update", "plans", "--provider", "local", "--no-endpoint", "--no-base-url"
    )
    assert back["knowledge_base"]["embedding_provider"] == "local"
    assert await refusal(home, "secret", "rotate-master-key", "--user", "bea") == "USAGE"
    who = (await answer(home, "account", "show", "--user", "bea"))["account"]
    assert who == {"user_id": person_id("bea"), "deployment_admin": False}


async def test_an_operator_registers_agents_gives_them_tokens_and_lets_them_go(home: Path) -> None:
    await answer(home, "org", "create", "acme")
    await answer(home, "member", "add", "acme", "bea")
    clerk = (await answer(home, "agent", "create", "Clerk", "--org", "acme"))["agent"]
    own = (await answer(home, "agent", "create", "Clerk"))["agent"]
    assert (clerk["owner_user_id"], own["owner_user_id"]) == ("", person_id("admin"))
    assert await refusal(home, "agent", "rename", "Clerk", "Scout") == "USAGE"
    assert (await answer(home, "agent", "rename", own["id"], "Scout"))["agent"]["display_name"] == "Scout"
    assert (await answer(home, "agent", "list", "--org", "acme", "--user", "bea"))["agents"] == [clerk]
    assert [one["id"] for one in (await answer(home, "agent", "list"))["agents"]] == [own["id"]]

    made = ("kb", "create", "Plans", "--org", "acme", "--collection", "plans", "--visibility", "private")
    base = (await answer(home, *made))["knowledge_base"]
    assert await refusal(home, "grant", "add", "plans", "--agent", own["id"]) == "NOT_FOUND"
    await answer(home, "grant", "add", "plans", "--agent", "Clerk")
    token = await answer(home, "token", "--agent", "Clerk", "--user", "bea")
    assert (token["user"], token["agent_id"]) == ("bea", clerk["id"])
    why = (await answer(home, "grant", "explain", "plans", "bea", "--agent", "Clerk"))["access"]
    assert (why["view"], why["edit"]) == (["agent_grant"], [])

    address = Description.read(home).addresses
    async with AcervoClient(address, token["token"]) as client:
        assert [one.id async for one in client.bases.list()] == [base["id"]]
        assert await refusal(home, "agent", "delete", "Clerk") == "USAGE"
        await answer(home, "agent", "delete", "Clerk", "--yes")
        assert [one.id async for one in client.bases.list()] == []
    assert await refusal(home, "token", "--agent", "Clerk", "--user", "bea") == "NOT_FOUND"


async def test_an_operator_limits_what_an_organization_may_spend(home: Path) -> None:
    acme = (await answer(home, "org", "create", "acme"))["organization"]
    budget = (await answer(home, "budget", "show", "acme"))["budget"]
    assert (budget["limit_micros"], budget["spent_micros"], budget["reserved_micros"]) == (None, 0, 0)
    assert "limit: $40.15 a month" in await acervo(home, "budget", "set", acme["id"], "40.15")
    assert (await answer(home, "budget", "show", "acme"))["budget"]["limit_micros"] == 40_150_000
    for amount in ("much", "0.0000001", "Infinity", "$-1"):
        assert await refusal(home, "budget", "set", "acme", amount) == "USAGE"
    assert await refusal(home, "budget", "clear", "acme") == "USAGE"
    assert (await answer(home, "budget", "clear", "acme", "--yes"))["budget"]["limit_micros"] is None
    await answer(home, "member", "add", "acme", "bea")
    assert await refusal(home, "budget", "show", "acme", "--user", "bea") == "NOT_FOUND"


async def test_nothing_goes_unless_somebody_agreed_to_it(home: Path) -> None:
    acme = (await answer(home, "org", "create", "acme"))["organization"]
    team = (await answer(home, "team", "create", "acme", "Sales"))["team"]["id"]
    (base,) = (await answer(home, "kb", "list"))["knowledge_bases"]
    for what in (("kb", base["id"]), ("team", team), ("org", acme["id"])):
        command = (what[0], "delete", what[1])
        assert "--yes" in await acervo(home, *command, status=2)
        assert await asyncio.to_thread(commands.answered, home, b"n", *command) == 2
        assert await asyncio.to_thread(commands.answered, home, b"y", *command) == 0


async def test_what_is_printed_for_people_names_what_scripts_are_told(home: Path) -> None:
    await acervo(home, "org", "create", "acme")
    assert "viewer" in await acervo(home, "member", "add", "acme", "bea")
    for listing in (("org", "list"), ("member", "list", "acme"), ("kb", "list")):
        (name,) = (rows := await answer(home, *listing))
        told = await acervo(home, *listing)
        for row in rows[name]:
            assert (row["user_id"] if name == "members" else row["id"]) in told


async def test_what_cannot_be_meant_is_refused_before_anything_is_asked(home: Path) -> None:
    for arguments in (
        ("grant", "add", "plans"),
        ("ingest", __file__, "--operator", "--base", AGENT),
        ("grant", "add", "plans", "--team", AGENT, "--agent", AGENT),
        ("kb", "create", "Plans", "--team", AGENT, "--visibility", "org"),
        ("team", "delete", str(uuid4())),
    ):
        assert await refusal(home, *arguments) == "USAGE"
    assert await refusal(home, "member", "list", "nobodys") == "NOT_FOUND"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (AGENT, AGENT),
        ("bea", str(user_id(PEOPLE, "bea"))),
        ("https://sso.example#bea", str(user_id("https://sso.example", "bea"))),
    ],
)
def test_a_person_is_named_by_id_by_issuer_or_by_a_local_name(text: str, expected: str) -> None:
    assert person_id(text) == expected
