from acervo.access.v1 import knowledge_bases_pb2 as _knowledge_bases_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OpenOperatorBaseRequest(_message.Message):
    __slots__ = ("request_id", "collection_name", "embedding")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    collection_name: str
    embedding: _knowledge_bases_pb2.EmbeddingSettings
    def __init__(self, request_id: _Optional[str] = ..., collection_name: _Optional[str] = ..., embedding: _Optional[_Union[_knowledge_bases_pb2.EmbeddingSettings, _Mapping]] = ...) -> None: ...

class OpenOperatorBaseResponse(_message.Message):
    __slots__ = ("knowledge_base",)
    KNOWLEDGE_BASE_FIELD_NUMBER: _ClassVar[int]
    knowledge_base: _knowledge_bases_pb2.KnowledgeBase
    def __init__(self, knowledge_base: _Optional[_Union[_knowledge_bases_pb2.KnowledgeBase, _Mapping]] = ...) -> None: ...

class InspectProvenanceRequest(_message.Message):
    __slots__ = ("collection_name",)
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    collection_name: str
    def __init__(self, collection_name: _Optional[str] = ...) -> None: ...

class ProvenanceCount(_message.Message):
    __slots__ = ("kind", "base_count", "knowledge_base_ids")
    KIND_FIELD_NUMBER: _ClassVar[int]
    BASE_COUNT_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_IDS_FIELD_NUMBER: _ClassVar[int]
    kind: _knowledge_bases_pb2.BaseKind
    base_count: int
    knowledge_base_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, kind: _Optional[_Union[_knowledge_bases_pb2.BaseKind, str]] = ..., base_count: _Optional[int] = ..., knowledge_base_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class InspectProvenanceResponse(_message.Message):
    __slots__ = ("counts", "teardown_count")
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    TEARDOWN_COUNT_FIELD_NUMBER: _ClassVar[int]
    counts: _containers.RepeatedCompositeFieldContainer[ProvenanceCount]
    teardown_count: int
    def __init__(self, counts: _Optional[_Iterable[_Union[ProvenanceCount, _Mapping]]] = ..., teardown_count: _Optional[int] = ...) -> None: ...

class ConfirmProvenanceRequest(_message.Message):
    __slots__ = ("request_id", "collection_name")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    collection_name: str
    def __init__(self, request_id: _Optional[str] = ..., collection_name: _Optional[str] = ...) -> None: ...

class ConfirmProvenanceResponse(_message.Message):
    __slots__ = ("confirmed_count",)
    CONFIRMED_COUNT_FIELD_NUMBER: _ClassVar[int]
    confirmed_count: int
    def __init__(self, confirmed_count: _Optional[int] = ...) -> None: ...

class DropCollectionRequest(_message.Message):
    __slots__ = ("request_id", "collection_name", "knowledge_base_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    collection_name: str
    knowledge_base_id: str
    def __init__(self, request_id: _Optional[str] = ..., collection_name: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ...) -> None: ...

class DropCollectionResponse(_message.Message):
    __slots__ = ("emptied_knowledge_base_id", "deleted_knowledge_base_ids")
    EMPTIED_KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    DELETED_KNOWLEDGE_BASE_IDS_FIELD_NUMBER: _ClassVar[int]
    emptied_knowledge_base_id: str
    deleted_knowledge_base_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, emptied_knowledge_base_id: _Optional[str] = ..., deleted_knowledge_base_ids: _Optional[_Iterable[str]] = ...) -> None: ...
