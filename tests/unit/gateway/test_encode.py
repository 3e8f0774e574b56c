from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.ingest.v1 import documents_pb2 as pb
from acervo.vectorstore.v1 import search_pb2
from services.gateway import encode


def test_each_state_of_a_document_is_one_word() -> None:
    names = [name for name, state in pb.DocumentState.items() if state]
    words = {encode.document(pb.Document(state=name))["status"] for name in names}
    assert words == {"processing", "done", "error"}


def test_what_is_not_set_is_null() -> None:
    document = encode.document(pb.Document(state=pb.DOCUMENT_STATE_DONE))
    assert (document["stage"], document["failure"], document["complete_time"]) == (None, None, None)


def test_a_failure_says_why_and_what_to_do() -> None:
    failure = pb.Failure(reason=reasons.ERROR_REASON_NO_TEXT, message="No text.", advice="Add some.")
    assert encode.document(pb.Document(failure=failure))["failure"] == {
        "reason": "NO_TEXT",
        "message": "No text.",
        "advice": "Add some.",
    }


def test_times_are_in_utc() -> None:
    document = pb.Document()
    document.create_time.FromJsonString("2026-01-02T03:04:05Z")
    assert encode.document(document)["create_time"] == "2026-01-02T03:04:05Z"


def test_every_field_of_a_document_is_told_under_its_name_but_the_state() -> None:
    names = {field.name for field in pb.Document.DESCRIPTOR.fields}
    assert set(encode.document(pb.Document())) == names - {"state"} | {"status"}


def test_every_field_of_a_passage_is_told_under_its_name() -> None:
    (passage,) = encode.passages([search_pb2.Passage()])["passages"]
    assert set(passage) == {field.name for field in search_pb2.Passage.DESCRIPTOR.fields}
