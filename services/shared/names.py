"""What a collection may be called, and the identifiers that PostgreSQL sees for it.

Every identifier is built here and nowhere else, so that a name which passes `check_collection_name` can stand unquoted
in DDL and none of its identifiers is cut off at PostgreSQL's 63 bytes.
"""

import re
from collections.abc import Collection
from pathlib import Path

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.errors import AcervoError, FieldViolation

MAX_LENGTH = 45
MAX_IDENTIFIER_BYTES = 63
RESERVED = frozenset({"all"})
_PREFIX = "rag_"
_IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]*")
_SUFFIX_LENGTH = 6


def _own_tables() -> frozenset[str]:
    """Read out of the migrations which tables have the prefix that collections' tables have."""
    created = re.compile(
        rf"^\s*CREATE TABLE (?:IF NOT EXISTS )?(?:\w+\.)?{_PREFIX}(\w+)", re.IGNORECASE | re.MULTILINE
    )
    migrations = Path(__file__).resolve().parents[1].glob("*/migrations/*.sql")
    return frozenset(name for path in migrations for name in created.findall(path.read_text("utf-8")))


OWN_TABLES = _own_tables()
"""Names of the services' own tables with the prefix that collections' tables have, without that prefix."""


class NameInvalid(AcervoError):
    """A collection's name breaks a rule."""

    def __init__(self, rule: str) -> None:
        super().__init__(
            pb.ERROR_REASON_NAME_INVALID, rule, fields=(FieldViolation("collection_name", rule),)
        )


def check_collection_name(name: str, own_tables: Collection[str] = OWN_TABLES) -> None:
    """Refuse a name that cannot name a collection.

    Raises:
        NameInvalid: with the rule that is broken.
    """
    rule = broken_rule(name, own_tables)
    if rule is not None:
        raise NameInvalid(rule)


def broken_rule(name: str, own_tables: Collection[str] = OWN_TABLES) -> str | None:
    """Return the first rule that `name` breaks, as a sentence for the one who chose it, or None."""
    if name != name.lower():
        return "A collection's name has no capitals, since PostgreSQL folds them: two spellings would be one table."
    if not _IDENTIFIER.fullmatch(name):
        return "A collection's name is made of a-z, 0-9 and _, and does not start with a digit."
    if len(name) > MAX_LENGTH:
        return f"A collection's name has at most {MAX_LENGTH} characters; this one has {len(name)}."
    if name in RESERVED:
        return f"The name {name} is reserved."
    if name in own_tables:
        return f"The name {name} belongs to one of Acervo's own tables."
    return None


def derive_collection_name(display_name: str, suffix: str) -> str:
    """Make a valid name out of a display name and six random hexadecimal characters."""
    if not re.fullmatch(r"[0-9a-f]{6}", suffix):
        raise ValueError("the suffix is six hexadecimal characters")
    stem = re.sub(r"[^a-z0-9]+", "_", display_name.lower()).strip("_")[: MAX_LENGTH - _SUFFIX_LENGTH - 1]
    if not stem or stem[0].isdigit():
        stem = f"base_{stem}"[: MAX_LENGTH - _SUFFIX_LENGTH - 1]
    return f"{stem.strip('_')}_{suffix}"


def table_name(name: str, generation: int) -> str:
    """Return the physical table of a collection's generation, without its schema."""
    check_collection_name(name)
    if not 1 <= generation <= 999_999:
        raise ValueError("a generation is 1 to 999999")
    return f"{_PREFIX}{name}_g{generation}"


def index_name(name: str, generation: int, purpose: str) -> str:
    """Return an index's name. `purpose` is at most four characters, so that the whole fits 63 bytes."""
    if not re.fullmatch(r"[a-z]{1,4}", purpose):
        raise ValueError("a purpose is one to four letters")
    return f"{table_name(name, generation)}_{purpose}"
