"""What a document is, and how it moves from one state to the next.

Each transition takes the document as its row says under a lock and returns it as it shall be, or None where
the event does not concern it any more (another attempt, or an end reached already): repeats and latecomers
are harmless.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from services.shared.bus import Lane
from services.shared.errors import AcervoError, ErrorReason
from services.shared.ingestion_config import IngestionConfig
from services.shared.reasons import reason_of

_ORIGINAL_GONE = reason_of("ORIGINAL_GONE")
_DOCUMENT_NOT_FAILED = reason_of("DOCUMENT_NOT_FAILED")


class State(StrEnum):
    """The lifecycle."""

    PROCESSING = "processing"
    DONE = "done"
    ERROR = "error"


class Stage(StrEnum):
    """How far a PROCESSING document has come."""

    QUEUED = "queued"
    PARSING = "parsing"
    EMBEDDING = "embedding"


class Source(StrEnum):
    """Where a document comes from."""

    UPLOAD = "upload"
    CLI = "cli"
    LOCAL = "local"


class Original(StrEnum):
    """What becomes of the bytes: KEPT while the document lives, STAGED until it is terminal, or GONE."""

    KEPT = "kept"
    STAGED = "staged"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that was left out of, or changed in, a document that is usable all the same."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A stored file that is to be tracked."""

    id: UUID
    file_id: UUID
    knowledge_base_id: UUID
    collection_name: str
    organization_id: UUID | None
    actor_user_id: UUID | None
    filename: str
    kind: str
    size: int
    sha256: bytes
    original_key: str
    original: Original
    config: IngestionConfig
    lane: Lane
    source: Source
    source_path: str
    replaces: bool

    @property
    def address(self) -> str:
        """What a replacement replaces: the source path or, without one, the name."""
        return self.source_path or self.filename


@dataclass(frozen=True, slots=True)
class Document(NewDocument):
    """A tracked document, as its row says."""

    version: int
    state: State
    stage: Stage | None
    reason: "ErrorReason | None"
    attempt: int
    chunk_count: int
    page_count: int
    pages_key: str | None
    chunks_key: str | None
    created_at: datetime
    completed_at: datetime | None
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What reading and cutting a document came to: counts, warnings and the keys of what was written."""

    chunk_count: int
    page_count: int
    pages_key: str
    chunks_key: str
    notices: tuple[Notice, ...]


def begun(document: Document, attempt: int) -> Document | None:
    """A parser has taken the document."""
    if not _under_way(document, attempt) or document.stage is Stage.EMBEDDING:
        return None
    return replace(document, stage=Stage.PARSING)


def requeued(document: Document, attempt: int) -> Document | None:
    """Parsing met a passing fault and waits for its next try."""
    if not _under_way(document, attempt) or document.stage is Stage.EMBEDDING:
        return None
    return replace(document, stage=Stage.QUEUED)


def parsed(document: Document, attempt: int, result: Parsed) -> Document | None:
    """The document was read and cut; its chunks are on their way."""
    if not _under_way(document, attempt) or document.stage is Stage.EMBEDDING:
        return None
    return replace(
        document,
        stage=Stage.EMBEDDING,
        chunk_count=result.chunk_count,
        page_count=result.page_count,
        pages_key=result.pages_key,
        chunks_key=result.chunks_key,
        notices=result.notices,
    )


def indexed(document: Document, attempt: int, chunk_count: int) -> Document | None:
    """The chunks are stored; the file that carried them has served."""
    if not _under_way(document, attempt) or document.stage is not Stage.EMBEDDING:
        return None
    return replace(
        document,
        state=State.DONE,
        stage=None,
        chunk_count=chunk_count,
        chunks_key=None,
        original=_after_the_end(document.original),
    )


def failed(document: Document, attempt: int, reason: ErrorReason) -> Document | None:
    """The attempt is over without a result. The first failure that is recorded stays."""
    if not _under_way(document, attempt):
        return None
    gone = reason == _ORIGINAL_GONE
    return replace(
        document,
        state=State.ERROR,
        stage=None,
        reason=reason,
        chunk_count=0,
        chunks_key=None,
        original=Original.GONE if gone else _after_the_end(document.original),
    )


def retried(document: Document) -> Document:
    """Start a failed document again.

    Raises:
        AcervoError: DOCUMENT_NOT_FAILED unless it failed; ORIGINAL_GONE unless its bytes are kept.
    """
    if document.state is not State.ERROR:
        raise AcervoError(_DOCUMENT_NOT_FAILED)
    if document.original is not Original.KEPT:
        raise AcervoError(_ORIGINAL_GONE)
    return replace(
        document,
        state=State.PROCESSING,
        stage=Stage.QUEUED,
        reason=None,
        attempt=document.attempt + 1,
        page_count=0,
        completed_at=None,
        notices=(),
    )


def _under_way(document: Document, attempt: int) -> bool:
    return document.state is State.PROCESSING and document.attempt == attempt


def _after_the_end(original: Original) -> Original:
    return Original.GONE if original is Original.STAGED else original
