"""What sync asks of upload and ingest, in its own name."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID, uuid5

from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.common.v1 import lane_pb2
from acervo.ingest.v1 import documents_pb2 as ingest_pb
from acervo.upload.v1 import upload_pb2 as upload_pb
from services.shared.client import Peers, refusals
from services.shared.errors import AcervoError, NotFound
from services.sync.connector import Entry
from services.sync.runs import Run
from services.sync.sources import Source
from services.sync.staging import Staged

UPLOAD_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Tracked:
    """A document as ingest tracks it. `failure` is set once it failed; `done` once it is indexed."""

    id: UUID
    done: bool
    failure: AcervoError | None


@dataclass(frozen=True, slots=True)
class Handed:
    """What became of a file that was handed over.

    `own_address` says whether the document is one of this very file at the source: a person's upload of the same
    content is not. `already_present` says whether it was there before.
    """

    document: Tracked
    own_address: bool
    already_present: bool


class Uploads:
    """Hands files over to upload."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers

    async def hand_over(self, source: Source, run: Run, entry: Entry, staged: Staged) -> Handed:
        """Have a file indexed in place of the document of the same address; again is the same document.

        Raises AcervoError as upload refuses.
        """
        header = upload_pb.UploadDocumentHeader(
            request_id=str(uuid5(run.id, f"{staged.sha256.hex()}\n{entry.path}")),
            knowledge_base_id=str(run.knowledge_base_id),
            filename=entry.name,
            size=staged.size,
            sha256=staged.sha256,
            replace=True,
            lane=lane_pb2.LANE_BULK,
            source=ingest_pb.DOCUMENT_SOURCE_LOCAL,
            source_path=entry.path,
            actor_user_id=str(source.owner_user_id),
            discard_original=True,
        )
        with refusals():
            answer = await self._peers.upload().UploadDocument(
                _messages(header, staged), **self._peers.own("upload", UPLOAD_SECONDS)
            )
        document = answer.document
        own = document.source == ingest_pb.DOCUMENT_SOURCE_LOCAL and document.source_path == entry.path
        return Handed(_tracked(document), own, answer.already_present)


class Documents:
    """Asks ingest about documents."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers

    async def find(self, document_id: UUID) -> Tracked | None:
        """Return a document, None where it is gone."""
        request = ingest_pb.GetDocumentRequest(document_id=str(document_id))
        with _gone_is_fine():
            answer = await self._peers.ingest().GetDocument(request, **self._peers.own("ingest"))
            return _tracked(answer.document)
        return None

    async def delete(self, document_id: UUID) -> None:
        """Remove a document; one that is gone already is removed."""
        request = ingest_pb.DeleteDocumentRequest(document_id=str(document_id))
        with _gone_is_fine():
            await self._peers.ingest().DeleteDocument(request, **self._peers.own("ingest"))


def document_gone() -> AcervoError:
    """Why a file failed whose document was removed before it was indexed."""
    return NotFound("document")


async def _messages(
    header: upload_pb.UploadDocumentHeader, staged: Staged
) -> AsyncIterator[upload_pb.UploadDocumentRequest]:
    yield upload_pb.UploadDocumentRequest(header=header)
    for block in staged.blocks():
        yield upload_pb.UploadDocumentRequest(data=block)


def _tracked(document: ingest_pb.Document) -> Tracked:
    failure = None
    if document.state == ingest_pb.DOCUMENT_STATE_ERROR:
        failure = AcervoError(document.failure.reason, document.failure.message)
    return Tracked(UUID(document.id), document.state == ingest_pb.DOCUMENT_STATE_DONE, failure)


@contextmanager
def _gone_is_fine() -> Iterator[None]:
    try:
        with refusals():
            yield
    except AcervoError as refusal:
        if refusal.reason != reasons.ERROR_REASON_NOT_FOUND:
            raise
