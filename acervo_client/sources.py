"""Sources and their runs."""

from uuid import uuid4

from acervo.sync.v1 import sources_pb2
from acervo.sync.v1.sources_pb2_grpc import SourceServiceStub
from acervo_client.connection import Connection, typed_errors

_PAGE_SIZE = 500


class Sources:
    """The sources of the bases that the caller may reach. Every method raises `AcervoError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stub = SourceServiceStub(connection.channel("sync"))

    async def create_local(
        self,
        path: str,
        *,
        knowledge_base_id: str,
        recursive: bool,
        mode: sources_pb2.SyncMode = sources_pb2.SYNC_MODE_UNSPECIFIED,
    ) -> sources_pb2.Source:
        """Point a directory of the server at a base. For the deployment's admin."""
        request = sources_pb2.CreateSourceRequest(
            request_id=str(uuid4()),
            knowledge_base_id=knowledge_base_id,
            local_directory=sources_pb2.LocalDirectory(path=path, recursive=recursive),
            mode=mode,
        )
        async with typed_errors():
            return (await self._stub.CreateSource(request, **self._connection.call())).source

    async def list(self, knowledge_base_id: str) -> list[sources_pb2.Source]:
        """The sources of a base, oldest first."""
        request = sources_pb2.ListSourcesRequest(knowledge_base_id=knowledge_base_id, page_size=_PAGE_SIZE)
        found: list[sources_pb2.Source] = []
        while True:
            async with typed_errors():
                page = await self._stub.ListSources(request, **self._connection.call())
            found += page.sources
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def delete(self, source_id: str) -> None:
        """Remove a source; its documents stay."""
        request = sources_pb2.DeleteSourceRequest(request_id=str(uuid4()), source_id=source_id)
        async with typed_errors():
            await self._stub.DeleteSource(request, **self._connection.call())

    async def start_run(
        self, source_id: str, mode: sources_pb2.SyncMode = sources_pb2.SYNC_MODE_UNSPECIFIED
    ) -> sources_pb2.Run:
        """Begin a run; the default mode is the source's own."""
        request = sources_pb2.StartRunRequest(request_id=str(uuid4()), source_id=source_id, mode=mode)
        async with typed_errors():
            return (await self._stub.StartRun(request, **self._connection.call())).run

    async def run(self, run_id: str) -> sources_pb2.Run:
        """A run as it is now."""
        request = sources_pb2.GetRunRequest(run_id=run_id)
        async with typed_errors():
            return (await self._stub.GetRun(request, **self._connection.call())).run
