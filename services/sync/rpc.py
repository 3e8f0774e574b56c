"""The servicer of sources: authorise, validate, call, encode.

A source of local files is the deployment's admin's alone; who may view its base may view it and its runs. A refusal
makes the same calls, and reads the same, as the absence of the thing.
"""

import asyncio
from collections.abc import Mapping
from typing import Final
from uuid import UUID

from acervo.sync.v1 import sources_pb2 as pb
from acervo.sync.v1.sources_pb2_grpc import SourceServiceServicer
from services.shared import auth, jobs
from services.shared.bus import Lane
from services.shared.db import Connection, Pool
from services.shared.errors import NotFound, ServicesOnly
from services.shared.fields import read_optional_uuid, read_page, read_uuid
from services.shared.idempotency import Call, answered, once
from services.shared.ids import uuid7
from services.shared.paging import Page
from services.shared.reach import target, target_of
from services.shared.server import CallContext, Callers
from services.sync import decode, runs, sources
from services.sync.codec import run_to_proto, source_to_proto
from services.sync.local_directory import LocalDirectory, admit
from services.sync.modes import Mode
from services.sync.reach import Base, Reach
from services.sync.settings import SyncSettings
from services.sync.sources import NewSource

SERVICE: Final = "/acervo.sync.v1.SourceService"
CALLERS: Final[Mapping[str, Callers]] = {
    f"{SERVICE}/CreateSource": Callers.PEOPLE,
    f"{SERVICE}/GetSource": Callers.ANY,
    f"{SERVICE}/ListSources": Callers.ANY,
    f"{SERVICE}/AttachSource": Callers.PEOPLE,
    f"{SERVICE}/DeleteSource": Callers.PEOPLE,
    f"{SERVICE}/StartRun": Callers.PEOPLE,
    f"{SERVICE}/GetRun": Callers.ANY,
    f"{SERVICE}/ListRuns": Callers.ANY,
}


class SourceService(SourceServiceServicer):
    """Answers for sources and runs."""

    def __init__(self, pool: Pool, reach: Reach, settings: SyncSettings) -> None:
        self._pool = pool
        self._reach = reach
        self._roots = settings.sync_roots

    async def CreateSource(  # noqa: N802
        self, request: pb.CreateSourceRequest, context: CallContext
    ) -> pb.CreateSourceResponse:
        """Point a source at a base."""
        base = await self._reach.base_for_local_source(target_of(request))
        call = Call.of(request)
        if (before := await answered(self._pool, call, pb.CreateSourceResponse)) is not None:
            return before
        decode.check_source(request)
        path = await asyncio.to_thread(admit, request.local_directory.path, self._roots)
        new = _new_source(request, base, path, owner=_person())

        async def create(connection: Connection) -> pb.CreateSourceResponse:
            return pb.CreateSourceResponse(source=source_to_proto(await sources.create(connection, new)))

        return await once(self._pool, call, pb.CreateSourceResponse, create)

    async def GetSource(self, request: pb.GetSourceRequest, context: CallContext) -> pb.GetSourceResponse:  # noqa: N802
        """Answer one source."""
        found = await sources.find(self._pool, read_uuid("source_id", request.source_id))
        return pb.GetSourceResponse(source=source_to_proto(await self._reach.view(found, "source")))

    async def ListSources(  # noqa: N802
        self, request: pb.ListSourcesRequest, context: CallContext
    ) -> pb.ListSourcesResponse:
        """Answer the sources of a base, or those that have lost theirs."""
        base_id = read_optional_uuid("knowledge_base_id", request.knowledge_base_id)
        if base_id is not None:
            await self._reach.base_to_view(base_id)
        admin = base_id is not None or await self._reach.is_admin()
        wanted = read_page(request)
        if base_id is not None:
            page = await sources.of_base(self._pool, base_id, wanted)
        else:
            page = await sources.all_detached(self._pool, wanted) if admin else Page((), "")
        return pb.ListSourcesResponse(
            sources=map(source_to_proto, page.rows), next_page_token=page.next_page_token
        )

    async def AttachSource(  # noqa: N802
        self, request: pb.AttachSourceRequest, context: CallContext
    ) -> pb.AttachSourceResponse:
        """Point a detached source at a base."""
        source_id = read_uuid("source_id", request.source_id)
        base_id = read_uuid("knowledge_base_id", request.knowledge_base_id)
        source = await self._reach.edit(await sources.find(self._pool, source_id))
        base = await self._reach.base_for_local_source(target(base_id))
        call, owner = Call.of(request), _person()

        async def attach(connection: Connection) -> pb.AttachSourceResponse:
            attached = await sources.attach(connection, source.id, base.id, base.tenant_id, owner, at=uuid7())
            if attached is None:
                raise NotFound("detached source")
            return pb.AttachSourceResponse(source=source_to_proto(attached))

        return await once(self._pool, call, pb.AttachSourceResponse, attach)

    async def DeleteSource(  # noqa: N802
        self, request: pb.DeleteSourceRequest, context: CallContext
    ) -> pb.DeleteSourceResponse:
        """Remove a source and its runs; the documents stay."""
        source_id = read_uuid("source_id", request.source_id)
        call = Call.of(request)
        if (before := await answered(self._pool, call, pb.DeleteSourceResponse)) is not None:
            return before
        source = await self._reach.edit(await sources.find(self._pool, source_id))
        actor = _person()

        async def delete(connection: Connection) -> pb.DeleteSourceResponse:
            await jobs.forget(connection, await sources.delete(connection, source.id, actor))
            return pb.DeleteSourceResponse()

        return await once(self._pool, call, pb.DeleteSourceResponse, delete)

    async def StartRun(self, request: pb.StartRunRequest, context: CallContext) -> pb.StartRunResponse:  # noqa: N802
        """Start one pass over a source."""
        source_id = read_uuid("source_id", request.source_id)
        source = await self._reach.edit(await sources.find(self._pool, source_id))
        mode = decode.mode(request.mode, source.mode)
        run_id = uuid7()

        async def start(connection: Connection) -> pb.StartRunResponse:
            run = await runs.start(connection, run_id, source, mode, Lane.INTERACTIVE)
            return pb.StartRunResponse(run=run_to_proto(run))

        return await once(self._pool, Call.of(request), pb.StartRunResponse, start)

    async def GetRun(self, request: pb.GetRunRequest, context: CallContext) -> pb.GetRunResponse:  # noqa: N802
        """Answer one run."""
        run_id = read_uuid("run_id", request.run_id)
        await self._reach.view(await sources.of_run(self._pool, run_id), "run")
        run = await runs.find(self._pool, run_id)
        if run is None:
            raise NotFound("run")
        return pb.GetRunResponse(run=run_to_proto(run, await runs.failed_files(self._pool, run.id)))

    async def ListRuns(self, request: pb.ListRunsRequest, context: CallContext) -> pb.ListRunsResponse:  # noqa: N802
        """Answer the runs of a source."""
        found = await sources.find(self._pool, read_uuid("source_id", request.source_id))
        source = await self._reach.view(found, "source")
        page = await runs.of_source(self._pool, source.id, read_page(request))
        return pb.ListRunsResponse(runs=map(run_to_proto, page.rows), next_page_token=page.next_page_token)


def _new_source(request: pb.CreateSourceRequest, base: Base, path: str, *, owner: UUID) -> NewSource:
    return NewSource(
        id=uuid7(),
        knowledge_base_id=base.id,
        tenant_id=base.tenant_id,
        display_name=request.display_name.strip() or path[:200],
        directory=LocalDirectory(path, request.local_directory.recursive),
        mode=decode.mode(request.mode, Mode.NEW_ONLY),
        owner_user_id=owner,
    )


def _person() -> UUID:
    person = auth.current().user_id
    if person is None:
        raise ServicesOnly  # the table of callers lets people alone come here
    return person
