"""The vault. What a secret holds is in no answer but OpenSecret's."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from acervo.access.v1 import secrets_pb2 as pb
from acervo.access.v1 import secrets_pb2_grpc
from services.access.callers import Callers
from services.access.messages import secrets as messages
from services.access.people.roles import Permission
from services.access.refusals import SecretNotFound
from services.access.vault import changing, opening, rotation, secrets
from services.access.vault.master_keys import MasterKeys
from services.shared import server
from services.shared.db import Connection, Pool
from services.shared.fields import read_page, read_uuid
from services.shared.idempotency import Call, once
from services.shared.ids import uuid7
from services.shared.server import CallContext

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.SecretService/CreateSecret": server.Callers.PEOPLE,
    "/acervo.access.v1.SecretService/GetSecret": server.Callers.PEOPLE,
    "/acervo.access.v1.SecretService/ListSecrets": server.Callers.PEOPLE,
    "/acervo.access.v1.SecretService/UpdateSecret": server.Callers.PEOPLE,
    "/acervo.access.v1.SecretService/DeleteSecret": server.Callers.PEOPLE,
    "/acervo.access.v1.SecretService/RewrapSecrets": server.Callers.PEOPLE,
    "/acervo.access.v1.SecretService/BindSecret": server.Callers.SERVICES,
    "/acervo.access.v1.SecretService/UnbindSecret": server.Callers.SERVICES,
    "/acervo.access.v1.SecretService/OpenSecret": server.Callers.SERVICES,
}


class SecretServicer(secrets_pb2_grpc.SecretServiceServicer):
    """Keeps the secrets of organizations."""

    def __init__(self, pool: Pool, callers: Callers, master: MasterKeys) -> None:
        self._pool = pool
        self._callers = callers
        self._master = master

    def _concealed(self, request: pb.CreateSecretRequest | pb.UpdateSecretRequest) -> Call:
        """A call whose digest, which outlasts it, tells nothing of the secret that it holds. Raises VaultClosed."""
        call = Call.of(request)
        digest, *former = self._master.current().fingerprints(call.digest)
        return replace(call, digest=digest, former=tuple(former))

    async def CreateSecret(  # noqa: N802
        self, request: pb.CreateSecretRequest, context: CallContext
    ) -> pb.CreateSecretResponse:
        """A new secret."""
        caller = self._callers.current()
        call = self._concealed(request)
        wish = messages.wish(request)

        async def work(connection: Connection) -> pb.CreateSecretResponse:
            secret = await changing.create(connection, caller, wish, self._master, secret_id=uuid7())
            return pb.CreateSecretResponse(secret=messages.secret(secret))

        return await once(self._pool, call, pb.CreateSecretResponse, work)

    async def GetSecret(  # noqa: N802
        self, request: pb.GetSecretRequest, context: CallContext
    ) -> pb.GetSecretResponse:
        """A secret that the caller sees."""
        caller = self._callers.current()
        secret_id = read_uuid("secret_id", request.secret_id)
        secret = await secrets.find(self._pool, caller, secret_id, Permission.SECRETS_VIEW)
        if secret is None:
            raise SecretNotFound
        return pb.GetSecretResponse(secret=messages.secret(secret))

    async def ListSecrets(  # noqa: N802
        self, request: pb.ListSecretsRequest, context: CallContext
    ) -> pb.ListSecretsResponse:
        """The secrets of an organization that the caller sees."""
        caller = self._callers.current()
        organization_id, kind, wanted = messages.listing(request)
        page = await secrets.page(self._pool, caller, organization_id, kind, wanted)
        return pb.ListSecretsResponse(
            secrets=map(messages.secret, page.rows), next_page_token=page.next_page_token
        )

    async def UpdateSecret(  # noqa: N802
        self, request: pb.UpdateSecretRequest, context: CallContext
    ) -> pb.UpdateSecretResponse:
        """A secret as it is now."""
        caller = self._callers.current()
        call = self._concealed(request) if request.HasField("value") else Call.of(request)
        secret_id, change = messages.change(request)

        async def work(connection: Connection) -> pb.UpdateSecretResponse:
            secret = await changing.update(connection, caller, secret_id, change, self._master)
            return pb.UpdateSecretResponse(secret=messages.secret(secret))

        return await once(self._pool, call, pb.UpdateSecretResponse, work)

    async def DeleteSecret(  # noqa: N802
        self, request: pb.DeleteSecretRequest, context: CallContext
    ) -> pb.DeleteSecretResponse:
        """A secret gone."""
        caller = self._callers.current()
        call = Call.of(request)
        secret_id = read_uuid("secret_id", request.secret_id)

        async def work(connection: Connection) -> pb.DeleteSecretResponse:
            return pb.DeleteSecretResponse(uses=await changing.delete(connection, caller, secret_id))

        return await once(self._pool, call, pb.DeleteSecretResponse, work)

    async def RewrapSecrets(  # noqa: N802
        self, request: pb.RewrapSecretsRequest, context: CallContext
    ) -> pb.RewrapSecretsResponse:
        """A page of the vault brought to the newest master key."""
        caller = self._callers.current()
        wanted = read_page(request)
        async with self._pool.acquire() as connection, connection.transaction():
            done = await rotation.rewrap(connection, caller, self._master, wanted)
        return messages.rewrapped(done)

    async def BindSecret(  # noqa: N802
        self, request: pb.BindSecretRequest, context: CallContext
    ) -> pb.BindSecretResponse:
        """A secret lent to a source, for a person."""
        caller = self._callers.current()
        call = Call.of(request)
        actor_id, secret_id, use = messages.binding(request)
        actor = self._callers.acting_for(actor_id)

        async def work(connection: Connection) -> pb.BindSecretResponse:
            secret = await changing.lend(connection, caller, actor, use, secret_id)
            return pb.BindSecretResponse(secret=messages.secret(secret))

        return await once(self._pool, call, pb.BindSecretResponse, work)

    async def UnbindSecret(  # noqa: N802
        self, request: pb.UnbindSecretRequest, context: CallContext
    ) -> pb.UnbindSecretResponse:
        """A source without a secret."""
        caller = self._callers.current()
        call = Call.of(request)
        use = messages.unbinding(request)

        async def work(connection: Connection) -> pb.UnbindSecretResponse:
            await changing.take_back(connection, caller, use)
            return pb.UnbindSecretResponse()

        return await once(self._pool, call, pb.UnbindSecretResponse, work)

    async def OpenSecret(  # noqa: N802
        self, request: pb.OpenSecretRequest, context: CallContext
    ) -> pb.OpenSecretResponse:
        """What a secret holds, for the service that it is lent to."""
        caller = self._callers.current()
        wish = messages.opening(request)
        value = await opening.open_secret(self._pool, caller, wish, self._master.current())
        return messages.opened(value)
