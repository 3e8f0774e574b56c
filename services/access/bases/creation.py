"""Making knowledge bases: who may, and on which names."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from services.access.audit import log
from services.access.audit.bases import of_base
from services.access.audit.events import Action
from services.access.bases import knowledge_bases, names, serving, unowned
from services.access.bases.claims import Claimant, Embedding, Name, Verdict, conflicts, judge
from services.access.bases.embedding_settings import LOCAL, NO_EDIT, Serving, ServingEdit, apply
from services.access.bases.knowledge_bases import KnowledgeBase
from services.access.bases.provenance import takes_over
from services.access.people import organizations, teams
from services.access.people.roles import Permission, roles_with
from services.access.reach import BaseKind, BaseScope, Caller, Holding, Visibility
from services.access.refusals import BaseNotFound, EmbeddingConflict
from services.shared.db import Connection, Pool
from services.shared.embedding_providers import Provider
from services.shared.errors import FieldsInvalid, FieldViolation, NameTaken
from services.shared.ids import uuid7
from services.shared.ingestion_config import DEFAULT, IngestionConfig
from services.shared.names import check_collection_name, derive_collection_name

# How long a claim waits for another transaction on the same name: each waiting one occupies a connection.
_WAIT = "SET LOCAL lock_timeout = '1s'"


@dataclass(frozen=True, slots=True)
class Wish:
    """A base that somebody wants made."""

    display_name: str
    scope: BaseScope
    collection_name: str = ""
    """Empty: derived from the display name."""
    organization_id: UUID | None = None
    visibility: Visibility | None = None
    """None but for organizations' bases."""
    team_id: UUID | None = None
    """Which team it is to be visible to; None but for that visibility."""
    embedding: Embedding | None = None
    """None: what the name has already, or the deployment's default."""
    serving: ServingEdit = NO_EDIT
    """What is named of who serves the model; the rest is what the name has already, or the deployment's models."""
    ingestion_config: IngestionConfig = DEFAULT
    default_base: bool = False


@dataclass(frozen=True, slots=True)
class Fresh:
    """What a new base is made of that nobody chose."""

    id: UUID
    """UUIDv7."""
    suffix: str
    """Six random hexadecimal characters, for a derived name."""
    embedding: Embedding
    """The deployment's default."""

    @classmethod
    def of(cls, embedding: Embedding) -> Self:
        return cls(uuid7(), secrets.token_hex(3), embedding)


async def create(connection: Connection, caller: Caller, wish: Wish, fresh: Fresh) -> KnowledgeBase:
    """Make a base, in the caller's transaction; an app base out of what operators ingested under its name.

    Raises OrganizationNotFound or BaseNotFound where the caller may not make bases there, TeamNotFound, NameInvalid,
    NameTaken, EmbeddingConflict, FieldsInvalid, EndpointNotFound or SecretNotFound. Where another transaction is at
    work on the name for longer than a second, the database's refusal to wait goes up: callers are told to try again.
    """
    name = wish.collection_name or derive_collection_name(wish.display_name, fresh.suffix)
    check_collection_name(name)
    await wait_a_second(connection)
    await _authorise(connection, caller, wish)
    held = await _claim(connection, caller, wish, name, fresh.embedding)
    adopted = held.serving_for(wish.organization_id)
    before = await serving.adopt(connection, caller, adopted, wish.organization_id)
    after = apply(before, wish.serving)
    key = await serving.check(
        connection,
        caller,
        LOCAL,
        after,
        wish.organization_id,
        complete=held.serving is None or bool(wish.serving.named),
        named=wish.serving.named,
    )
    base = await _store(connection, caller, wish, fresh.id, name, held.embedding, after)
    if after != LOCAL:
        await serving.store(connection, caller, base.id, after, key)
    if base.id != fresh.id:  # it was there, and it is written down what became of it
        return base
    event = of_base(
        Action.KNOWLEDGE_BASE_CREATED,
        base.id,
        base.holding,
        display_name=base.display_name,
        collection_name=base.collection_name,
    )
    await log.record(connection, caller, event)
    return base


async def check_maker(pool: Pool, caller: Caller, wish: Wish) -> None:
    """Raise what `create` does where the caller may make no such base, before anything is asked outside."""
    if wish.organization_id is not None:
        roles = roles_with(Permission.COLLECTIONS_CREATE)
        await organizations.check_role(pool, wish.organization_id, caller.person, roles)
    elif _is_refused(caller, wish):
        raise BaseNotFound


async def wait_a_second(connection: Connection) -> None:
    """Wait no longer for another transaction on a name, in the one at hand."""
    await connection.execute(_WAIT)


async def _authorise(connection: Connection, caller: Caller, wish: Wish) -> None:
    if wish.organization_id is not None:
        roles = roles_with(Permission.COLLECTIONS_CREATE)
        await organizations.lock_for_content(connection, wish.organization_id, caller.person, roles)
        if wish.team_id is not None:
            await teams.check_exists(connection, wish.organization_id, wish.team_id)
    elif _is_refused(caller, wish):
        raise BaseNotFound


def _is_refused(caller: Caller, wish: Wish) -> bool:
    return caller.person is None or (wish.scope is BaseScope.APP and not caller.deployment_admin)


async def _claim(connection: Connection, caller: Caller, wish: Wish, name: str, default: Embedding) -> Name:
    """Hold the name and return what it has."""
    held = await names.hold(connection, name, caller, wish.embedding or default)
    claimant = Claimant(
        deployment_admin=caller.deployment_admin,
        outside_organizations=wish.scope is BaseScope.PERSONAL and wish.organization_id is None,
    )
    provider = wish.serving.to.provider if "provider" in wish.serving.named else None
    verdict = judge(held, claimant, wish.embedding, provider)
    if verdict is Verdict.TAKEN:
        raise NameTaken(name)
    if verdict is Verdict.EMBEDDING_CONFLICT:
        raise EmbeddingConflict(conflicts(held, wish.embedding, provider))
    if held.serving is None and wish.embedding is None and provider not in {None, Provider.LOCAL}:
        raise FieldsInvalid([FieldViolation("embedding.model", f"Name the model that {provider} serves.")])
    return held


async def _store(
    connection: Connection,
    caller: Caller,
    wish: Wish,
    base_id: UUID,
    name: str,
    embedding: Embedding,
    served: Serving,
) -> KnowledgeBase:
    holding = Holding(
        BaseKind.REGULAR, wish.scope, wish.organization_id, caller.person, wish.visibility, wish.team_id
    )
    stored = await _take_over(connection, caller, wish, name)
    if stored is None:
        made = await knowledge_bases.insert(
            connection,
            base_id,
            display_name=wish.display_name,
            collection_name=name,
            holding=holding,
            ingestion_config=wish.ingestion_config,
            default_base=wish.default_base,
        )
        stored = base_id, made
    return KnowledgeBase(
        id=stored[0],
        display_name=wish.display_name,
        collection_name=name,
        holding=holding,
        embedding=embedding,
        serving=served,
        ingestion_config=wish.ingestion_config,
        default_base=wish.default_base,
        create_time=stored[1],
    )


async def _take_over(
    connection: Connection, caller: Caller, wish: Wish, name: str
) -> tuple[UUID, datetime] | None:
    """Turn what operators ingested under the name into the base that is wished for, so that nothing has to be moved."""
    if not takes_over(wish.scope, BaseKind.OPERATOR):
        return None
    return await unowned.take_over(
        connection, caller, name, display_name=wish.display_name, config=wish.ingestion_config
    )
