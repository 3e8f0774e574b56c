"""The ingestion configuration on the wire (`acervo.common.v1.IngestionConfig`) and in rows (JSON)."""

from collections.abc import Mapping

from acervo.common.v1 import ingestion_config_pb2 as pb
from services.shared.errors import FieldsInvalid, FieldViolation
from services.shared.ingestion_config import ChunkingStrategy, IngestionConfig, Override, Parser

_PARSERS = {pb.PARSER_PYMUPDF: Parser.PYMUPDF}
_STRATEGIES = {pb.CHUNKING_STRATEGY_RECURSIVE: ChunkingStrategy.RECURSIVE}
_PARSER_CODES = {parser: code for code, parser in _PARSERS.items()}
_STRATEGY_CODES = {strategy: code for code, strategy in _STRATEGIES.items()}


def override_from_proto(message: pb.IngestionConfig) -> Override:
    """Read what a message sets; unset and unspecified fields leave settings as they were.

    Raises:
        FieldsInvalid: if it names what this version does not know.
    """
    unknown = [
        FieldViolation(f"ingestion_config.{name}", f"{name} {value} is not known here.")
        for name, value, known in (
            ("parser", message.parser, _PARSERS),
            ("chunking_strategy", message.chunking_strategy, _STRATEGIES),
        )
        if value and value not in known
    ]
    if unknown:
        raise FieldsInvalid(tuple(unknown))
    return Override(
        parser=_PARSERS.get(message.parser),
        chunk_size=message.chunk_size if message.HasField("chunk_size") else None,
        chunk_overlap=message.chunk_overlap if message.HasField("chunk_overlap") else None,
        chunking_strategy=_STRATEGIES.get(message.chunking_strategy),
    )


def config_from_proto(message: pb.IngestionConfig) -> IngestionConfig:
    """Read a complete configuration, as one service hands it to another."""
    return IngestionConfig(
        _PARSERS[message.parser],
        message.chunk_size,
        message.chunk_overlap,
        _STRATEGIES[message.chunking_strategy],
    )


def config_to_proto(config: IngestionConfig) -> pb.IngestionConfig:
    """Write a complete configuration."""
    return pb.IngestionConfig(
        parser=_PARSER_CODES[config.parser],
        chunk_size=config.chunk_size,
        chunk_overlap=config.chunk_overlap,
        chunking_strategy=_STRATEGY_CODES[config.chunking_strategy],
    )


def config_to_json(config: IngestionConfig) -> dict[str, str | int]:
    """Write a configuration as a row holds it."""
    return {
        "parser": config.parser.value,
        "chunk_size": config.chunk_size,
        "chunk_overlap": config.chunk_overlap,
        "chunking_strategy": config.chunking_strategy.value,
    }


def config_from_json(document: Mapping[str, object]) -> IngestionConfig:
    """Read a configuration out of a row."""
    return IngestionConfig(
        Parser(str(document["parser"])),
        int(str(document["chunk_size"])),
        int(str(document["chunk_overlap"])),
        ChunkingStrategy(str(document["chunking_strategy"])),
    )
