"""What upload does about the facts of other services. Each is told twice: deliveries may repeat."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from google.protobuf.message import Message

from acervo.events.v1.facts_pb2 import (
    BaseDeleted,
    BaseEmptied,
    DocumentDeleted,
    DocumentFinished,
    FileDeleted,
    TeardownAnswered,
)
from acervo.upload.v1.upload_pb2 import UploadDocumentResponse
from services.shared import bus
from services.shared.broker import Delivery, Undecodable
from services.shared.errors import BaseGone, Unavailable
from services.shared.ids import uuid7
from services.upload.consumers import Consumers
from tests.conftest import Databases
from tests.integration.upload.stack import BASE, Stack, running

PARTS = [b"# Handbook\n"]


@pytest.fixture
async def stack(tmp_path: Path, databases: Databases, blob_url: str) -> AsyncIterator[Stack]:
    async with running(tmp_path, databases["upload"], blob_url) as stack:
        yield stack


async def tell(stack: Stack, subject: str, fact: Message) -> None:
    handler = Consumers(stack.pool).handlers()[subject]
    for _ in range(2):
        await handler(Delivery(subject, fact.SerializeToString()))


async def told(stack: Stack, subject: str) -> list[bytes]:
    rows = await stack.pool.fetch("SELECT payload FROM outbox WHERE subject = $1 ORDER BY id", subject)
    return [row["payload"] for row in rows]


def file_of(stack: Stack, answer: UploadDocumentResponse) -> str:
    return next(file for file, document in stack.ingest.documents.items() if document == answer.document)


async def test_a_deleted_documents_file_goes_and_that_is_told(stack: Stack) -> None:
    gone, kept = await stack.upload(PARTS), await stack.upload([b"other"])
    file_id = file_of(stack, gone)
    await tell(stack, bus.DOCUMENT_DELETED, DocumentDeleted(document_id=gone.document.id, file_id=file_id))
    assert set(await stack.files()) == {file_of(stack, kept)}
    assert len(await stack.stored()) == 1
    assert [FileDeleted.FromString(fact).file_id for fact in await told(stack, bus.FILE_DELETED)] == [file_id]


@pytest.mark.parametrize("done", [True, False])
async def test_bytes_kept_for_a_document_alone_go_once_it_is_finished(stack: Stack, done: bool) -> None:
    answer = await stack.upload(PARTS, as_service="sync", discard_original=True)
    fact = DocumentFinished(document_id=answer.document.id, file_id=file_of(stack, answer), done=done)
    await tell(stack, bus.DOCUMENT_FINISHED, fact)
    assert await stack.files() == {}
    assert await stack.stored() == set()


async def test_other_files_stay_when_their_document_is_finished(stack: Stack) -> None:
    answer = await stack.upload(PARTS)
    fact = DocumentFinished(document_id=answer.document.id, file_id=file_of(stack, answer), done=True)
    await tell(stack, bus.DOCUMENT_FINISHED, fact)
    assert list((await stack.files()).values()) == ["tracked"]
    assert len(await stack.stored()) == 1


async def test_a_fact_is_as_good_as_the_answer_that_was_lost(stack: Stack) -> None:
    stack.ingest.failures = [Unavailable()] * 4
    request_id, document = str(uuid4()), uuid7()
    with pytest.raises(Exception, match="UNAVAILABLE"):
        await stack.upload(PARTS, request_id=request_id)
    (file_id,) = await stack.files()
    fact = DocumentFinished(document_id=str(document), file_id=file_id, done=True)
    await tell(stack, bus.DOCUMENT_FINISHED, fact)
    assert await stack.files() == {file_id: "tracked"}
    assert await stack.tracking.track_due() == 0


async def test_a_deleted_bases_files_go_and_no_more_are_taken(stack: Stack) -> None:
    for _ in range(3):
        await stack.upload(PARTS)
    teardown = str(uuid7())
    await tell(stack, bus.BASE_DELETED, BaseDeleted(knowledge_base_id=str(BASE), teardown_id=teardown))
    assert await stack.files() == {}
    assert await stack.stored() == set()
    answers = {
        TeardownAnswered.FromString(fact).teardown_id
        for fact in await told(stack, bus.teardown_answered("upload"))
    }
    assert answers == {teardown}
    with pytest.raises(Exception, match=BaseGone().message):
        await stack.upload(PARTS)


async def test_an_emptied_base_loses_what_it_held_and_takes_more(stack: Stack) -> None:
    await stack.upload(PARTS)
    before = str(uuid7())
    newer = await stack.upload([b"newer"])
    fact = BaseEmptied(knowledge_base_id=str(BASE), teardown_id=str(uuid7()), emptied_before=before)
    await tell(stack, bus.BASE_EMPTIED, fact)
    assert set(await stack.files()) == {file_of(stack, newer)}
    await stack.upload([b"newest"])
    assert len(await stack.stored()) == 2


async def test_the_files_of_other_bases_stay(stack: Stack) -> None:
    await stack.upload(PARTS)
    fact = BaseDeleted(knowledge_base_id=str(uuid4()), teardown_id=str(uuid7()))
    await tell(stack, bus.BASE_DELETED, fact)
    assert len(await stack.files()) == 1


async def test_a_fact_about_an_unknown_file_changes_nothing(stack: Stack) -> None:
    unknown = DocumentFinished(document_id=str(uuid7()), file_id=str(uuid7()), done=True)
    await tell(stack, bus.DOCUMENT_FINISHED, unknown)
    assert await stack.files() == {}


async def test_a_fact_without_ids_is_set_aside(stack: Stack) -> None:
    with pytest.raises(Undecodable):
        await tell(stack, bus.DOCUMENT_DELETED, DocumentDeleted(file_id="nonsense"))


async def test_every_fact_that_upload_is_declared_to_hear_has_a_handler(stack: Stack) -> None:
    heard = bus.CONSUMERS["upload-facts"].subjects
    assert set(Consumers(stack.pool).handlers()) == {one for one in heard if bus.HANDLED not in one}
