"""Logs: one JSON object a line on stderr, with the request's id and without secrets.

Every attribute given as `extra=` becomes a field of the line. Texts are cleaned of tokens, of `key=value`
secrets and of the credentials in URLs, tracebacks included.
"""

import json
import logging
import re
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Final

from services.shared.settings import naming

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the call that this task works for; empty outside of calls."""

HIDDEN: Final = "[hidden]"
MAX_LINE: Final = 512

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_SECRET_KEY = re.compile(r"(?i)authorization|password|passwd|secret|token|api_?key|credential")
_RULES: Final = (
    # What must be in a text, in lower case, for the rule to be tried; the rule; what is written instead.
    (("bearer",), re.compile(r"(?i)\bbearer\s+[\w.~+/=-]+"), f"Bearer {HIDDEN}"),
    (("eyj",), re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]*"), HIDDEN),
    (("://",), re.compile(r"\b([a-z][a-z0-9+.-]{0,20}://)[^\s/@'\"]+@"), rf"\1{HIDDEN}@"),
    (
        ("password", "passwd", "secret", "token", "apikey", "api_key"),
        re.compile(
            r"(?i)((?:password|passwd|secret|token|api_?key)[\w-]*[\"']?\s*[=:]\s*[\"']?)[^\s\"',;&)]+"
        ),
        rf"\1{HIDDEN}",
    ),
)


def configure(service: str, level: str) -> None:
    """Send this process's logs to stderr as JSON lines, from `level` (a name such as INFO) up. Raises Misconfigured."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter(service))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    with naming("ACERVO_LOG_LEVEL", "This must be DEBUG, INFO, WARNING or ERROR."):
        root.setLevel(level.upper())


def redact(text: str) -> str:
    """The text without tokens, secrets and the credentials of URLs.

    Lines are cut to `MAX_LINE` characters: callers choose what is logged of them, and the rules' cost grows with the
    square of a line.
    """
    return "\n".join(map(_redact_line, text.split("\n")))


def _redact_line(line: str) -> str:
    shortened = _cut(line)
    lower = shortened.lower()
    for marks, pattern, replacement in _RULES:
        if any(mark in lower for mark in marks):
            shortened = pattern.sub(replacement, shortened)
    return shortened


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}[{len(text) - MAX_LINE} more]"


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of JSON."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "service": self._service,
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        if current := request_id.get():
            line["request_id"] = current
        for key, value in vars(record).items():
            if key not in _STANDARD:
                line[key] = HIDDEN if _SECRET_KEY.search(key) else _clean(value)
        if record.exc_info:
            line["exception"] = redact(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False, default=str)


def _clean(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    return redact(_cut(str(value)))
