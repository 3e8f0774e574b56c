import datetime

from acervo.common.v1 import ingestion_config_pb2 as _ingestion_config_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Scope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCOPE_UNSPECIFIED: _ClassVar[Scope]
    SCOPE_PERSONAL: _ClassVar[Scope]
    SCOPE_ORG: _ClassVar[Scope]
    SCOPE_APP: _ClassVar[Scope]

class Visibility(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VISIBILITY_UNSPECIFIED: _ClassVar[Visibility]
    VISIBILITY_PRIVATE: _ClassVar[Visibility]
    VISIBILITY_ORG: _ClassVar[Visibility]
    VISIBILITY_TEAM: _ClassVar[Visibility]

class BaseKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BASE_KIND_UNSPECIFIED: _ClassVar[BaseKind]
    BASE_KIND_REGULAR: _ClassVar[BaseKind]
    BASE_KIND_OPERATOR: _ClassVar[BaseKind]
    BASE_KIND_LEGACY_UNKNOWN: _ClassVar[BaseKind]
SCOPE_UNSPECIFIED: Scope
SCOPE_PERSONAL: Scope
SCOPE_ORG: Scope
SCOPE_APP: Scope
VISIBILITY_UNSPECIFIED: Visibility
VISIBILITY_PRIVATE: Visibility
VISIBILITY_ORG: Visibility
VISIBILITY_TEAM: Visibility
BASE_KIND_UNSPECIFIED: BaseKind
BASE_KIND_REGULAR: BaseKind
BASE_KIND_OPERATOR: BaseKind
BASE_KIND_LEGACY_UNKNOWN: BaseKind

class EmbeddingSettings(_message.Message):
    __slots__ = ("model", "width")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    model: str
    width: int
    def __init__(self, model: _Optional[str] = ..., width: _Optional[int] = ...) -> None: ...

class KnowledgeBase(_message.Message):
    __slots__ = ("id", "display_name", "collection_name", "scope", "organization_id", "owner_user_id", "visibility", "embedding", "ingestion_config", "default_base", "create_time", "team_id", "embedding_provider", "embedding_secret_id", "embedding_endpoint_id", "embedding_base_url", "kind")
    ID_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    OWNER_USER_ID_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    INGESTION_CONFIG_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_BASE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    TEAM_ID_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_SECRET_ID_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_BASE_URL_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    id: str
    display_name: str
    collection_name: str
    scope: Scope
    organization_id: str
    owner_user_id: str
    visibility: Visibility
    embedding: EmbeddingSettings
    ingestion_config: _ingestion_config_pb2.IngestionConfig
    default_base: bool
    create_time: _timestamp_pb2.Timestamp
    team_id: str
    embedding_provider: str
    embedding_secret_id: str
    embedding_endpoint_id: str
    embedding_base_url: str
    kind: BaseKind
    def __init__(self, id: _Optional[str] = ..., display_name: _Optional[str] = ..., collection_name: _Optional[str] = ..., scope: _Optional[_Union[Scope, str]] = ..., organization_id: _Optional[str] = ..., owner_user_id: _Optional[str] = ..., visibility: _Optional[_Union[Visibility, str]] = ..., embedding: _Optional[_Union[EmbeddingSettings, _Mapping]] = ..., ingestion_config: _Optional[_Union[_ingestion_config_pb2.IngestionConfig, _Mapping]] = ..., default_base: _Optional[bool] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., team_id: _Optional[str] = ..., embedding_provider: _Optional[str] = ..., embedding_secret_id: _Optional[str] = ..., embedding_endpoint_id: _Optional[str] = ..., embedding_base_url: _Optional[str] = ..., kind: _Optional[_Union[BaseKind, str]] = ...) -> None: ...

class CreateKnowledgeBaseRequest(_message.Message):
    __slots__ = ("request_id", "display_name", "collection_name", "scope", "organization_id", "visibility", "embedding", "ingestion_config", "team_id", "embedding_provider", "embedding_secret_id", "embedding_endpoint_id", "embedding_base_url")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    INGESTION_CONFIG_FIELD_NUMBER: _ClassVar[int]
    TEAM_ID_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_SECRET_ID_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_BASE_URL_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    display_name: str
    collection_name: str
    scope: Scope
    organization_id: str
    visibility: Visibility
    embedding: EmbeddingSettings
    ingestion_config: _ingestion_config_pb2.IngestionConfig
    team_id: str
    embedding_provider: str
    embedding_secret_id: str
    embedding_endpoint_id: str
    embedding_base_url: str
    def __init__(self, request_id: _Optional[str] = ..., display_name: _Optional[str] = ..., collection_name: _Optional[str] = ..., scope: _Optional[_Union[Scope, str]] = ..., organization_id: _Optional[str] = ..., visibility: _Optional[_Union[Visibility, str]] = ..., embedding: _Optional[_Union[EmbeddingSettings, _Mapping]] = ..., ingestion_config: _Optional[_Union[_ingestion_config_pb2.IngestionConfig, _Mapping]] = ..., team_id: _Optional[str] = ..., embedding_provider: _Optional[str] = ..., embedding_secret_id: _Optional[str] = ..., embedding_endpoint_id: _Optional[str] = ..., embedding_base_url: _Optional[str] = ...) -> None: ...

class CreateKnowledgeBaseResponse(_message.Message):
    __slots__ = ("knowledge_base",)
    KNOWLEDGE_BASE_FIELD_NUMBER: _ClassVar[int]
    knowledge_base: KnowledgeBase
    def __init__(self, knowledge_base: _Optional[_Union[KnowledgeBase, _Mapping]] = ...) -> None: ...

class GetKnowledgeBaseRequest(_message.Message):
    __slots__ = ("knowledge_base_id",)
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    knowledge_base_id: str
    def __init__(self, knowledge_base_id: _Optional[str] = ...) -> None: ...

class GetKnowledgeBaseResponse(_message.Message):
    __slots__ = ("knowledge_base",)
    KNOWLEDGE_BASE_FIELD_NUMBER: _ClassVar[int]
    knowledge_base: KnowledgeBase
    def __init__(self, knowledge_base: _Optional[_Union[KnowledgeBase, _Mapping]] = ...) -> None: ...

class ListKnowledgeBasesRequest(_message.Message):
    __slots__ = ("organization_id", "collection_name", "page_size", "page_token")
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    organization_id: str
    collection_name: str
    page_size: int
    page_token: str
    def __init__(self, organization_id: _Optional[str] = ..., collection_name: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListKnowledgeBasesResponse(_message.Message):
    __slots__ = ("knowledge_bases", "next_page_token")
    KNOWLEDGE_BASES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    knowledge_bases: _containers.RepeatedCompositeFieldContainer[KnowledgeBase]
    next_page_token: str
    def __init__(self, knowledge_bases: _Optional[_Iterable[_Union[KnowledgeBase, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateKnowledgeBaseRequest(_message.Message):
    __slots__ = ("request_id", "knowledge_base_id", "update_mask", "display_name", "visibility", "team_id", "ingestion_config", "embedding_provider", "embedding_secret_id", "embedding_endpoint_id", "embedding_base_url")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    TEAM_ID_FIELD_NUMBER: _ClassVar[int]
    INGESTION_CONFIG_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_SECRET_ID_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_BASE_URL_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    knowledge_base_id: str
    update_mask: _field_mask_pb2.FieldMask
    display_name: str
    visibility: Visibility
    team_id: str
    ingestion_config: _ingestion_config_pb2.IngestionConfig
    embedding_provider: str
    embedding_secret_id: str
    embedding_endpoint_id: str
    embedding_base_url: str
    def __init__(self, request_id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., display_name: _Optional[str] = ..., visibility: _Optional[_Union[Visibility, str]] = ..., team_id: _Optional[str] = ..., ingestion_config: _Optional[_Union[_ingestion_config_pb2.IngestionConfig, _Mapping]] = ..., embedding_provider: _Optional[str] = ..., embedding_secret_id: _Optional[str] = ..., embedding_endpoint_id: _Optional[str] = ..., embedding_base_url: _Optional[str] = ...) -> None: ...

class UpdateKnowledgeBaseResponse(_message.Message):
    __slots__ = ("knowledge_base",)
    KNOWLEDGE_BASE_FIELD_NUMBER: _ClassVar[int]
    knowledge_base: KnowledgeBase
    def __init__(self, knowledge_base: _Optional[_Union[KnowledgeBase, _Mapping]] = ...) -> None: ...

class DeleteKnowledgeBaseRequest(_message.Message):
    __slots__ = ("request_id", "knowledge_base_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    knowledge_base_id: str
    def __init__(self, request_id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ...) -> None: ...

class DeleteKnowledgeBaseResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
