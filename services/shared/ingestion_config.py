"""How documents are read and cut: the settings, their bounds, and how an override is merged into them."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from enum import StrEnum

from services.shared.errors import FieldsInvalid, FieldViolation

CHUNK_SIZE = range(100, 8193)
CHUNK_OVERLAP = range(4097)


class Parser(StrEnum):
    """Who reads PDFs."""

    PYMUPDF = "pymupdf"


class ChunkingStrategy(StrEnum):
    """Where texts are cut."""

    RECURSIVE = "recursive"


@dataclass(frozen=True, slots=True)
class Override:
    """What a base or an upload sets; None leaves a setting as it was."""

    parser: Parser | None = None
    chunk_size: int | None = None
    chunk_overlap: int | None = None
    chunking_strategy: ChunkingStrategy | None = None


@dataclass(frozen=True, slots=True)
class IngestionConfig:
    """A complete configuration. `chunk_size` and `chunk_overlap` are in characters."""

    parser: Parser = Parser.PYMUPDF
    chunk_size: int = 2500
    chunk_overlap: int = 200
    chunking_strategy: ChunkingStrategy = ChunkingStrategy.RECURSIVE


DEFAULT = IngestionConfig()


def merge(base: IngestionConfig, override: Override) -> IngestionConfig:
    """Return `base` with what `override` sets.

    Raises:
        FieldsInvalid: if a setting is out of its bounds (`ingestion_config.<setting>`), or if the merged overlap does
            not lie below the merged size (`ingestion_config`, naming both).
    """
    changed = {f.name: v for f in fields(override) if (v := getattr(override, f.name)) is not None}
    merged = replace(base, **changed)
    violations = tuple(_violations(merged))
    if violations:
        raise FieldsInvalid(violations)
    return merged


def _violations(config: IngestionConfig) -> Iterator[FieldViolation]:
    for name, bounds in (("chunk_size", CHUNK_SIZE), ("chunk_overlap", CHUNK_OVERLAP)):
        value = getattr(config, name)
        if value not in bounds:
            message = f"{name} is {bounds.start} to {bounds.stop - 1}; it would be {value}."
            yield FieldViolation(f"ingestion_config.{name}", message)
    if config.chunk_overlap >= config.chunk_size:
        yield FieldViolation(
            "ingestion_config",
            f"chunk_overlap ({config.chunk_overlap}) must be below chunk_size ({config.chunk_size}).",
        )
