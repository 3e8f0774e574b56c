from acervo.common.v1 import ingestion_config_pb2 as _ingestion_config_pb2
from acervo.common.v1 import lane_pb2 as _lane_pb2
from acervo.ingest.v1 import documents_pb2 as _documents_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class UploadDocumentHeader(_message.Message):
    __slots__ = ("request_id", "knowledge_base_id", "collection_name", "filename", "media_type", "size", "sha256", "ingestion_config", "replace", "lane", "source", "source_path", "actor_user_id", "discard_original")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    INGESTION_CONFIG_FIELD_NUMBER: _ClassVar[int]
    REPLACE_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_PATH_FIELD_NUMBER: _ClassVar[int]
    ACTOR_USER_ID_FIELD_NUMBER: _ClassVar[int]
    DISCARD_ORIGINAL_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    knowledge_base_id: str
    collection_name: str
    filename: str
    media_type: str
    size: int
    sha256: bytes
    ingestion_config: _ingestion_config_pb2.IngestionConfig
    replace: bool
    lane: _lane_pb2.Lane
    source: _documents_pb2.DocumentSource
    source_path: str
    actor_user_id: str
    discard_original: bool
    def __init__(self, request_id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., collection_name: _Optional[str] = ..., filename: _Optional[str] = ..., media_type: _Optional[str] = ..., size: _Optional[int] = ..., sha256: _Optional[bytes] = ..., ingestion_config: _Optional[_Union[_ingestion_config_pb2.IngestionConfig, _Mapping]] = ..., replace: _Optional[bool] = ..., lane: _Optional[_Union[_lane_pb2.Lane, str]] = ..., source: _Optional[_Union[_documents_pb2.DocumentSource, str]] = ..., source_path: _Optional[str] = ..., actor_user_id: _Optional[str] = ..., discard_original: _Optional[bool] = ...) -> None: ...

class UploadDocumentRequest(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: UploadDocumentHeader
    data: bytes
    def __init__(self, header: _Optional[_Union[UploadDocumentHeader, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class UploadDocumentResponse(_message.Message):
    __slots__ = ("document", "already_present")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    ALREADY_PRESENT_FIELD_NUMBER: _ClassVar[int]
    document: _documents_pb2.Document
    already_present: bool
    def __init__(self, document: _Optional[_Union[_documents_pb2.Document, _Mapping]] = ..., already_present: _Optional[bool] = ...) -> None: ...
