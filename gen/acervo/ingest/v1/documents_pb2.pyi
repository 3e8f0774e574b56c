import datetime

from acervo.common.v1 import error_reason_pb2 as _error_reason_pb2
from acervo.common.v1 import ingestion_config_pb2 as _ingestion_config_pb2
from acervo.common.v1 import lane_pb2 as _lane_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DocumentState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DOCUMENT_STATE_UNSPECIFIED: _ClassVar[DocumentState]
    DOCUMENT_STATE_PROCESSING: _ClassVar[DocumentState]
    DOCUMENT_STATE_DONE: _ClassVar[DocumentState]
    DOCUMENT_STATE_ERROR: _ClassVar[DocumentState]

class DocumentStage(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DOCUMENT_STAGE_UNSPECIFIED: _ClassVar[DocumentStage]
    DOCUMENT_STAGE_QUEUED: _ClassVar[DocumentStage]
    DOCUMENT_STAGE_PARSING: _ClassVar[DocumentStage]
    DOCUMENT_STAGE_EMBEDDING: _ClassVar[DocumentStage]

class DocumentSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DOCUMENT_SOURCE_UNSPECIFIED: _ClassVar[DocumentSource]
    DOCUMENT_SOURCE_UPLOAD: _ClassVar[DocumentSource]
    DOCUMENT_SOURCE_CLI: _ClassVar[DocumentSource]
    DOCUMENT_SOURCE_LOCAL: _ClassVar[DocumentSource]
DOCUMENT_STATE_UNSPECIFIED: DocumentState
DOCUMENT_STATE_PROCESSING: DocumentState
DOCUMENT_STATE_DONE: DocumentState
DOCUMENT_STATE_ERROR: DocumentState
DOCUMENT_STAGE_UNSPECIFIED: DocumentStage
DOCUMENT_STAGE_QUEUED: DocumentStage
DOCUMENT_STAGE_PARSING: DocumentStage
DOCUMENT_STAGE_EMBEDDING: DocumentStage
DOCUMENT_SOURCE_UNSPECIFIED: DocumentSource
DOCUMENT_SOURCE_UPLOAD: DocumentSource
DOCUMENT_SOURCE_CLI: DocumentSource
DOCUMENT_SOURCE_LOCAL: DocumentSource

class Failure(_message.Message):
    __slots__ = ("reason", "message", "advice")
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    reason: _error_reason_pb2.ErrorReason
    message: str
    advice: str
    def __init__(self, reason: _Optional[_Union[_error_reason_pb2.ErrorReason, str]] = ..., message: _Optional[str] = ..., advice: _Optional[str] = ...) -> None: ...

class Warning(_message.Message):
    __slots__ = ("code", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class Document(_message.Message):
    __slots__ = ("id", "knowledge_base_id", "collection_name", "filename", "kind", "size", "sha256", "state", "stage", "failure", "chunk_count", "page_count", "source", "source_path", "has_original", "attempt", "create_time", "complete_time", "warnings", "ingestion_config")
    ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    PAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_PATH_FIELD_NUMBER: _ClassVar[int]
    HAS_ORIGINAL_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_TIME_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    INGESTION_CONFIG_FIELD_NUMBER: _ClassVar[int]
    id: str
    knowledge_base_id: str
    collection_name: str
    filename: str
    kind: str
    size: int
    sha256: bytes
    state: DocumentState
    stage: DocumentStage
    failure: Failure
    chunk_count: int
    page_count: int
    source: DocumentSource
    source_path: str
    has_original: bool
    attempt: int
    create_time: _timestamp_pb2.Timestamp
    complete_time: _timestamp_pb2.Timestamp
    warnings: _containers.RepeatedCompositeFieldContainer[Warning]
    ingestion_config: _ingestion_config_pb2.IngestionConfig
    def __init__(self, id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., collection_name: _Optional[str] = ..., filename: _Optional[str] = ..., kind: _Optional[str] = ..., size: _Optional[int] = ..., sha256: _Optional[bytes] = ..., state: _Optional[_Union[DocumentState, str]] = ..., stage: _Optional[_Union[DocumentStage, str]] = ..., failure: _Optional[_Union[Failure, _Mapping]] = ..., chunk_count: _Optional[int] = ..., page_count: _Optional[int] = ..., source: _Optional[_Union[DocumentSource, str]] = ..., source_path: _Optional[str] = ..., has_original: _Optional[bool] = ..., attempt: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., complete_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., warnings: _Optional[_Iterable[_Union[Warning, _Mapping]]] = ..., ingestion_config: _Optional[_Union[_ingestion_config_pb2.IngestionConfig, _Mapping]] = ...) -> None: ...

class CheckUploadRequest(_message.Message):
    __slots__ = ("knowledge_base_id", "collection_name", "filename", "media_type", "size", "ingestion_config")
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    INGESTION_CONFIG_FIELD_NUMBER: _ClassVar[int]
    knowledge_base_id: str
    collection_name: str
    filename: str
    media_type: str
    size: int
    ingestion_config: _ingestion_config_pb2.IngestionConfig
    def __init__(self, knowledge_base_id: _Optional[str] = ..., collection_name: _Optional[str] = ..., filename: _Optional[str] = ..., media_type: _Optional[str] = ..., size: _Optional[int] = ..., ingestion_config: _Optional[_Union[_ingestion_config_pb2.IngestionConfig, _Mapping]] = ...) -> None: ...

class CheckUploadResponse(_message.Message):
    __slots__ = ("knowledge_base_id", "collection_name", "organization_id", "ingestion_config", "kind", "max_size")
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    INGESTION_CONFIG_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MAX_SIZE_FIELD_NUMBER: _ClassVar[int]
    knowledge_base_id: str
    collection_name: str
    organization_id: str
    ingestion_config: _ingestion_config_pb2.IngestionConfig
    kind: str
    max_size: int
    def __init__(self, knowledge_base_id: _Optional[str] = ..., collection_name: _Optional[str] = ..., organization_id: _Optional[str] = ..., ingestion_config: _Optional[_Union[_ingestion_config_pb2.IngestionConfig, _Mapping]] = ..., kind: _Optional[str] = ..., max_size: _Optional[int] = ...) -> None: ...

class CreateDocumentRequest(_message.Message):
    __slots__ = ("file_id", "knowledge_base_id", "collection_name", "organization_id", "actor_user_id", "filename", "kind", "size", "sha256", "blob_key", "ingestion_config", "replace", "lane", "source", "source_path", "discard_original")
    FILE_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_USER_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    BLOB_KEY_FIELD_NUMBER: _ClassVar[int]
    INGESTION_CONFIG_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_PATH_FIELD_NUMBER: _ClassVar[int]
    DISCARD_ORIGINAL_FIELD_NUMBER: _ClassVar[int]
    file_id: str
    knowledge_base_id: str
    collection_name: str
    organization_id: str
    actor_user_id: str
    filename: str
    kind: str
    size: int
    sha256: bytes
    blob_key: str
    ingestion_config: _ingestion_config_pb2.IngestionConfig
    replace: bool
    lane: _lane_pb2.Lane
    source: DocumentSource
    source_path: str
    discard_original: bool
    def __init__(self, file_id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., collection_name: _Optional[str] = ..., organization_id: _Optional[str] = ..., actor_user_id: _Optional[str] = ..., filename: _Optional[str] = ..., kind: _Optional[str] = ..., size: _Optional[int] = ..., sha256: _Optional[bytes] = ..., blob_key: _Optional[str] = ..., ingestion_config: _Optional[_Union[_ingestion_config_pb2.IngestionConfig, _Mapping]] = ..., replace: _Optional[bool] = ..., lane: _Optional[_Union[_lane_pb2.Lane, str]] = ..., source: _Optional[_Union[DocumentSource, str]] = ..., source_path: _Optional[str] = ..., discard_original: _Optional[bool] = ...) -> None: ...

class CreateDocumentResponse(_message.Message):
    __slots__ = ("document", "already_present")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    ALREADY_PRESENT_FIELD_NUMBER: _ClassVar[int]
    document: Document
    already_present: bool
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., already_present: _Optional[bool] = ...) -> None: ...

class GetDocumentRequest(_message.Message):
    __slots__ = ("document_id",)
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    def __init__(self, document_id: _Optional[str] = ...) -> None: ...

class GetDocumentResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: Document
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ...) -> None: ...

class ListDocumentsRequest(_message.Message):
    __slots__ = ("knowledge_base_id", "collection_name", "states", "page_size", "page_token")
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    knowledge_base_id: str
    collection_name: str
    states: _containers.RepeatedScalarFieldContainer[DocumentState]
    page_size: int
    page_token: str
    def __init__(self, knowledge_base_id: _Optional[str] = ..., collection_name: _Optional[str] = ..., states: _Optional[_Iterable[_Union[DocumentState, str]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDocumentsResponse(_message.Message):
    __slots__ = ("documents", "next_page_token", "counts")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    next_page_token: str
    counts: DocumentCounts
    def __init__(self, documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., counts: _Optional[_Union[DocumentCounts, _Mapping]] = ...) -> None: ...

class DocumentCounts(_message.Message):
    __slots__ = ("processing", "done", "error")
    PROCESSING_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    processing: int
    done: int
    error: int
    def __init__(self, processing: _Optional[int] = ..., done: _Optional[int] = ..., error: _Optional[int] = ...) -> None: ...

class WatchDocumentsRequest(_message.Message):
    __slots__ = ("document_ids",)
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, document_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class WatchDocumentsResponse(_message.Message):
    __slots__ = ("document", "deleted")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    document: Document
    deleted: bool
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., deleted: _Optional[bool] = ...) -> None: ...

class DeleteDocumentRequest(_message.Message):
    __slots__ = ("request_id", "document_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    document_id: str
    def __init__(self, request_id: _Optional[str] = ..., document_id: _Optional[str] = ...) -> None: ...

class DeleteDocumentResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RetryDocumentRequest(_message.Message):
    __slots__ = ("request_id", "document_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    document_id: str
    def __init__(self, request_id: _Optional[str] = ..., document_id: _Optional[str] = ...) -> None: ...

class RetryDocumentResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: Document
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ...) -> None: ...
