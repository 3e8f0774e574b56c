"""Which documents stand for the same thing: what answers a repeated upload, and what a newer one replaces.

Documents meet at an address (the source path or, without one, the name) within one base. Versions order them
by when they were tracked, not by when they finish.
"""

from collections.abc import Iterable, Sequence
from uuid import UUID

from services.ingest.documents import Document, NewDocument, State


def already_present(wanted: NewDocument, at_address: Sequence[Document]) -> Document | None:
    """Return the document that already holds what `wanted` would bring, so that none need be made.

    It has the same name, content and configuration, has not failed, and will still be what the address holds
    when all that is under way has finished: no newer document replaces it and, where `wanted` replaces what
    is there, nothing else remains beside it.
    """
    live = [document for document in at_address if document.state is not State.ERROR]
    for candidate in live:
        others = [document for document in live if document.id != candidate.id]
        alone = not wanted.replaces or _stands_alone(candidate, others)
        if alone and _same_content(wanted, candidate) and _stays(candidate, others):
            return candidate
    return None


def retires(document: Document, other: Document, named: Iterable[UUID]) -> bool:
    """Whether `document`, now done, takes `other`'s row with it.

    `named` are the documents whose chunks vectorstore removed for it. Of the others it takes, where it
    replaces, those of its address that are older and terminal: one under way belongs to a live attempt, and
    retires itself when it ends.
    """
    if other.id == document.id or other.knowledge_base_id != document.knowledge_base_id:
        return False
    if other.id in set(named):
        return True
    return _replaces(document, other) and other.state is not State.PROCESSING


def superseded(document: Document, at_address: Iterable[Document]) -> bool:
    """Whether a newer document that is done has replaced `document` before it ended itself."""
    return any(other.state is State.DONE and _replaces(other, document) for other in at_address)


def _replaces(newer: Document, older: Document) -> bool:
    return (
        newer.replaces
        and newer.knowledge_base_id == older.knowledge_base_id
        and newer.address == older.address
        and newer.version > older.version
    )


def _same_content(wanted: NewDocument, candidate: Document) -> bool:
    return (
        wanted.knowledge_base_id == candidate.knowledge_base_id
        and wanted.address == candidate.address
        and wanted.filename == candidate.filename
        and wanted.sha256 == candidate.sha256
        and wanted.config == candidate.config
    )


def _stays(candidate: Document, others: Iterable[Document]) -> bool:
    return not any(_replaces(other, candidate) for other in others)


def _stands_alone(candidate: Document, others: Iterable[Document]) -> bool:
    return all(_replaces(candidate, other) for other in others)
