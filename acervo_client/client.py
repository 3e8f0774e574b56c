"""The client: what a person may ask of Acervo, as coroutines."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

import grpc

from acervo.access.v1 import access_pb2
from acervo.access.v1.access_pb2_grpc import AccessServiceStub
from acervo.access.v1.accounts_pb2 import DeleteAccountRequest, DeleteAccountResponse
from acervo.access.v1.accounts_pb2_grpc import AccountServiceStub
from acervo.vectorstore.v1 import collections_pb2, search_pb2
from acervo.vectorstore.v1.collections_pb2_grpc import CollectionServiceStub
from acervo.vectorstore.v1.search_pb2_grpc import SearchServiceStub
from acervo_client.agents import Agents
from acervo_client.audit import Audit
from acervo_client.bases import KnowledgeBases
from acervo_client.budgets import Budgets
from acervo_client.collections import Collections
from acervo_client.connection import Connection, Token, typed_errors
from acervo_client.documents import Documents
from acervo_client.endpoints import Endpoints
from acervo_client.grants import Grants
from acervo_client.local import ADMIN, local_access
from acervo_client.organizations import Organizations
from acervo_client.secrets import Secrets
from acervo_client.sources import Sources
from acervo_client.teams import Teams


class AcervoClient:
    """Calls the services on behalf of whoever the token names. Answers are messages of the contract.

    `addresses`: service (`access`, `upload`, `ingest`, `vectorstore`, `sync`) -> host:port; only those that
    are called are needed. `credentials`: TLS, where the services are reached through it. `timeout_seconds`
    bounds each single call. `patience_seconds`: how long an upload or a watch goes on trying while a service
    does not answer. Every method raises `AcervoError`. Closed by `async with` or `close`.
    """

    def __init__(
        self,
        addresses: Mapping[str, str],
        token: Token,
        *,
        credentials: grpc.ChannelCredentials | None = None,
        timeout_seconds: float = 30,
        patience_seconds: float = 60,
    ) -> None:
        self._connection = Connection(
            addresses,
            token,
            credentials=credentials,
            timeout_seconds=timeout_seconds,
            patience_seconds=patience_seconds,
        )

    @classmethod
    def local(cls, home: Path | None = None, user: str = ADMIN) -> Self:
        """A client of the stack that `acervo up` runs on this machine, as one of its local people.

        `home` is the stack's directory; the default is that of the command line. Raises `LocalStackError`
        where no stack runs there, or its keys may not be read.
        """
        return cls(*local_access(home, user))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Cancel what is under way and disconnect."""
        await self._connection.close()

    @cached_property
    def bases(self) -> KnowledgeBases:
        """Knowledge bases."""
        return KnowledgeBases(self._connection)

    @cached_property
    def collections(self) -> Collections:
        """What nobody owns."""
        return Collections(self._connection)

    @cached_property
    def organizations(self) -> Organizations:
        """Organizations and their members."""
        return Organizations(self._connection)

    @cached_property
    def teams(self) -> Teams:
        """Teams of organizations."""
        return Teams(self._connection)

    @cached_property
    def agents(self) -> Agents:
        """Agents of organizations, and one's own."""
        return Agents(self._connection)

    @cached_property
    def grants(self) -> Grants:
        """Grants on bases."""
        return Grants(self._connection)

    @cached_property
    def audit(self) -> Audit:
        """Who changed what."""
        return Audit(self._connection)

    @cached_property
    def secrets(self) -> Secrets:
        """Secrets of organizations."""
        return Secrets(self._connection)

    @cached_property
    def endpoints(self) -> Endpoints:
        """Registered servers of models."""
        return Endpoints(self._connection)

    @cached_property
    def budgets(self) -> Budgets:
        """Budgets of organizations."""
        return Budgets(self._connection)

    @cached_property
    def documents(self) -> Documents:
        """Documents and uploads."""
        return Documents(self._connection)

    @cached_property
    def sources(self) -> Sources:
        """Sources and their runs."""
        return Sources(self._connection)

    async def who_am_i(self) -> access_pb2.WhoAmIResponse:
        """Who the deployment takes the caller for."""
        stub = AccessServiceStub(self._connection.channel("access"))
        async with typed_errors():
            return await stub.WhoAmI(access_pb2.WhoAmIRequest(), **self._connection.call())

    async def delete_account(self, user_id: str = "") -> DeleteAccountResponse:
        """Delete what is the caller's own and end the memberships; for the deployment's admin, of anybody."""
        stub = AccountServiceStub(self._connection.channel("access"))
        async with typed_errors():
            request = DeleteAccountRequest(request_id=str(uuid4()), user_id=user_id)
            return await stub.DeleteAccount(request, **self._connection.call())

    async def search(
        self,
        query: str,
        *,
        collection_names: Sequence[str] = (),
        knowledge_base_ids: Sequence[str] = (),
        top_k: int = 10,
        mode: search_pb2.SearchMode = search_pb2.SEARCH_MODE_UNSPECIFIED,
    ) -> Sequence[search_pb2.Passage]:
        """The passages that fit a question best, best first, of all the collections and bases as one."""
        request = search_pb2.SearchRequest(
            query=query,
            collection_names=collection_names,
            knowledge_base_ids=knowledge_base_ids,
            top_k=top_k,
            mode=mode,
        )
        stub = SearchServiceStub(self._connection.channel("vectorstore"))
        async with typed_errors():
            return (await stub.Search(request, **self._connection.call())).passages

    async def embedding_models(self) -> Sequence[search_pb2.EmbeddingModel]:
        """The embedding models that are installed, the default first."""
        stub = SearchServiceStub(self._connection.channel("vectorstore"))
        async with typed_errors():
            request = search_pb2.ListEmbeddingModelsRequest()
            return (await stub.ListEmbeddingModels(request, **self._connection.call())).models

    async def stats(self, knowledge_base_ids: Sequence[str]) -> Sequence[collections_pb2.CollectionStats]:
        """What up to 100 bases hold, in the order asked."""
        request = collections_pb2.GetCollectionStatsRequest(knowledge_base_ids=knowledge_base_ids)
        stub = CollectionServiceStub(self._connection.channel("vectorstore"))
        async with typed_errors():
            return (await stub.GetCollectionStats(request, **self._connection.call())).stats
