"""Hands received files to ingest until it has answered for each."""

import asyncio
import logging
from uuid import UUID

from acervo.common.v1 import lane_pb2
from acervo.ingest.v1 import documents_pb2
from acervo.ingest.v1.documents_pb2 import CreateDocumentRequest, CreateDocumentResponse
from services.shared.bus import Lane
from services.shared.client import Peers, refusals
from services.shared.db import DISCONNECTED, Pool
from services.shared.errors import AcervoError, Code, meaning
from services.shared.ingestion_config_codec import config_to_proto
from services.upload import files, removal, requests
from services.upload.files import File, Source

log = logging.getLogger(__name__)

SOURCES = {
    Source.UPLOAD: documents_pb2.DOCUMENT_SOURCE_UPLOAD,
    Source.CLI: documents_pb2.DOCUMENT_SOURCE_CLI,
    Source.LOCAL: documents_pb2.DOCUMENT_SOURCE_LOCAL,
}
LANES = {Lane.INTERACTIVE: lane_pb2.LANE_INTERACTIVE, Lane.BULK: lane_pb2.LANE_BULK}

_FINAL = frozenset({Code.INVALID_ARGUMENT, Code.FAILED_PRECONDITION, Code.NOT_FOUND, Code.ALREADY_EXISTS})
_BATCH = 32
_AT_ONCE = 8


class Tracking:
    """Has ingest make a document of each received file."""

    def __init__(self, pool: Pool, peers: Peers, *, answer_seconds: float, reconcile_seconds: float) -> None:
        self._pool = pool
        self._peers = peers
        self._answer_seconds = answer_seconds
        self._reconcile_seconds = reconcile_seconds

    async def track(self, file: File) -> CreateDocumentResponse:
        """Have a document made of the file, and keep or release the file as ingest answers.

        Raises:
            AcervoError: what ingest refused it for. A file that is refused for good is released; any other is tried
                again by `reconcile`.
        """
        try:
            with refusals():
                answer = await self._peers.ingest().CreateDocument(
                    _request(file), **self._peers.own("ingest")
                )
        except AcervoError as refusal:
            if meaning(refusal.reason).code in _FINAL:
                await self._refused(file)
            raise
        await self._answered(file, answer)
        return answer

    async def reconcile(self) -> None:
        """Track again, until cancelled, what ingest has not answered for in time."""
        while True:
            if await self.track_due() < _BATCH:
                await asyncio.sleep(self._reconcile_seconds)

    async def track_due(self) -> int:
        """Track one batch of what is due; return how many there were."""
        due = await files.take_due(self._pool, self._answer_seconds, _BATCH)
        slots = asyncio.Semaphore(_AT_ONCE)

        async def again(file: File) -> None:
            async with slots:
                try:
                    await self.track(file)
                except (AcervoError, *DISCONNECTED) as error:
                    log.warning("a file is not tracked yet", extra={"file": str(file.id), "why": str(error)})

        async with asyncio.TaskGroup() as group:
            for file in due:
                group.create_task(again(file))
        return len(due)

    async def _answered(self, file: File, answer: CreateDocumentResponse) -> None:
        document_id = UUID(answer.document.id)
        if not answer.already_present:
            await files.mark_tracked(self._pool, file.id, document_id)
            return
        async with self._pool.acquire() as connection, connection.transaction():
            await requests.answer(connection, file.id, document_id, already_present=True)
            await removal.remove(connection, [file.id])

    async def _refused(self, file: File) -> None:
        async with self._pool.acquire() as connection, connection.transaction():
            await removal.remove(connection, [file.id])


def _request(file: File) -> CreateDocumentRequest:
    return CreateDocumentRequest(
        file_id=str(file.id),
        knowledge_base_id=str(file.knowledge_base_id),
        collection_name=file.collection_name,
        organization_id=str(file.organization_id or ""),
        actor_user_id=str(file.actor_user_id or ""),
        filename=file.filename,
        kind=file.kind,
        size=file.size,
        sha256=file.sha256,
        blob_key=file.blob_key,
        ingestion_config=config_to_proto(file.ingestion_config),
        replace=file.replaces,
        lane=LANES[file.lane],
        source=SOURCES[file.source],
        source_path=file.source_path,
        discard_original=file.discard_original,
    )
