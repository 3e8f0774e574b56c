import json
import logging
import sys

import pytest

from services.shared.telemetry import MAX_LINE, JsonFormatter, configure, redact, request_id


def _line(message: str, *arguments: object, **extra: object) -> dict[str, object]:
    logger = logging.getLogger("test")
    record = logger.makeRecord("test", logging.INFO, __file__, 1, message, arguments, None, extra=extra)
    line: dict[str, object] = json.loads(JsonFormatter("upload").format(record))
    return line


def test_a_line_says_who_and_what() -> None:
    line = _line("took %s", "a file", size=7)
    assert line["service"] == "upload"
    assert line["message"] == "took a file"
    assert line["size"] == 7
    assert "request_id" not in line


def test_a_line_of_a_call_carries_its_id() -> None:
    token = request_id.set("abc")
    try:
        assert _line("x")["request_id"] == "abc"
    finally:
        request_id.reset(token)


def test_a_line_stays_one_line() -> None:
    record = logging.makeLogRecord({"msg": "two\nlines", "levelname": "INFO"})
    assert "\n" not in JsonFormatter("upload").format(record)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://user:hunter2@db/acervo",
        "nats://hunter2@host:4222",
        "Authorization: Bearer hunter2",
        "eyJhbGciOiJFZERTQSJ9.eyJodW50ZXIyIjoxfQ.hunter2",
        "password=hunter2 host=db",
        '{"api_key": "hunter2"}',
        "https://x.example/?access_token=hunter2&a=b",
        "AWS_SECRET_ACCESS_KEY=hunter2",
    ],
)
def test_secrets_are_hidden(text: str) -> None:
    assert "hunter2" not in redact(text)
    assert "hunter2" not in json.dumps(_line("%s", text, why=text))


def test_fields_named_after_secrets_are_hidden() -> None:
    assert _line("x", token="hunter2")["token"] == "[hidden]"


def test_ordinary_text_is_left_alone() -> None:
    text = "stored 3 files of https://example.org/docs in 2.5 s"
    assert redact(text) == text


def test_secrets_in_tracebacks_are_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    configure("upload", "info")
    try:
        raise ConnectionError("postgresql://user:hunter2@db/acervo")
    except ConnectionError:
        logging.getLogger("test").exception("lost")
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
    line = json.loads(capsys.readouterr().err)
    assert "ConnectionError" in line["exception"]
    assert "hunter2" not in line["exception"]
    assert sys.exc_info() == (None, None, None)


@pytest.mark.parametrize("unit", ["a-", "a.", "a", "eyJa", "token"])
def test_what_a_caller_makes_long_is_cut_before_it_is_searched(unit: str) -> None:
    assert len(redact(unit * 100_000)) <= MAX_LINE + 100


def test_every_line_of_a_trace_is_kept_and_cleaned() -> None:
    trace = "\n".join(f"line {number} token=abc{number}" for number in range(500))
    assert redact(trace).count("\n") == 499
    assert "abc" not in redact(trace)


def test_a_field_is_cut_as_a_whole() -> None:
    assert len(str(_line("x", path="a\n" * 100_000)["path"])) <= MAX_LINE + 20


def test_a_name_of_several_words_hides_its_value_wherever_it_begins() -> None:
    assert "hunter2" not in redact(f"{'-a' * 200}-my-token-of-old=hunter2")
