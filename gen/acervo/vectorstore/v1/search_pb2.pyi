from acervo.access.v1 import knowledge_bases_pb2 as _knowledge_bases_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SearchMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEARCH_MODE_UNSPECIFIED: _ClassVar[SearchMode]
    SEARCH_MODE_HYBRID: _ClassVar[SearchMode]
    SEARCH_MODE_VECTOR: _ClassVar[SearchMode]
    SEARCH_MODE_LEXICAL: _ClassVar[SearchMode]
SEARCH_MODE_UNSPECIFIED: SearchMode
SEARCH_MODE_HYBRID: SearchMode
SEARCH_MODE_VECTOR: SearchMode
SEARCH_MODE_LEXICAL: SearchMode

class SearchRequest(_message.Message):
    __slots__ = ("query", "knowledge_base_ids", "collection_names", "top_k", "mode")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_IDS_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAMES_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    query: str
    knowledge_base_ids: _containers.RepeatedScalarFieldContainer[str]
    collection_names: _containers.RepeatedScalarFieldContainer[str]
    top_k: int
    mode: SearchMode
    def __init__(self, query: _Optional[str] = ..., knowledge_base_ids: _Optional[_Iterable[str]] = ..., collection_names: _Optional[_Iterable[str]] = ..., top_k: _Optional[int] = ..., mode: _Optional[_Union[SearchMode, str]] = ...) -> None: ...

class Scores(_message.Message):
    __slots__ = ("fused", "vector", "lexical", "lexical_coverage")
    FUSED_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_COVERAGE_FIELD_NUMBER: _ClassVar[int]
    fused: float
    vector: float
    lexical: float
    lexical_coverage: float
    def __init__(self, fused: _Optional[float] = ..., vector: _Optional[float] = ..., lexical: _Optional[float] = ..., lexical_coverage: _Optional[float] = ...) -> None: ...

class Passage(_message.Message):
    __slots__ = ("document_id", "knowledge_base_id", "collection_name", "filename", "page", "ordinal", "start", "end", "text", "scores", "excerpt")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    EXCERPT_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    knowledge_base_id: str
    collection_name: str
    filename: str
    page: int
    ordinal: int
    start: int
    end: int
    text: str
    scores: Scores
    excerpt: str
    def __init__(self, document_id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., collection_name: _Optional[str] = ..., filename: _Optional[str] = ..., page: _Optional[int] = ..., ordinal: _Optional[int] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., text: _Optional[str] = ..., scores: _Optional[_Union[Scores, _Mapping]] = ..., excerpt: _Optional[str] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("passages",)
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    passages: _containers.RepeatedCompositeFieldContainer[Passage]
    def __init__(self, passages: _Optional[_Iterable[_Union[Passage, _Mapping]]] = ...) -> None: ...

class ListEmbeddingModelsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class EmbeddingModel(_message.Message):
    __slots__ = ("settings", "description", "default_model")
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_MODEL_FIELD_NUMBER: _ClassVar[int]
    settings: _knowledge_bases_pb2.EmbeddingSettings
    description: str
    default_model: bool
    def __init__(self, settings: _Optional[_Union[_knowledge_bases_pb2.EmbeddingSettings, _Mapping]] = ..., description: _Optional[str] = ..., default_model: _Optional[bool] = ...) -> None: ...

class ListEmbeddingModelsResponse(_message.Message):
    __slots__ = ("models",)
    MODELS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[EmbeddingModel]
    def __init__(self, models: _Optional[_Iterable[_Union[EmbeddingModel, _Mapping]]] = ...) -> None: ...
