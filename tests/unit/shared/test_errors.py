import re
from pathlib import Path

import pytest

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.common.v1.error_reason_pb2 import ErrorReason
from services.shared import errors

PROTO = Path(__file__).parents[3] / "protos/acervo/common/v1/error_reason.proto"


def test_every_reason_has_a_meaning() -> None:
    assert set(errors.REASONS) == set(ErrorReason.values())


@pytest.mark.parametrize("reason", ErrorReason.values(), ids=errors.reason_name)
def test_every_meaning_says_what_happened_and_what_to_do(reason: ErrorReason) -> None:
    row = errors.REASONS[reason]
    for sentence in (row.message, row.advice):
        assert sentence[0].isupper()
        assert sentence.endswith(".")
    assert 400 <= row.http <= 599


def test_codes_are_those_that_the_contract_names() -> None:
    comment = re.compile(r"((?:  //.*\n)+)  (ERROR_REASON_\w+) = \d+;")
    codes = "|".join(code.name for code in errors.Code)
    for lines, name in comment.findall(PROTO.read_text()):
        stated = re.search(rf"\b({codes})\.\s*$", lines)
        if stated:
            assert errors.meaning(ErrorReason.Value(name)).code.name == stated[1], name


@pytest.mark.parametrize("reason", ErrorReason.values(), ids=errors.reason_name)
def test_a_reason_survives_its_name(reason: ErrorReason) -> None:
    assert errors.reason_of(errors.reason_name(reason)) == reason


def test_a_reason_of_a_newer_version_reads_as_internal() -> None:
    assert errors.reason_of("SOMETHING_NEW") == pb.ERROR_REASON_INTERNAL
    assert errors.meaning(9999).code is errors.Code.INTERNAL
    assert errors.reason_name(9999) == "INTERNAL"


def test_an_absent_thing_says_its_kind_and_nothing_else() -> None:
    error = errors.NotFound("knowledge base")
    assert error.message == "There is no such knowledge base."
    assert error.metadata == {"kind": "knowledge_base"}


def test_invalid_fields_are_all_named() -> None:
    error = errors.FieldsInvalid(
        [errors.FieldViolation("query", "is empty"), errors.FieldViolation("top_k", "is below 1")]
    )
    assert error.message == "query: is empty; top_k: is below 1"
    assert [violation.path for violation in error.fields] == ["query", "top_k"]


def test_an_error_without_a_message_says_the_one_of_its_reason() -> None:
    error = errors.AcervoError(pb.ERROR_REASON_FILE_EMPTY)
    assert error.message == errors.REASONS[pb.ERROR_REASON_FILE_EMPTY].message
