"""Bringing the vault to the newest master key: the key of each value is wrapped anew, the value stays as it is."""

from dataclasses import dataclass
from uuid import UUID

from services.access.audit import log
from services.access.audit.events import Action, Event, ObjectKind, details
from services.access.reach import Caller
from services.access.refusals import VaultNotFound
from services.access.vault.envelope import Keyring, SealBroken, WrappedKey
from services.access.vault.master_keys import MasterKeys
from services.access.vault.secrets import Secret
from services.shared.db import Connection
from services.shared.paging import Page, PageRequest

VAULT_ID = UUID(int=0)
"""What the audit log calls the vault: there is one."""

# Never back: of two processes that know different keys, the one with the newest has the last word.
_OLDER = "SELECT * FROM secrets WHERE key_version < $1 AND id > $2 ORDER BY id LIMIT $3 FOR UPDATE"
_REWRAP = "UPDATE secrets SET key_version = $2, wrapped_key = $3 WHERE id = $1 AND key_version < $2"
_REMAINING = "SELECT count(*) FROM secrets WHERE key_version < $1"


@dataclass(frozen=True, slots=True)
class Rewrapped:
    """What became of a page of the vault."""

    key_version: int
    rewrapped: int
    unreadable: tuple[UUID, ...]
    """No master key at hand opens them."""
    remaining: int
    """In the whole vault."""
    next_page_token: str


async def rewrap(
    connection: Connection, caller: Caller, master: MasterKeys, wanted: PageRequest
) -> Rewrapped:
    """Wrap a page of the keys that older master keys wrapped with the newest. Raises VaultNotFound or VaultClosed."""
    if not caller.deployment_admin:
        raise VaultNotFound
    keyring = master.current()
    rows = await connection.fetch(_OLDER, keyring.newest, wanted.after, wanted.limit)
    page: Page[Secret] = wanted.cut([Secret.from_row(row) for row in rows])
    keys, unreadable = _wrapped(page, keyring)
    await connection.executemany(_REWRAP, [(id_, key.key_version, key.data) for id_, key in keys.items()])
    if keys:
        told = details(key_version=str(keyring.newest))
        event = Event(Action.VAULT_REWRAPPED, None, ObjectKind.VAULT, VAULT_ID, after=told, deployment=True)
        await log.record(connection, caller, event)
    remaining = await connection.fetchval(_REMAINING, keyring.newest)
    return Rewrapped(keyring.newest, len(keys), unreadable, remaining, page.next_page_token)


def _wrapped(page: Page[Secret], keyring: Keyring) -> tuple[dict[UUID, WrappedKey], tuple[UUID, ...]]:
    keys: dict[UUID, WrappedKey] = {}
    for secret in page.rows:
        try:
            keys[secret.id] = keyring.rewrap(secret.label, secret.sealed.key)
        except SealBroken:
            continue
    return keys, tuple(secret.id for secret in page.rows if secret.id not in keys)
