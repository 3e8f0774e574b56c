"""Binding bases to what serves their embedding models. To bind a key is to lend it: that needs `secrets:view` on it."""

from dataclasses import replace
from uuid import UUID

from services.access import endpoints
from services.access.bases.embedding_settings import Serving, redirects, unnamed, violations
from services.access.reach import Caller
from services.access.refusals import EndpointNotFound, SecretNotFound
from services.access.vault import bindings, secrets
from services.access.vault.lending import TERMS, Purpose, Use
from services.access.vault.secrets import Secret
from services.shared.db import Connection
from services.shared.embedding_providers import Provider
from services.shared.errors import FieldsInvalid

_STORE = """
UPDATE knowledge_bases SET embedding_provider = $2, embedding_endpoint_id = $3, embedding_base_url = $4 WHERE id = $1
"""


async def adopt(
    connection: Connection, caller: Caller, held: Serving, organization_id: UUID | None
) -> Serving:
    """What of a name's serving a base of that organization takes over: the key only where the caller may lend it."""
    endpoint_id, secret_id = held.endpoint_id, held.secret_id
    if endpoint_id and not await endpoints.find_usable(connection, caller, endpoint_id, organization_id):
        endpoint_id = None
    if secret_id and not await _find_key(connection, caller, secret_id, organization_id, held.provider):
        secret_id = None
    return replace(held, endpoint_id=endpoint_id, secret_id=secret_id)


async def check(
    connection: Connection,
    caller: Caller,
    before: Serving,
    after: Serving,
    organization_id: UUID | None,
    *,
    complete: bool,
    named: frozenset[str],
) -> Secret | None:
    """Judge a change, and return the key that is to be bound if it is another or goes elsewhere.

    `named` are the fields that the caller says. An absent, foreign and invisible key, one of another kind and one for
    another provider are refused alike. Raises FieldsInvalid, EndpointNotFound or SecretNotFound.
    """
    wrong = [
        *violations(after, in_organization=organization_id is not None, complete=complete),
        *unnamed(before, after, named),
    ]
    if wrong:
        raise FieldsInvalid(wrong)
    endpoint_id, secret_id = after.endpoint_id, after.secret_id
    if (
        endpoint_id is not None
        and endpoint_id != before.endpoint_id
        and await endpoints.find_usable(connection, caller, endpoint_id, organization_id) is None
    ):
        raise EndpointNotFound
    if secret_id is None or (secret_id == before.secret_id and not redirects(before, after)):
        return None
    key = await _find_key(connection, caller, secret_id, organization_id, after.provider)
    if key is None:
        raise SecretNotFound
    return key


async def store(
    connection: Connection, caller: Caller, base_id: UUID, after: Serving, key: Secret | None
) -> None:
    """Have a base, of which a lock is held, be served as `check` allowed."""
    await connection.execute(_STORE, base_id, after.provider, after.endpoint_id, after.base_url)
    use = Use(base_id, Purpose.EMBEDDING)
    if key is not None:
        await bindings.bind(connection, caller, use, key)
    elif after.secret_id is None:
        await bindings.unbind(connection, caller, use)


async def _find_key(
    connection: Connection, caller: Caller, secret_id: UUID, organization_id: UUID | None, provider: Provider
) -> Secret | None:
    kinds = TERMS[Purpose.EMBEDDING].kinds
    found = await secrets.find_lendable(connection, caller, secret_id, organization_id, kinds)
    return found if found is not None and found.hint == provider else None
