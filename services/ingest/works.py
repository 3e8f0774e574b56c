"""The jobs of a document: reading it here, and waiting for vectorstore to embed and store it."""

from uuid import UUID

from acervo.events.v1.work_pb2 import EmbedDocument, ParseDocument
from services.ingest.documents import Document
from services.shared.bus import EMBED, PARSE, Lane, lane_subject
from services.shared.jobs import Work

PARSE_STAGE = "parse"
EMBED_STAGE = "embed"


def parse_work(document: Document) -> Work:
    """Read and cut the document, once it is admitted."""
    message = ParseDocument(
        document_id=str(document.id), attempt=document.attempt, tenant_id=str(turn(document))
    )
    subject = lane_subject(PARSE, document.lane)
    return _work(document, PARSE_STAGE, subject, message.SerializeToString())


def embed_work(document: Document, parse_epoch: int) -> Work:
    """Ask vectorstore for the document's chunks to be stored; the row here is the deadline of the answer."""
    message = EmbedDocument(
        document_id=str(document.id),
        attempt=document.attempt,
        parse_epoch=parse_epoch,
        tenant_id=str(turn(document)),
    )
    subject = lane_subject(EMBED, document.lane)
    return _work(document, EMBED_STAGE, subject, message.SerializeToString())


def tenant(document: Document) -> UUID:
    """In whose turn the document is admitted: its organization's, else its person's, else its base's."""
    return document.organization_id or document.actor_user_id or document.knowledge_base_id


def turn(document: Document) -> UUID:
    """In whose turn the document is worked on: of an organization's people, each has a turn where they wait."""
    person = document.actor_user_id if document.lane is Lane.INTERACTIVE else None
    return person or tenant(document)


def _work(document: Document, stage: str, subject: str, message: bytes) -> Work:
    return Work(document.id, stage, document.attempt, document.lane, tenant(document), subject, message)
