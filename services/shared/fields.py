"""Reading the fields of requests. Whatever is wrong with a request is told at once, field by field.

    with Fields() as fields:
        source_id = fields.uuid("source_id", request.source_id)
        page = fields.page(request)

The functions `read_...` are for a field that stands alone.
"""

from collections.abc import Mapping, Sequence
from typing import Self, TypeVar
from uuid import UUID

from services.shared.errors import FieldsInvalid, FieldViolation
from services.shared.paging import MAX_SIZE, ListRequest, PageRequest, TokenInvalid

SHA256_BYTES = 32
MAX_SOURCE_PATH = 4096

Code = TypeVar("Code")
Value = TypeVar("Value")

_STAND_IN = UUID(int=0)


class Fields:
    """Reads fields and collects what is wrong with them; the end of its block raises FieldsInvalid.

    A field that cannot be read gets a stand-in of its type, which nobody sees.
    """

    def __init__(self) -> None:
        self._violations: list[FieldViolation] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._violations:
            raise FieldsInvalid(self._violations)

    def refuse(self, path: str, message: str) -> None:
        """Note what is wrong with a field."""
        self._violations.append(FieldViolation(path, message))

    def refuse_all(self, violations: Sequence[FieldViolation]) -> None:
        """Note what others have found wrong."""
        self._violations += violations

    def uuid(self, path: str, text: str) -> UUID:
        """A UUID, written with hyphens."""
        try:
            value = UUID(text)
        except ValueError:
            value = _STAND_IN
        if str(value) != text.lower():
            self.refuse(path, "This must be a UUID.")
        return value

    def optional_uuid(self, path: str, text: str) -> UUID | None:
        """A UUID, or nothing."""
        return self.uuid(path, text) if text else None

    def choice(self, path: str, code: Code, known: Mapping[Code, Value], stand_in: Value) -> Value:
        """What the code of an enum stands for."""
        if code not in known:
            self.refuse(path, "This must be one of the values of its enum.")
        return known.get(code, stand_in)

    def within(self, path: str, value: int, least: int, most: int) -> int:
        """A number between two others, both allowed."""
        if not least <= value <= most:
            self.refuse(path, f"This must be {least} to {most}.")
        return value

    def count(self, path: str, values: Sequence[object], most: int) -> None:
        """A list that is neither empty nor too long."""
        if not 1 <= len(values) <= most:
            self.refuse(path, f"There must be 1 to {most}.")

    def sha256(self, path: str, digest: bytes) -> None:
        """A sha256, in binary."""
        if len(digest) != SHA256_BYTES:
            self.refuse(path, f"This must be {SHA256_BYTES} bytes.")

    def source_path(self, text: str) -> None:
        """Where a file lay at its source, if it is known."""
        if len(text) > MAX_SOURCE_PATH or "\0" in text:
            self.refuse("source_path", f"This must be at most {MAX_SOURCE_PATH} characters, without NULs.")

    def page(self, request: ListRequest) -> PageRequest:
        """The part of a listing that is asked for."""
        if not 0 <= request.page_size <= MAX_SIZE:
            self.refuse("page_size", f"This must be 1 to {MAX_SIZE}.")
        try:
            return PageRequest.of(request)
        except TokenInvalid:
            self.refuse("page_token", "This must be the next_page_token of a page of the same listing.")
            return PageRequest(MAX_SIZE)


def read_uuid(path: str, text: str) -> UUID:
    """Read an id that stands alone. Raises FieldsInvalid."""
    with Fields() as fields:
        return fields.uuid(path, text)


def read_optional_uuid(path: str, text: str) -> UUID | None:
    """Read an id that may be left out. Raises FieldsInvalid."""
    return read_uuid(path, text) if text else None


def read_page(request: ListRequest) -> PageRequest:
    """Read which page is asked for. Raises FieldsInvalid."""
    with Fields() as fields:
        return fields.page(request)
