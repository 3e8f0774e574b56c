"""Opening secrets for the services that they are lent to. Whether one is opened or not, it is written down."""

from dataclasses import dataclass
from uuid import UUID

from services.access.audit import log
from services.access.audit.events import Action
from services.access.reach import Caller
from services.access.refusals import SecretGone, SecretNotFound, SecretUnreadable
from services.access.vault import bindings, kinds, secrets
from services.access.vault.changing import Value
from services.access.vault.envelope import Keyring, SealBroken
from services.access.vault.lending import Opening, Use, judge
from services.access.vault.secrets import Secret
from services.shared.db import Pool
from services.shared.errors import AcervoError, Unavailable, reason_name

_LATE = "The vault's master keys are being changed. Try again in a moment."


@dataclass(frozen=True, slots=True)
class OpeningWish:
    """What a service wants opened."""

    secret_id: UUID
    use: Use
    actor: UUID | None
    """For whom, where it is for a person."""


async def open_secret(pool: Pool, caller: Caller, wish: OpeningWish, keyring: Keyring) -> Value:
    """What a secret holds.

    Raises SecretNotFound where it is not bound there, or not for this service; SecretGone where it was deleted;
    SecretUnreadable, or Unavailable where its master key is still to come.
    """
    async with pool.acquire() as connection, connection.transaction():
        organization_id = await bindings.find_organization(connection, wish.use)
        bound = await bindings.find(connection, wish.use)
        secret = await secrets.find_of_organization(connection, wish.secret_id, organization_id)
        kind = None if secret is None else secret.kind
        opening = judge(caller, wish.use.purpose, wish.secret_id, bound=bound, kind=kind)
        outcome = _open(opening, secret, keyring)
        event = bindings.event(
            Action.SECRET_OPENED if isinstance(outcome, Value) else Action.SECRET_REFUSED,
            organization_id,
            wish.secret_id,
            wish.use,
            user_id=wish.actor,
            outcome=None if isinstance(outcome, Value) else reason_name(outcome.reason),
        )
        await log.record(connection, caller, event)
    if isinstance(outcome, Value):
        return outcome
    raise outcome


def _open(opening: Opening, secret: Secret | None, keyring: Keyring) -> Value | AcervoError:
    if opening is Opening.GONE:
        return SecretGone()
    if opening is Opening.REFUSED or secret is None:
        return SecretNotFound()
    try:
        return Value(secret.kind, kinds.decode(keyring.open(secret.label, secret.sealed)))
    except SealBroken:
        late = secret.sealed.key.key_version > keyring.newest
        return Unavailable(_LATE) if late else SecretUnreadable()
