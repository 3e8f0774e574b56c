"""Making, changing and deleting secrets, and lending them to sources. Locks are taken in the order organization,
base, secret."""

from dataclasses import dataclass, replace
from uuid import UUID

from acervo.events.v1.facts_pb2 import SecretDeleted
from services.access.audit import log
from services.access.audit.events import Action, Details, Event, ObjectKind, details
from services.access.bases import knowledge_bases
from services.access.people import organizations, teams
from services.access.people.roles import Permission, roles_with
from services.access.reach import Caller, Visibility, Want
from services.access.refusals import BaseNotFound, OrganizationNotFound, SecretNotFound
from services.access.vault import bindings, kinds, secrets
from services.access.vault.envelope import Keyring, Label
from services.access.vault.kinds import SecretKind, Values
from services.access.vault.lending import TERMS, Use, borrows
from services.access.vault.master_keys import MasterKeys
from services.access.vault.reach import Keeping
from services.access.vault.secrets import Secret
from services.shared import bus, outbox
from services.shared.db import Connection
from services.shared.errors import FieldsInvalid, FieldViolation

_EDITORS = roles_with(Permission.SECRETS_EDIT)


@dataclass(frozen=True, slots=True)
class Value:
    """What a secret is to hold, in which nothing is wrong."""

    kind: SecretKind
    values: Values

    def __repr__(self) -> str:
        return f"Value({self.kind})"


@dataclass(frozen=True, slots=True)
class SecretWish:
    """A secret that somebody wants kept."""

    organization_id: UUID
    display_name: str
    visibility: Visibility
    team_id: UUID | None
    """None but for that visibility."""
    value: Value


@dataclass(frozen=True, slots=True)
class SecretChange:
    """What is to change of a secret. None: it stays."""

    display_name: str | None = None
    visibility: Visibility | None = None
    team_id: UUID | None = None
    """None but for that visibility."""
    value: Value | None = None


async def create(
    connection: Connection, caller: Caller, wish: SecretWish, master: MasterKeys, *, secret_id: UUID
) -> Secret:
    """Seal and keep a secret. Raises OrganizationNotFound, TeamNotFound or VaultClosed."""
    await organizations.lock_for_content(connection, wish.organization_id, caller.person, _EDITORS)
    if wish.team_id is not None:
        await teams.check_exists(connection, wish.organization_id, wish.team_id)
    kind, values = wish.value.kind, wish.value.values
    label = Label(secret_id, wish.organization_id, kind, kinds.hint(kind, values))
    keeping = Keeping(wish.organization_id, caller.person, wish.visibility, wish.team_id)
    sealed = master.current().seal(label, kinds.encode(values))
    secret = await secrets.insert(connection, label, keeping, wish.display_name, sealed)
    await _record(connection, caller, Action.SECRET_CREATED, secret, after=_told(secret))
    return secret


async def update(
    connection: Connection, caller: Caller, secret_id: UUID, change: SecretChange, master: MasterKeys
) -> Secret:
    """Change a secret. Raises SecretNotFound, TeamNotFound, FieldsInvalid or VaultClosed."""
    secret = await _lock(connection, caller, secret_id)
    if change.team_id is not None:
        await teams.check_exists(connection, secret.keeping.organization_id, change.team_id)
    if change.value is not None:
        secret = await _replace(connection, secret, change.value, master.current())
        await _record(connection, caller, Action.SECRET_REPLACED, secret, after=_told(secret))
    return await _describe(connection, caller, secret, change)


async def _replace(connection: Connection, secret: Secret, value: Value, keyring: Keyring) -> Secret:
    if value.kind is not secret.kind:
        raise FieldsInvalid([FieldViolation("value", f"This secret is of the kind {secret.kind}.")])
    hint = kinds.hint(value.kind, value.values)
    if secret.kind is SecretKind.API_KEY and hint != secret.hint:
        raise FieldsInvalid(
            [FieldViolation("value.api_key.provider", "The provider stays the same; make another secret.")]
        )
    label = replace(secret.label, hint=hint)
    return await secrets.replace(connection, label, keyring.seal(label, kinds.encode(value.values)))


async def _describe(connection: Connection, caller: Caller, before: Secret, change: SecretChange) -> Secret:
    if change.display_name is None and change.visibility is None:
        return before
    shown = (before.keeping.visibility, before.keeping.team_id)
    if change.visibility is not None:
        shown = (change.visibility, change.team_id)
    after = await secrets.describe(connection, before.id, change.display_name or before.display_name, *shown)
    if _told(after) != _told(before):
        await _record(
            connection, caller, Action.SECRET_UPDATED, after, before=_told(before), after=_told(after)
        )
    return after


async def delete(connection: Connection, caller: Caller, secret_id: UUID) -> int:
    """Remove a secret; what it is bound to stays bound and has no key. Return how many uses that are.

    Raises SecretNotFound.
    """
    await _remove(connection, caller, await _lock(connection, caller, secret_id))
    return await bindings.count(connection, secret_id)


async def delete_of_organization(connection: Connection, caller: Caller, organization_id: UUID) -> None:
    """Remove all secrets of an organization that goes, under its lock."""
    for secret in await secrets.lock_of_organization(connection, organization_id):
        await _remove(connection, caller, secret)


async def _remove(connection: Connection, caller: Caller, secret: Secret) -> None:
    await secrets.delete(connection, secret.id)
    await outbox.announce(connection, bus.SECRET_DELETED, SecretDeleted(secret_id=str(secret.id)))
    await _record(connection, caller, Action.SECRET_DELETED, secret, before=_told(secret))


async def lend(connection: Connection, caller: Caller, actor: Caller, use: Use, secret_id: UUID) -> Secret:
    """Bind a secret that the actor, for whom a service calls, sees to a source of a base that the actor edits.

    Raises BaseNotFound, or SecretNotFound where it is no service that such secrets are lent to, either.
    """
    if not borrows(caller, use.purpose):
        raise SecretNotFound
    base = await knowledge_bases.lock_shared(connection, actor, use.base_id, Want.EDIT)
    if base is None:
        raise BaseNotFound
    organization_id, wanted = base.holding.organization_id, TERMS[use.purpose].kinds
    secret = await secrets.find_lendable(connection, actor, secret_id, organization_id, wanted)
    if secret is None:
        raise SecretNotFound
    await bindings.bind(connection, caller, use, secret, actor=actor.user_id)
    return secret


async def take_back(connection: Connection, caller: Caller, use: Use) -> None:
    """End what `lend` began. Raises SecretNotFound where the caller is no service that such secrets are lent to."""
    if not borrows(caller, use.purpose):
        raise SecretNotFound
    await bindings.unbind(connection, caller, use)


async def _lock(connection: Connection, caller: Caller, secret_id: UUID) -> Secret:
    """Hold a secret that the caller may change, and its organization. Raises SecretNotFound."""
    seen = await secrets.find(connection, caller, secret_id, Permission.SECRETS_EDIT)
    if seen is None:
        raise SecretNotFound
    try:
        organization_id = seen.keeping.organization_id
        await organizations.lock_for_content(connection, organization_id, caller.person, _EDITORS)
    except OrganizationNotFound:
        raise SecretNotFound from None
    secret = await secrets.lock(connection, caller, secret_id, Permission.SECRETS_EDIT)
    if secret is None:
        raise SecretNotFound
    return secret


def _told(secret: Secret) -> Details:
    return details(
        display_name=secret.display_name,
        secret_kind=secret.kind,
        visibility=secret.keeping.visibility,
        team_id=secret.keeping.team_id,
    )


async def _record(
    connection: Connection,
    caller: Caller,
    action: Action,
    secret: Secret,
    *,
    before: Details | None = None,
    after: Details | None = None,
) -> None:
    organization_id = secret.keeping.organization_id
    event = Event(action, organization_id, ObjectKind.SECRET, secret.id, before or {}, after or {})
    await log.record(connection, caller, event)
