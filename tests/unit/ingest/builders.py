"""Documents for tests: one complete row, and how it differs."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from services.ingest.documents import Document, Original, Source, Stage, State
from services.shared.bus import Lane
from services.shared.ingestion_config import DEFAULT

BASE = UUID(int=1)
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def document(number: int = 1, **changes: Any) -> Document:
    """Return the `number`-th document of its address, PROCESSING unless `changes` say otherwise."""
    state = changes.get("state", State.PROCESSING)
    fields: dict[str, Any] = {
        "id": UUID(int=100 + number),
        "file_id": UUID(int=200 + number),
        "knowledge_base_id": BASE,
        "collection_name": "handbook",
        "organization_id": None,
        "actor_user_id": None,
        "filename": "a.md",
        "kind": "md",
        "size": 10,
        "sha256": bytes(32),
        "original_key": f"upload/files/{number}",
        "original": Original.KEPT,
        "config": DEFAULT,
        "lane": Lane.INTERACTIVE,
        "source": Source.UPLOAD,
        "source_path": "",
        "replaces": False,
        "version": number,
        "state": state,
        "stage": Stage.QUEUED if state is State.PROCESSING else None,
        "reason": 71 if state is State.ERROR else None,
        "attempt": 1,
        "chunk_count": 3 if state is State.DONE else 0,
        "page_count": 0,
        "pages_key": None,
        "chunks_key": None,
        "created_at": _EPOCH,
        "completed_at": None if state is State.PROCESSING else _EPOCH,
        "notices": (),
    }
    return Document(**{**fields, **changes})
