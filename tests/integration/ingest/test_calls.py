"""What callers are answered: who may ask, what is refused, and that a refusal tells nothing."""

from typing import Any

from acervo.access.v1.access_pb2 import PERMISSION_VIEW
from acervo.common.v1.ingestion_config_pb2 import IngestionConfig
from acervo.ingest.v1 import documents_pb2 as pb
from services.ingest.documents import Document
from services.shared.errors import reason_of
from services.shared.ids import uuid7
from services.shared.ingestion_config import DEFAULT
from services.shared.ingestion_config_codec import config_to_proto
from tests.integration.ingest.calls import Calls, base_id
from tests.integration.ingest.steps import Steps


def _check(base: str = "", **fields: Any) -> pb.CheckUploadRequest:
    return pb.CheckUploadRequest(**{"knowledge_base_id": base, "filename": "a.md", **fields})


async def test_an_upload_that_would_be_taken_is_told_what_it_becomes(calls: Calls) -> None:
    base = calls.base()
    config = IngestionConfig(chunk_size=1000)
    answer = await calls.stub.CheckUpload(_check(base.id, ingestion_config=config), **calls.person())
    assert (answer.knowledge_base_id, answer.collection_name) == (base.id, "handbook")
    assert (answer.kind, answer.max_size) == ("md", 50 * 1024 * 1024)
    assert (answer.ingestion_config.chunk_size, answer.ingestion_config.chunk_overlap) == (1000, 200)
    by_name = _check(collection_name="handbook")
    assert (await calls.stub.CheckUpload(by_name, **calls.person())).knowledge_base_id == base.id


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"filename": "a.exe"}, "FILE_KIND_UNSUPPORTED"),
    ({"filename": "a.pdf", "media_type": "text/plain"}, "FILE_KIND_MISMATCH"),
    ({"size": 50 * 1024 * 1024 + 1}, "FILE_TOO_LARGE"),
    ({"filename": ""}, "FIELD_INVALID"),
    ({"filename": "x" * 1025 + ".md"}, "FIELD_INVALID"),
    ({"size": -1}, "FIELD_INVALID"),
    ({"collection_name": "handbook"}, "FIELD_INVALID"),
]


async def test_an_upload_that_would_not_be_taken_is_refused_by_reason(calls: Calls) -> None:
    base = calls.base()
    for fields, reason in REFUSED:
        call = calls.stub.CheckUpload(_check(base.id, **fields), **calls.person())
        assert await calls.reason(call) == reason, fields


CONFIGURATIONS: list[tuple[dict[str, Any], str, tuple[str, ...]]] = [
    ({"chunk_overlap": 4096}, "ingestion_config", ("chunk_size (2500)", "chunk_overlap (4096)")),
    ({"chunk_size": 150}, "ingestion_config", ("chunk_size (150)", "chunk_overlap (200)")),
    ({"chunk_size": 99, "chunk_overlap": 0}, "ingestion_config.chunk_size", ("99",)),
    ({"chunk_overlap": -1}, "ingestion_config.chunk_overlap", ("-1",)),
]


async def test_a_configuration_is_refused_as_merged_and_marks_the_field_of_the_form(calls: Calls) -> None:
    base = calls.base()
    for config, path, named in CONFIGURATIONS:
        request = _check(base.id, ingestion_config=IngestionConfig(**config))
        refusal = await calls.refused(calls.stub.CheckUpload(request, **calls.person()))
        (violation,) = refusal.fields
        assert violation.path == path
        assert all(part in violation.message for part in named)


async def test_whoever_may_only_view_a_base_is_told_that_there_is_none(calls: Calls) -> None:
    base = calls.base("ana", PERMISSION_VIEW)
    reader = await calls.refused(calls.stub.CheckUpload(_check(base.id), **calls.person()))
    absent = await calls.refused(calls.stub.CheckUpload(_check(str(uuid7())), **calls.person()))
    assert (reader.reason, reader.message, reader.metadata) == (
        absent.reason,
        absent.message,
        absent.metadata,
    )


async def test_a_name_that_stands_for_several_bases_takes_no_upload(calls: Calls) -> None:
    for _ in range(2):
        calls.base()
    request = _check(collection_name="handbook")
    assert await calls.reason(calls.stub.CheckUpload(request, **calls.person())) == "COLLECTION_AMBIGUOUS"


def _creation(base: str, **fields: Any) -> pb.CreateDocumentRequest:
    required: dict[str, Any] = {
        "file_id": str(uuid7()),
        "knowledge_base_id": base,
        "collection_name": "handbook",
        "filename": "a.md",
        "kind": "md",
        "size": 3,
        "sha256": bytes(32),
        "blob_key": "upload/files/x",
        "ingestion_config": config_to_proto(DEFAULT),
    }
    return pb.CreateDocumentRequest(**{**required, **fields})


async def test_only_services_track_files_and_the_same_file_is_tracked_once(calls: Calls) -> None:
    request = _creation(calls.base().id)
    assert await calls.reason(calls.stub.CreateDocument(request, **calls.person())) == "SERVICES_ONLY"
    first = await calls.stub.CreateDocument(request, **calls.upload())
    again = await calls.stub.CreateDocument(request, **calls.upload())
    assert first.document.id == again.document.id
    assert first.document.stage == pb.DOCUMENT_STAGE_QUEUED
    other = await calls.stub.CreateDocument(
        _creation(request.knowledge_base_id, blob_key="upload/files/y"), **calls.upload()
    )
    assert (other.already_present, other.document.id) == (True, first.document.id)


async def _document(calls: Calls, steps: Steps, **changes: object) -> Document:
    return await steps.create(base_id(calls.base()), **changes)


async def test_a_document_out_of_reach_is_refused_as_an_absent_one_by_the_same_calls(
    calls: Calls, steps: Steps
) -> None:
    document = await _document(calls, steps)
    stub, eve = calls.stub, calls.person("eve")
    told = []
    for document_id in (str(document.id), str(uuid7())):
        for call in (
            lambda id_: stub.GetDocument(pb.GetDocumentRequest(document_id=id_), **eve),
            lambda id_: stub.DeleteDocument(pb.DeleteDocumentRequest(document_id=id_), **eve),
            lambda id_: stub.RetryDocument(pb.RetryDocumentRequest(document_id=id_), **eve),
        ):
            calls.access.asked.clear()
            refusal = await calls.refused(call(document_id))
            told.append((refusal.reason, refusal.message, tuple(refusal.metadata), *calls.access.asked))
    assert len(set(told)) == 1
    assert told[0][0] == reason_of("NOT_FOUND")
    assert await steps.get(document) is not None


async def test_a_failed_document_says_why_and_what_to_do(calls: Calls, steps: Steps) -> None:
    document = await _document(calls, steps)
    await steps.fail(document, reason_of("FILE_ENCRYPTED"))
    request = pb.GetDocumentRequest(document_id=str(document.id))
    answer = (await calls.stub.GetDocument(request, **calls.person())).document
    assert (answer.state, answer.failure.reason) == (pb.DOCUMENT_STATE_ERROR, reason_of("FILE_ENCRYPTED"))
    assert answer.failure.message == "The file is protected by a password."
    assert "password" in answer.failure.advice
    assert answer.HasField("complete_time")


async def test_a_list_tells_of_each_document_all_that_asking_for_it_alone_does(
    calls: Calls, steps: Steps
) -> None:
    base = calls.base()
    failed, warned = [await steps.create(base_id(base), filename=f"{n}.md") for n in range(2)]
    await steps.fail(failed, reason_of("FILE_ENCRYPTED"))
    await steps.parse(warned)
    request = pb.ListDocumentsRequest(knowledge_base_id=base.id)
    listed = (await calls.stub.ListDocuments(request, **calls.person())).documents
    for document in listed:
        alone = pb.GetDocumentRequest(document_id=document.id)
        assert document == (await calls.stub.GetDocument(alone, **calls.person())).document
    assert [document.id for document in listed] == [str(warned.id), str(failed.id)]
    assert [warning.message for warning in listed[0].warnings] == ["An image."]
    assert "password" in listed[1].failure.advice


async def test_pages_hold_every_document_once_newest_first_with_counts_of_all(
    calls: Calls, steps: Steps
) -> None:
    base = calls.base()
    made = [str((await steps.create(base_id(base), filename=f"{n}.md")).id) for n in range(5)]
    await _document(calls, steps)
    seen: list[str] = []
    token = ""
    while True:
        request = pb.ListDocumentsRequest(knowledge_base_id=base.id, page_size=2, page_token=token)
        page = await calls.stub.ListDocuments(request, **calls.person())
        assert (page.counts.processing, page.counts.done, page.counts.error) == (5, 0, 0)
        seen += [document.id for document in page.documents]
        token = page.next_page_token
        if not token:
            break
    assert seen == made[::-1]


async def test_a_name_lists_every_base_of_it_that_the_caller_reaches(calls: Calls, steps: Steps) -> None:
    mine = [await _document(calls, steps) for _ in range(2)]
    await steps.create(base_id(calls.base("eve")))
    request = pb.ListDocumentsRequest(collection_name="handbook")
    page = await calls.stub.ListDocuments(request, **calls.person())
    assert {document.id for document in page.documents} == {str(document.id) for document in mine}


async def test_a_listing_can_be_of_some_states_alone(calls: Calls, steps: Steps) -> None:
    base = calls.base()
    failed = await steps.create(base_id(base), filename="b.md")
    await steps.fail(failed, reason_of("NO_TEXT"))
    await steps.create(base_id(base))
    request = pb.ListDocumentsRequest(knowledge_base_id=base.id, states=[pb.DOCUMENT_STATE_ERROR])
    page = await calls.stub.ListDocuments(request, **calls.person())
    assert [document.id for document in page.documents] == [str(failed.id)]
    assert (page.counts.processing, page.counts.error) == (1, 1)


async def test_a_token_of_one_listing_opens_no_other(calls: Calls, steps: Steps) -> None:
    base, other = calls.base(), calls.base(collection="other")
    for n in range(2):
        await steps.create(base_id(base), filename=f"{n}.md")
    first = await calls.stub.ListDocuments(
        pb.ListDocumentsRequest(knowledge_base_id=base.id, page_size=1), **calls.person()
    )
    request = pb.ListDocumentsRequest(knowledge_base_id=other.id, page_token=first.next_page_token)
    refusal = await calls.refused(calls.stub.ListDocuments(request, **calls.person()))
    assert [violation.path for violation in refusal.fields] == ["page_token"]


async def test_a_deletion_repeated_under_its_request_id_is_answered_as_the_first_time(
    calls: Calls, steps: Steps
) -> None:
    document = await _document(calls, steps)
    request = pb.DeleteDocumentRequest(request_id=str(uuid7()), document_id=str(document.id))
    for _ in range(2):
        await calls.stub.DeleteDocument(request, **calls.person())
    assert await calls.reason(calls.stub.DeleteDocument(request, **calls.person("eve"))) == "NOT_FOUND"
    anew = pb.DeleteDocumentRequest(request_id=str(uuid7()), document_id=str(document.id))
    assert await calls.reason(calls.stub.DeleteDocument(anew, **calls.person())) == "NOT_FOUND"


async def test_only_failed_documents_are_retried(calls: Calls, steps: Steps) -> None:
    document = await _document(calls, steps)
    request = pb.RetryDocumentRequest(document_id=str(document.id))
    refused = calls.stub.RetryDocument(request, **calls.person())
    assert await calls.reason(refused) == "DOCUMENT_NOT_FAILED"
    await steps.fail(document, reason_of("PARSE_TIMEOUT"))
    answer = (await calls.stub.RetryDocument(request, **calls.person())).document
    assert (answer.state, answer.attempt) == (pb.DOCUMENT_STATE_PROCESSING, 2)


async def test_a_retry_repeated_under_its_request_id_is_answered_as_the_first_time(
    calls: Calls, steps: Steps
) -> None:
    base = calls.base()
    document, other = [await steps.create(base_id(base), filename=f"{n}.md") for n in range(2)]
    for failed in (document, other):
        await steps.fail(failed, reason_of("PARSE_TIMEOUT"))
    request = pb.RetryDocumentRequest(request_id=str(uuid7()), document_id=str(document.id))
    first = await calls.stub.RetryDocument(request, **calls.person())
    assert await calls.stub.RetryDocument(request, **calls.person()) == first
    reused = pb.RetryDocumentRequest(request_id=request.request_id, document_id=str(other.id))
    assert await calls.reason(calls.stub.RetryDocument(reused, **calls.person())) == "REQUEST_ID_REUSED"
