"""Changing knowledge bases. Locks are taken in the order organization, base, secret."""

from dataclasses import dataclass, replace
from uuid import UUID

from services.access.audit import log
from services.access.audit.bases import of_change
from services.access.bases import knowledge_bases, serving
from services.access.bases.embedding_settings import ServingEdit, apply
from services.access.bases.knowledge_bases import KnowledgeBase
from services.access.people import organizations, teams
from services.access.people.roles import Role
from services.access.reach import BaseKind, BaseScope, Caller, CallerKind, Visibility, Want
from services.access.refusals import BaseNotFound, OrganizationNotFound
from services.shared.db import Connection
from services.shared.errors import FieldsInvalid, FieldViolation
from services.shared.ingestion_config import Override, merge


@dataclass(frozen=True, slots=True)
class BaseChange:
    """What is to change of a base. None: it stays."""

    display_name: str | None = None
    visibility: Visibility | None = None
    team_id: UUID | None = None
    """None but for that visibility."""
    ingestion_config: Override | None = None
    serving: ServingEdit | None = None


def wants(change: BaseChange) -> tuple[Want, ...]:
    """What somebody must be able to do with a base for the change: each of these."""
    audience = change.visibility is not None
    rest = replace(change, visibility=None, team_id=None) != BaseChange()
    return (*((Want.MANAGE,) if audience else ()), *((Want.EDIT,) if rest or not audience else ()))


async def update(connection: Connection, caller: Caller, base_id: UUID, change: BaseChange) -> KnowledgeBase:
    """Change a base. Who sees it is for those to say who manage it, all else for those who edit it; who serves its
    model and whose key pays, for people alone.

    Raises BaseNotFound, TeamNotFound, EndpointNotFound, SecretNotFound or FieldsInvalid.
    """
    before = await _lock(connection, caller, base_id, change)
    after = replace(
        before,
        display_name=change.display_name or before.display_name,
        ingestion_config=merge(before.ingestion_config, change.ingestion_config or Override()),
    )
    if change.visibility is not None:
        shown = replace(before.holding, visibility=change.visibility, team_id=change.team_id)
        after = replace(after, holding=shown)
    if change.serving is not None:
        after = replace(after, serving=apply(before.serving, change.serving))
        key = await serving.check(
            connection,
            caller,
            before.serving,
            after.serving,
            before.holding.organization_id,
            complete=after.serving.provider is not before.serving.provider,
            named=change.serving.named,
        )
        await serving.store(connection, caller, base_id, after.serving, key)
    await knowledge_bases.update(connection, after)
    event = of_change(
        base_id,
        (before.holding, before.display_name, before.serving),
        (after.holding, after.display_name, after.serving),
        config=before.ingestion_config != after.ingestion_config,
    )
    if event is not None:
        await log.record(connection, caller, event)
    return after


async def _lock(connection: Connection, caller: Caller, base_id: UUID, change: BaseChange) -> KnowledgeBase:
    first, *others = wants(change)
    seen = await knowledge_bases.find(connection, caller, base_id, first)
    if seen is None or seen.holding.kind is not BaseKind.REGULAR:
        raise BaseNotFound
    if change.serving is not None and caller.kind is CallerKind.AGENT:
        raise BaseNotFound
    if change.visibility is not None:
        await _lock_audience(connection, caller, seen, change.team_id)
    base = await knowledge_bases.lock(connection, caller, base_id, first)
    for want in others:
        base = base and await knowledge_bases.find(connection, caller, base_id, want)
    if base is None:
        raise BaseNotFound
    return base


async def _lock_audience(
    connection: Connection, caller: Caller, base: KnowledgeBase, team_id: UUID | None
) -> None:
    organization_id = base.holding.organization_id
    if base.holding.scope is not BaseScope.ORG or organization_id is None:
        raise FieldsInvalid([FieldViolation("visibility", "Only bases of scope ORG have a visibility.")])
    try:
        await organizations.lock_for_content(connection, organization_id, caller.person, tuple(Role))
    except OrganizationNotFound:
        raise BaseNotFound from None
    if team_id is not None:
        await teams.check_exists(connection, organization_id, team_id)
