"""Every method of upload, ingest, vectorstore and sync against every kind of caller, as those of access are.

The services run as processes here, so that the statements of all of them are compared: those of the service that is
asked, and of those that it calls.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self
from uuid import UUID, uuid4

import pytest

from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.ingest.v1 import documents_pb2 as ingest
from acervo.sync.v1 import sources_pb2 as sync
from acervo.upload.v1 import upload_pb2 as upload
from acervo.vectorstore.v1 import collections_pb2 as collections
from acervo.vectorstore.v1 import search_pb2 as search
from acervo_client import AcervoClient
from acervo_client.local import ADMIN, PEOPLE, load_key
from acervoctl.stack.stack import Stack
from services.ingest import rpc as ingest_rpc
from services.shared.auth import ServiceTokens
from services.shared.client import open_channel
from services.shared.db import Pool, open_pool
from services.shared.server import Callers
from services.sync import rpc as sync_rpc
from services.upload import rpc as upload_rpc
from services.vectorstore import rpc as vectorstore_rpc
from tests.e2e.statements import StatementLog
from tests.integration.access.callers import Access
from tests.integration.access.matrix_world import EDITORS, READERS, World
from tests.matrix import AGENTS, Asking, Kind, Row, check
from tests.matrix import PEOPLE as PERSONS
from tests.signing import Signer

EACH: Final[Mapping[str, Mapping[str, Callers]]] = {
    "upload": upload_rpc.CALLERS,
    "ingest": ingest_rpc.CALLERS,
    "vectorstore": vectorstore_rpc.CALLERS,
    "sync": sync_rpc.CALLERS,
}
TEXT: Final = b"The lamp of the lighthouse is lit at dusk."


class LocalIssuers:
    """The issuers of a local stack, which sign whatever a test wants."""

    def __init__(self, stack: Stack) -> None:
        self.people = Signer(PEOPLE, PEOPLE, load_key(stack.home.keys, PEOPLE))
        self._stack = stack

    def person(self, subject: str = ADMIN) -> str:
        return self.people.sign(sub=subject)

    def service(self, caller: str, callee: str) -> str:
        return ServiceTokens(self._stack.home.tokens / caller).token(callee)


@dataclass(frozen=True)
class Deployment(World):
    """A world with a document in the private base, and a source with a run on the app base."""

    document: str = ""
    source: str = ""
    run: str = ""
    folder: str = ""

    def absent(self) -> Self:
        document, source, run = (str(uuid4()) for _ in range(3))
        return replace(super().absent(), document=document, source=source, run=run)


@dataclass(frozen=True)
class Ground:
    """A running stack, and what makes worlds in it."""

    stack: Stack
    issuers: LocalIssuers
    pool: Pool
    access: Access
    folder: Path
    eventually: Callable[..., Awaitable[None]]

    async def world(self, service: str) -> Deployment:
        world = await Deployment.of_access(self.access, self.issuers, self.pool)
        path = self.folder / f"{world.number}" / "lamp.txt"
        path.parent.mkdir()
        path.write_bytes(TEXT)
        async with AcervoClient(self.stack.addresses, self.issuers.person(world.name(Kind.OWNER))) as owner:
            document = (await owner.documents.upload(path, knowledge_base_id=world.held)).document
            async for _ in owner.documents.watch([document.id]):
                pass
        async with AcervoClient(self.stack.addresses, self.stack.token) as admin:
            source = await admin.sources.create_local(
                str(path.parent), knowledge_base_id=world.app, recursive=True
            )
            run = await admin.sources.start_run(source.id)

            async def over() -> bool:
                return (await admin.sources.run(run.id)).state != sync.RUN_STATE_RUNNING

            async def noted() -> bool:
                written = "SELECT true FROM audit_events WHERE object_id = $1"
                return bool(await self.pool.fetchval(written, UUID(source.id)))

            await self.eventually(over)
            await self.eventually(noted)
        return replace(
            world,
            service=service,
            document=document.id,
            source=source.id,
            run=run.id,
            folder=str(path.parent),
        )


@pytest.fixture
async def on(
    stack: Stack, tmp_path: Path, eventually: Callable[..., Awaitable[None]]
) -> AsyncIterator[Ground]:
    issuers = LocalIssuers(stack)
    async with await open_pool(stack.database_urls["access"], size=1, application="test") as pool:
        channel = open_channel(stack.addresses["access"])
        yield Ground(stack, issuers, pool, Access(channel, issuers, ADMIN), tmp_path, eventually)
        await channel.close()


def stream(w: Deployment) -> Sequence[upload.UploadDocumentRequest]:
    header = upload.UploadDocumentHeader(knowledge_base_id=w.held, filename=f"{uuid4()}.txt")
    return [upload.UploadDocumentRequest(header=header), upload.UploadDocumentRequest(data=TEXT)]


INGEST = "/acervo.ingest.v1.DocumentService/"
SYNC = "/acervo.sync.v1.SourceService/"
SEARCH = "/acervo.vectorstore.v1.SearchService/"
READ = READERS | {Kind.AGENT, Kind.SERVICE}
EDIT = EDITORS | {Kind.SERVICE}
OPERATOR = frozenset({Kind.OPERATOR})
ALL_READ = PERSONS | {Kind.SERVICE}
MATRIX: Final[dict[str, list[Row[Deployment]]]] = {
    "/acervo.upload.v1.UploadService/UploadDocument": [Row(stream, EDIT, lasting=True)],
    f"{INGEST}CheckUpload": [
        Row(
            lambda w: ingest.CheckUploadRequest(knowledge_base_id=w.held, filename="a.txt", size=1),
            EDIT,
            lasting=True,
        )
    ],
    # For services, which it tells what is wrong with the request: it is about nothing yet.
    f"{INGEST}CreateDocument": [
        Row(
            lambda w: ingest.CreateDocumentRequest(),
            frozenset(),
            refused={Kind.SERVICE: reasons.ERROR_REASON_FIELD_INVALID},
        )
    ],
    f"{INGEST}GetDocument": [
        Row(lambda w: ingest.GetDocumentRequest(document_id=w.document), READ, lasting=True)
    ],
    f"{INGEST}ListDocuments": [
        Row(lambda w: ingest.ListDocumentsRequest(knowledge_base_id=w.held), READ, lasting=True)
    ],
    f"{INGEST}WatchDocuments": [
        Row(lambda w: ingest.WatchDocumentsRequest(document_ids=[w.document]), READ, lasting=True)
    ],
    f"{INGEST}DeleteDocument": [Row(lambda w: ingest.DeleteDocumentRequest(document_id=w.document), EDIT)],
    f"{INGEST}RetryDocument": [
        Row(
            lambda w: ingest.RetryDocumentRequest(document_id=w.document),
            frozenset(),
            refused=dict.fromkeys(EDIT, reasons.ERROR_REASON_DOCUMENT_NOT_FAILED),
        )
    ],
    f"{SEARCH}Search": [
        Row(
            lambda w: search.SearchRequest(query="When is it lit?", knowledge_base_ids=[w.held]),
            READ,
            lasting=True,
        )
    ],
    f"{SEARCH}ListEmbeddingModels": [
        Row(
            lambda w: search.ListEmbeddingModelsRequest(),
            PERSONS | AGENTS | {Kind.SERVICE},
            of_oneself=True,
            lasting=True,
        )
    ],
    "/acervo.vectorstore.v1.CollectionService/GetCollectionStats": [
        Row(lambda w: collections.GetCollectionStatsRequest(knowledge_base_ids=[w.held]), READ, lasting=True)
    ],
    f"{SYNC}CreateSource": [
        Row(
            lambda w: sync.CreateSourceRequest(
                knowledge_base_id=w.app, local_directory=sync.LocalDirectory(path=w.folder)
            ),
            OPERATOR,
        )
    ],
    f"{SYNC}GetSource": [Row(lambda w: sync.GetSourceRequest(source_id=w.source), ALL_READ, lasting=True)],
    f"{SYNC}ListSources": [
        Row(lambda w: sync.ListSourcesRequest(knowledge_base_id=w.app), ALL_READ, lasting=True)
    ],
    # It has its base.
    f"{SYNC}AttachSource": [
        Row(
            lambda w: sync.AttachSourceRequest(source_id=w.source, knowledge_base_id=w.app),
            frozenset(),
            refused={Kind.OPERATOR: reasons.ERROR_REASON_NOT_FOUND},
        )
    ],
    f"{SYNC}DeleteSource": [Row(lambda w: sync.DeleteSourceRequest(source_id=w.source), OPERATOR)],
    f"{SYNC}StartRun": [Row(lambda w: sync.StartRunRequest(source_id=w.source), OPERATOR)],
    f"{SYNC}GetRun": [Row(lambda w: sync.GetRunRequest(run_id=w.run), ALL_READ, lasting=True)],
    f"{SYNC}ListRuns": [Row(lambda w: sync.ListRunsRequest(source_id=w.source), ALL_READ, lasting=True)],
}


@pytest.mark.timeout(300)
async def test_whoever_may_is_answered_and_all_others_are_told_of_nothing(on: Ground) -> None:
    asked = {method for callers in EACH.values() for method in callers}
    assert asked == MATRIX.keys(), "a new method needs its row of the matrix"
    statements = await StatementLog.of(on.stack)
    await on.eventually(statements.learn_loops)
    for service, callers in EACH.items():
        channel = open_channel(on.stack.addresses[service])

        def make(service: str = service) -> Awaitable[Deployment]:
            return on.world(service)

        for method in callers:
            await check(Asking(channel, statements), method, callers[method], MATRIX[method], make)
        await channel.close()
