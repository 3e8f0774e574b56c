"""Whoever waits for a row is judged by the rights that hold once it is had."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from acervo.access.v1 import endpoints_pb2, grants_pb2
from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from services.shared.db import Pool
from tests.integration.access.callers import Access, refusal
from tests.integration.access.test_embedding_settings import MODEL, get, key

Eventually = Callable[..., Awaitable[None]]
_WAITING = "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


async def _update(access: Access, base: str, _: str) -> Any:
    return await access.update("cy", base, display_name="Mine")


async def _delete(access: Access, base: str, _: str) -> Any:
    request = kb.DeleteKnowledgeBaseRequest(knowledge_base_id=base)
    return await access.bases.DeleteKnowledgeBase(request, **access.person("cy"))


async def _grant(access: Access, base: str, _: str) -> Any:
    return await access.grant("cy", base, user_id=access.id("bob"))


async def _revoke(access: Access, _: str, grant: str) -> Any:
    request = grants_pb2.RevokeGrantRequest(grant_id=grant)
    return await access.grants.RevokeGrant(request, **access.person("cy"))


_BASE = "SELECT FROM knowledge_bases WHERE id = $1 FOR UPDATE"
_GRANT = "SELECT FROM grants WHERE id = $1 FOR UPDATE"


@pytest.mark.parametrize(
    ("held", "change"), [(_BASE, _update), (_BASE, _delete), (_BASE, _grant), (_GRANT, _revoke)]
)
async def test_rights_that_went_while_a_change_waited_let_it_do_nothing(
    access: Access,
    pool: Pool,
    eventually: Eventually,
    held: str,
    change: Callable[[Access, str, str], Awaitable[Any]],
) -> None:
    acme = await access.organization("ada", bob=org.ROLE_VIEWER, cy=org.ROLE_BUILDER)
    base = await access.private_base("ada", acme)
    grant = (await access.grant("ada", base, user_id=access.id("bob"))).id
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(held, base if held is _BASE else grant)
        changing = asyncio.ensure_future(refusal(change(access, base, grant)))
        await eventually(lambda: pool.fetchval(_WAITING))
        # As one whose rights end otherwise than under a lock of the organization, which a grant waits for.
        await pool.execute("UPDATE members SET role = 'viewer' WHERE user_id = $1", access.id("cy"))
    assert str((await changing).details()).startswith("There is no such ")
    assert await access.may(access.person("ada"), base) == "view edit"


async def test_changes_of_the_same_base_lose_nothing_of_each_other(
    access: Access, pool: Pool, eventually: Eventually
) -> None:
    acme = await access.organization("ada", bob=org.ROLE_BUILDER)
    base = (await access.base("ada", scope=kb.SCOPE_ORG, organization_id=acme, embedding=MODEL)).id
    ours = await key(access, "ada", acme)
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(_BASE, base)
        binding = asyncio.ensure_future(
            access.update("ada", base, embedding_provider="openai", embedding_secret_id=ours)
        )
        await eventually(lambda: pool.fetchval(_WAITING))
        renaming = asyncio.ensure_future(
            access.update("bob", base, display_name="Mine", embedding_provider="openai")
        )
        await eventually(lambda: pool.fetchval(_WAITING.replace("> 0", "> 1")))
    await asyncio.gather(binding, renaming)
    after = await get(access, "ada", base)
    assert (after.display_name, after.embedding_secret_id) == ("Mine", ours)


async def test_a_role_that_went_while_an_endpoint_was_waited_for_changes_it_no_more(
    access: Access, pool: Pool, eventually: Eventually
) -> None:
    acme = await access.organization("ada", cy=org.ROLE_ADMIN)
    made = await access.endpoint("ada", acme)
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("SELECT FROM endpoints WHERE id = $1 FOR UPDATE", made.id)
        request = endpoints_pb2.DeleteEndpointRequest(endpoint_id=made.id)
        going = asyncio.ensure_future(
            refusal(access.endpoints.DeleteEndpoint(request, **access.person("cy")))
        )
        await eventually(lambda: pool.fetchval(_WAITING))
        await pool.execute("UPDATE members SET role = 'viewer' WHERE user_id = $1", access.id("cy"))
    assert (await going).details() == "There is no such endpoint."
