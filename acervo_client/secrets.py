"""Secrets of organizations."""

from collections.abc import AsyncIterator
from uuid import uuid4

from acervo.access.v1 import secrets_pb2 as pb
from acervo.access.v1.knowledge_bases_pb2 import VISIBILITY_UNSPECIFIED, Visibility
from acervo.access.v1.secrets_pb2_grpc import SecretServiceStub
from acervo_client.connection import Connection, typed_errors
from acervo_client.paging import pages


class Secrets:
    """The vault of the caller's organizations. What a secret holds goes in and is never answered.

    Every method raises `AcervoError`.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stub = SecretServiceStub(connection.channel("access"))

    async def create(
        self,
        organization_id: str,
        display_name: str,
        value: pb.SecretValue,
        *,
        visibility: Visibility = VISIBILITY_UNSPECIFIED,
        team_id: str = "",
    ) -> pb.Secret:
        """Seal a credential; private where nothing else is said."""
        request = pb.CreateSecretRequest(
            request_id=str(uuid4()),
            organization_id=organization_id,
            display_name=display_name,
            visibility=visibility,
            team_id=team_id,
            value=value,
        )
        async with typed_errors():
            return (await self._stub.CreateSecret(request, **self._connection.call())).secret

    async def get(self, secret_id: str) -> pb.Secret:
        """One secret, without what it holds."""
        async with typed_errors():
            request = pb.GetSecretRequest(secret_id=secret_id)
            return (await self._stub.GetSecret(request, **self._connection.call())).secret

    async def update(
        self,
        secret_id: str,
        *,
        display_name: str | None = None,
        value: pb.SecretValue | None = None,
        visibility: Visibility = VISIBILITY_UNSPECIFIED,
        team_id: str = "",
    ) -> pb.Secret:
        """Change how a secret is called, who sees it, or what it holds; what is left out stays."""
        request = pb.UpdateSecretRequest(
            request_id=str(uuid4()),
            secret_id=secret_id,
            display_name=display_name,
            visibility=visibility,
            team_id=team_id,
            value=value,
        )
        async with typed_errors():
            return (await self._stub.UpdateSecret(request, **self._connection.call())).secret

    async def delete(self, secret_id: str) -> int:
        """Delete a secret; whatever it is bound to has no key from then on. Return how many uses that are."""
        request = pb.DeleteSecretRequest(request_id=str(uuid4()), secret_id=secret_id)
        async with typed_errors():
            return (await self._stub.DeleteSecret(request, **self._connection.call())).uses

    def rewrap(self) -> AsyncIterator[pb.RewrapSecretsResponse]:
        """Bring the whole vault to the newest master key, page by page. For the deployment's admin."""
        return pages(
            lambda request: self._stub.RewrapSecrets(request, **self._connection.call()),
            pb.RewrapSecretsRequest(),
        )

    async def list(self, organization_id: str) -> list[pb.Secret]:
        """An organization's secrets that the caller sees, oldest first."""
        found = pages(
            lambda request: self._stub.ListSecrets(request, **self._connection.call()),
            pb.ListSecretsRequest(organization_id=organization_id),
        )
        return [secret async for page in found for secret in page.secrets]
