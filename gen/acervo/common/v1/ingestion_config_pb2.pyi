from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Parser(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PARSER_UNSPECIFIED: _ClassVar[Parser]
    PARSER_PYMUPDF: _ClassVar[Parser]

class ChunkingStrategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHUNKING_STRATEGY_UNSPECIFIED: _ClassVar[ChunkingStrategy]
    CHUNKING_STRATEGY_RECURSIVE: _ClassVar[ChunkingStrategy]
PARSER_UNSPECIFIED: Parser
PARSER_PYMUPDF: Parser
CHUNKING_STRATEGY_UNSPECIFIED: ChunkingStrategy
CHUNKING_STRATEGY_RECURSIVE: ChunkingStrategy

class IngestionConfig(_message.Message):
    __slots__ = ("parser", "chunk_size", "chunk_overlap", "chunking_strategy")
    PARSER_FIELD_NUMBER: _ClassVar[int]
    CHUNK_SIZE_FIELD_NUMBER: _ClassVar[int]
    CHUNK_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    CHUNKING_STRATEGY_FIELD_NUMBER: _ClassVar[int]
    parser: Parser
    chunk_size: int
    chunk_overlap: int
    chunking_strategy: ChunkingStrategy
    def __init__(self, parser: _Optional[_Union[Parser, str]] = ..., chunk_size: _Optional[int] = ..., chunk_overlap: _Optional[int] = ..., chunking_strategy: _Optional[_Union[ChunkingStrategy, str]] = ...) -> None: ...
