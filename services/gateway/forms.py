"""Reads multipart forms as they come: fields first, then one file, whose bytes are never gathered.

All that comes before the file is bounded, and read in steps between which others have their turn.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MAX_BOUNDARY_LENGTH, parse_options_header

from services.gateway.decode import too_large
from services.shared.errors import FieldsInvalid, FieldViolation

MAX_FIELDS_BYTES: Final = 64 * 1024
MAX_PARTS: Final = 64
MAX_PART_HEADERS: Final = 16
# Of a header of a part, and of the request's Content-Type: each is read in one go.
MAX_HEADER_BYTES: Final = 4096
_STEP: Final = 4096
# What browsers write in place of the characters that would end a name.
_ESCAPED: Final = {"%22": '"', "%0D": "\r", "%0A": "\n"}
_ESCAPE = re.compile("|".join(_ESCAPED))


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form, and the file that follows them."""

    fields: dict[str, str]
    filename: str
    media_type: str
    file: AsyncIterator[bytes]


async def read_form(content_type: str, body: AsyncIterator[bytes]) -> Form:
    """Read up to the file.

    Raises FieldsInvalid where there is none, where fields follow it, or where more comes before it than any real form
    has, and AcervoError (MESSAGE_TOO_LARGE) where it does not begin within `MAX_FIELDS_BYTES`.
    """
    if len(content_type) > MAX_HEADER_BYTES:
        raise _malformed(f"has a Content-Type of more than {MAX_HEADER_BYTES} bytes")
    _, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if not 0 < len(boundary) <= MAX_BOUNDARY_LENGTH:
        raise _malformed(f"has no boundary of 1 to {MAX_BOUNDARY_LENGTH} bytes")
    form = _FormParser(boundary)
    while not form.in_file:
        chunk = await anext(body, None)
        if chunk is None:
            raise _malformed("holds no file")
        await form.feed(chunk)
    return Form(form.fields, form.filename, form.media_type, _file(form, body))


async def _file(form: "_FormParser", body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    while True:
        for part in form.take():
            yield part
        chunk = await anext(body, None)
        if chunk is None:
            break
        await form.feed(chunk)
    if not form.ended:
        raise _malformed("ends too early")


class _FormParser:
    def __init__(self, boundary: bytes) -> None:
        self.fields: dict[str, str] = {}
        self.filename = ""
        self.media_type = ""
        self.in_file = False
        self.ended = False
        self._size = 0
        self._begun = 0
        self._parts: list[bytes] = []
        self._headers: dict[bytes, bytes] = {}
        self._header_name = b""
        self._header_value = b""
        self._field = ""
        self._value = bytearray()
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._on_header_name,
                "on_header_value": self._on_header_value,
                "on_header_end": self._on_header_end,
                "on_headers_finished": self._on_headers,
                "on_part_data": self._on_data,
                "on_part_end": self._end,
                "on_end": self._finish,
            },
            max_header_count=MAX_PART_HEADERS,
            max_header_size=MAX_HEADER_BYTES,
        )

    async def feed(self, chunk: bytes) -> None:
        """Read on. Raises FieldsInvalid, and AcervoError (MESSAGE_TOO_LARGE)."""
        start = 0
        while start < len(chunk) and not self.in_file:
            part = chunk[start : start + _STEP]
            self._write(part)
            start += len(part)
            self._size += len(part)
            if self._size > MAX_FIELDS_BYTES:
                raise too_large("form, up to its file,", MAX_FIELDS_BYTES)
            await asyncio.sleep(0)
        if start < len(chunk):
            self._write(chunk[start:])

    def _write(self, part: bytes) -> None:
        try:
            self._parser.write(part)
        except FormParserError:
            raise _malformed(
                f"is malformed, or a part of it has more than {MAX_PART_HEADERS} headers"
                f" or one of more than {MAX_HEADER_BYTES} bytes"
            ) from None

    def take(self) -> list[bytes]:
        """The bytes of the file that came since the last time."""
        parts, self._parts = self._parts, []
        return parts

    def _begin(self) -> None:
        if self.in_file:
            raise _malformed("goes on after the file")
        self._begun += 1
        if self._begun > MAX_PARTS:
            raise _malformed(f"has more than {MAX_PARTS} parts")
        self._headers, self._field, self._value = {}, "", bytearray()

    def _on_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[self._header_name.lower()] = self._header_value
        self._header_name = self._header_value = b""

    def _on_headers(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._field = _name(options.get(b"name", b""))
        if b"filename" in options:
            self.in_file = True
            self.filename = _name(options[b"filename"])
            self.media_type = self._headers.get(b"content-type", b"").decode("latin-1")

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self.in_file:
            self._parts.append(data[start:end])
            return
        self._value += data[start:end]

    def _end(self) -> None:
        if not self.in_file:
            self.fields[self._field] = self._value.decode(errors="replace")

    def _finish(self) -> None:
        self.ended = True


def _name(given: bytes) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED[found[0]], given.decode(errors="replace"))


def _malformed(what: str) -> FieldsInvalid:
    return FieldsInvalid([FieldViolation("body", f"the form {what}.")])
