"""What the tests of sync act on: the service, the services around it, a directory, and people who call."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from acervo.access.v1.access_pb2_grpc import add_AccessServiceServicer_to_server
from acervo.events.v1.facts_pb2 import TeardownAnswered
from acervo.ingest.v1.documents_pb2_grpc import add_DocumentServiceServicer_to_server
from acervo.sync.v1 import sources_pb2 as pb
from acervo.sync.v1.sources_pb2_grpc import SourceServiceStub, add_SourceServiceServicer_to_server
from acervo.upload.v1.upload_pb2_grpc import add_UploadServiceServicer_to_server
from services.access.rpc import CALLERS as ACCESS_CALLERS
from services.ingest.rpc import CALLERS as INGEST_CALLERS
from services.shared import identity
from services.shared.broker import Broker
from services.shared.client import call_options, open_channel
from services.shared.db import Pool
from services.shared.runtime import Runtime
from services.shared.server import Callers, Servicer, build_server
from services.shared.settings import ServiceSettings
from services.sync import files
from services.sync.app import work
from services.sync.reach import Reach
from services.sync.rpc import CALLERS, SourceService
from services.sync.settings import SyncSettings
from tests.conftest import Databases, NatsServer
from tests.integration.sync.doubles import AccessDouble, DocumentsDouble, IngestDouble, UploadDouble
from tests.signing import PEOPLE, Trust

RUN_SECONDS = 30.0
UPLOAD_CALLERS = {"/acervo.upload.v1.UploadService/UploadDocument": Callers.ANY}


@dataclass
class Around:
    """The services around sync."""

    access: AccessDouble
    documents: DocumentsDouble
    settings: dict[str, Any]
    trust: Trust


@asynccontextmanager
async def surroundings(
    databases: Databases, nats: NatsServer, blob_url: str, trust: Trust
) -> AsyncIterator[Around]:
    """Start the doubles, and tell the settings with which sync finds them."""
    trust.service_tokens("sync", "access", "upload", "ingest")
    settings: dict[str, Any] = {
        "database_url": databases["sync"],
        "nats_url": nats.url("sync"),
        "blob_url": blob_url,
        "issuers": str(trust.issuers),
        "service_tokens": str(trust.directory / "tokens" / "sync"),
        "listen": "127.0.0.1:0",
        "lease_seconds": 3,
        "heartbeat_seconds": 0.5,
        "leader_seconds": 1,
        "reconcile_seconds": 0.2,
        "drain_seconds": 2,
    }
    async with AsyncExitStack() as stack:
        broker = await Broker.connect(nats.url("ingest"), "ingest")
        stack.push_async_callback(broker.close)
        await broker.ensure()
        around = Around(AccessDouble(), DocumentsDouble(broker), settings, trust)
        documents = around.documents
        ingest = IngestDouble(documents)  # type: ignore[abstract]  # the rest answers UNIMPLEMENTED
        only = "/acervo.access.v1.AccessService/"
        servers: list[tuple[str, Servicer, dict[str, Callers]]] = [
            (
                "access",
                (add_AccessServiceServicer_to_server, around.access),
                {method: who for method, who in ACCESS_CALLERS.items() if method.startswith(only)},
            ),
            ("upload", (add_UploadServiceServicer_to_server, UploadDouble(documents)), UPLOAD_CALLERS),
            (
                "ingest",
                (add_DocumentServiceServicer_to_server, ingest),
                dict(INGEST_CALLERS),
            ),
        ]
        for name, servicer, callers in servers:
            server = await build_server(
                ServiceSettings.model_validate(settings), trust.verifier(name), [servicer], callers
            )
            await server.start()
            stack.push_async_callback(server.stop, 0)
            settings[f"{name}_address"] = server.address
        yield around


@asynccontextmanager
async def serving(around: Around, root: Path, *, works: bool = True) -> AsyncIterator["Stage"]:
    """Run sync in this process, or its server alone."""
    settings = SyncSettings.model_validate({**around.settings, "sync_roots": str(root)})
    async with Runtime.open(settings, "sync") as runtime:
        reach = Reach(runtime.peers)
        servicer = SourceService(runtime.pool, reach, settings)
        address = await runtime.serve([(add_SourceServiceServicer_to_server, servicer)], CALLERS)
        if works:
            work(runtime, settings, reach)
        async with open_channel(address) as channel:
            yield Stage(around, runtime.pool, root, SourceServiceStub(channel))


@dataclass
class Stage:
    """Sync as people see it. `ana` is the deployment's admin and edits `base`."""

    around: Around
    pool: Pool
    root: Path
    stub: Any

    @property
    def access(self) -> AccessDouble:
        return self.around.access

    @property
    def documents(self) -> DocumentsDouble:
        return self.around.documents

    async def clear(self) -> None:
        """Forget everything that earlier tests made."""
        for table in ("sources", "jobs", "requests", "facts"):
            await self.pool.execute(f"DELETE FROM {table}")
        self.access.forget()
        self.documents.forget()

    def let(self, person: str, *, base: UUID, edit: bool = True, admin: bool = True) -> UUID:
        """Give a person rights, and return their id."""
        person_id = identity.user_id(PEOPLE, person)
        (self.access.editors if edit else self.access.viewers).add((person_id, base))
        if admin:
            self.access.admins.add(person_id)
        return person_id

    async def call(self, method: str, request: Any, person: str = "ana") -> Any:
        options = call_options(self.around.trust.person(person))
        return await getattr(self.stub, method)(request, **options)

    async def source(self, base: UUID, path: Path | None = None, **fields: Any) -> pb.Source:
        directory = pb.LocalDirectory(path=str(path or self.root), recursive=True)
        request = pb.CreateSourceRequest(knowledge_base_id=str(base), local_directory=directory, **fields)
        answer: pb.CreateSourceResponse = await self.call("CreateSource", request)
        return answer.source

    async def start(
        self, source: pb.Source, mode: pb.SyncMode = pb.SYNC_MODE_UNSPECIFIED, person: str = "ana"
    ) -> pb.Run:
        request = pb.StartRunRequest(source_id=source.id, mode=mode)
        answer: pb.StartRunResponse = await self.call("StartRun", request, person)
        return answer.run

    async def run(self, source: pb.Source, mode: pb.SyncMode = pb.SYNC_MODE_UNSPECIFIED) -> pb.Run:
        """Start a run and wait for its end."""
        return await self.ended(await self.start(source, mode))

    async def ended(self, run: pb.Run) -> pb.Run:
        return await self.until(run, lambda seen: seen.state != pb.RUN_STATE_RUNNING)

    async def until(self, run: pb.Run, condition: Callable[[pb.Run], bool], person: str = "ana") -> pb.Run:
        deadline = time.monotonic() + RUN_SECONDS
        while True:
            answer: pb.GetRunResponse = await self.call("GetRun", pb.GetRunRequest(run_id=run.id), person)
            if condition(answer.run):
                return answer.run
            assert time.monotonic() < deadline, answer.run
            await asyncio.sleep(0.02)

    async def tries(self, run: pb.Run, *, at_least: int) -> None:
        """Wait until the run's job was put off so often."""
        await self._until("SELECT tries >= $2 FROM jobs WHERE id = $1", UUID(run.id), at_least)

    async def note_taking(self, run: pb.Run, path: str) -> None:
        """Leave a file as a process leaves it that was killed while it took the file."""
        await files.note(self.pool, UUID(run.id), [files.Found(path, files.Outcome.TAKING)])

    async def claims_gone(self) -> None:
        """Wait until nothing is claimed."""
        await self._until("SELECT count(*) = 0 FROM claims")

    async def handed_over(self, *, at_least: int) -> None:
        """Wait until so many documents are tracked."""

        async def enough() -> bool:
            return len(self.documents.documents) >= at_least

        await eventually(enough)

    async def waiting(self, *, documents: int) -> None:
        """Wait until runs know of so many documents that they wait for."""
        await self._until("SELECT count(*) = $1 FROM run_files WHERE outcome = 'indexing'", documents)

    async def answered(self, answer: TeardownAnswered) -> None:
        """Wait until a teardown was answered."""
        await self._until("SELECT EXISTS (SELECT FROM facts WHERE payload = $1)", answer.SerializeToString())

    async def emptied(self, table: str) -> None:
        """Wait until a table holds nothing."""
        await self._until(f"SELECT count(*) = 0 FROM {table}")

    async def _until(self, query: str, *arguments: object) -> None:
        await eventually(lambda: self.pool.fetchval(query, *arguments))

    def inode(self, name: str) -> int:
        return (self.root / name).stat().st_ino

    def write(self, name: str, content: str = "text") -> str:
        """Write a file below the root and return its address."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return str(path)

    def remove(self, name: str) -> None:
        (self.root / name).unlink()

    def held(self) -> dict[str, str]:
        """What is indexed, by path below the root."""
        return {
            path.removeprefix(f"{self.root}/"): text.decode() for path, text in self.documents.held().items()
        }


async def eventually(condition: Callable[[], Awaitable[object]]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + RUN_SECONDS
    while not await condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


def counts(run: pb.Run) -> dict[str, int]:
    """The counts that are not zero."""
    return {field.name: value for field, value in run.counts.ListFields()}
