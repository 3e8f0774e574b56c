import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ChunkFileHeader(_message.Message):
    __slots__ = ("document_id", "attempt", "epoch", "knowledge_base_id", "collection_name", "organization_id", "chunk_count", "filename", "kind", "address", "version", "source", "create_time")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    attempt: int
    epoch: int
    knowledge_base_id: str
    collection_name: str
    organization_id: str
    chunk_count: int
    filename: str
    kind: str
    address: str
    version: int
    source: str
    create_time: _timestamp_pb2.Timestamp
    def __init__(self, document_id: _Optional[str] = ..., attempt: _Optional[int] = ..., epoch: _Optional[int] = ..., knowledge_base_id: _Optional[str] = ..., collection_name: _Optional[str] = ..., organization_id: _Optional[str] = ..., chunk_count: _Optional[int] = ..., filename: _Optional[str] = ..., kind: _Optional[str] = ..., address: _Optional[str] = ..., version: _Optional[int] = ..., source: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Chunk(_message.Message):
    __slots__ = ("ordinal", "text", "page", "start", "end", "page_starts")
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    PAGE_STARTS_FIELD_NUMBER: _ClassVar[int]
    ordinal: int
    text: str
    page: int
    start: int
    end: int
    page_starts: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, ordinal: _Optional[int] = ..., text: _Optional[str] = ..., page: _Optional[int] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., page_starts: _Optional[_Iterable[int]] = ...) -> None: ...

class PageText(_message.Message):
    __slots__ = ("number", "text")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    number: int
    text: str
    def __init__(self, number: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...
