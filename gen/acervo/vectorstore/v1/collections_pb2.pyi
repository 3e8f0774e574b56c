from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetCollectionStatsRequest(_message.Message):
    __slots__ = ("knowledge_base_ids",)
    KNOWLEDGE_BASE_IDS_FIELD_NUMBER: _ClassVar[int]
    knowledge_base_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, knowledge_base_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class CollectionStats(_message.Message):
    __slots__ = ("knowledge_base_id", "document_count", "chunk_count")
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    knowledge_base_id: str
    document_count: int
    chunk_count: int
    def __init__(self, knowledge_base_id: _Optional[str] = ..., document_count: _Optional[int] = ..., chunk_count: _Optional[int] = ...) -> None: ...

class GetCollectionStatsResponse(_message.Message):
    __slots__ = ("stats",)
    STATS_FIELD_NUMBER: _ClassVar[int]
    stats: _containers.RepeatedCompositeFieldContainer[CollectionStats]
    def __init__(self, stats: _Optional[_Iterable[_Union[CollectionStats, _Mapping]]] = ...) -> None: ...
