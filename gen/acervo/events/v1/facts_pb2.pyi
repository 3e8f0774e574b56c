from acervo.common.v1 import error_reason_pb2 as _error_reason_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SourceChange(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SOURCE_CHANGE_UNSPECIFIED: _ClassVar[SourceChange]
    SOURCE_CHANGE_CREATED: _ClassVar[SourceChange]
    SOURCE_CHANGE_UPDATED: _ClassVar[SourceChange]
    SOURCE_CHANGE_DELETED: _ClassVar[SourceChange]
SOURCE_CHANGE_UNSPECIFIED: SourceChange
SOURCE_CHANGE_CREATED: SourceChange
SOURCE_CHANGE_UPDATED: SourceChange
SOURCE_CHANGE_DELETED: SourceChange

class DocumentIndexed(_message.Message):
    __slots__ = ("document_id", "attempt", "chunk_count", "retired_document_ids", "superseded")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    RETIRED_DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    attempt: int
    chunk_count: int
    retired_document_ids: _containers.RepeatedScalarFieldContainer[str]
    superseded: bool
    def __init__(self, document_id: _Optional[str] = ..., attempt: _Optional[int] = ..., chunk_count: _Optional[int] = ..., retired_document_ids: _Optional[_Iterable[str]] = ..., superseded: _Optional[bool] = ...) -> None: ...

class DocumentFailed(_message.Message):
    __slots__ = ("document_id", "attempt", "reason")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    attempt: int
    reason: _error_reason_pb2.ErrorReason
    def __init__(self, document_id: _Optional[str] = ..., attempt: _Optional[int] = ..., reason: _Optional[_Union[_error_reason_pb2.ErrorReason, str]] = ...) -> None: ...

class DocumentFinished(_message.Message):
    __slots__ = ("document_id", "attempt", "file_id", "done", "reason")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    FILE_ID_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    attempt: int
    file_id: str
    done: bool
    reason: _error_reason_pb2.ErrorReason
    def __init__(self, document_id: _Optional[str] = ..., attempt: _Optional[int] = ..., file_id: _Optional[str] = ..., done: _Optional[bool] = ..., reason: _Optional[_Union[_error_reason_pb2.ErrorReason, str]] = ...) -> None: ...

class DocumentDeleted(_message.Message):
    __slots__ = ("document_id", "knowledge_base_id", "file_id")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    FILE_ID_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    knowledge_base_id: str
    file_id: str
    def __init__(self, document_id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., file_id: _Optional[str] = ...) -> None: ...

class BaseDeleted(_message.Message):
    __slots__ = ("knowledge_base_id", "teardown_id", "collection_name", "last_holder", "owner_gone")
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    TEARDOWN_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    LAST_HOLDER_FIELD_NUMBER: _ClassVar[int]
    OWNER_GONE_FIELD_NUMBER: _ClassVar[int]
    knowledge_base_id: str
    teardown_id: str
    collection_name: str
    last_holder: bool
    owner_gone: bool
    def __init__(self, knowledge_base_id: _Optional[str] = ..., teardown_id: _Optional[str] = ..., collection_name: _Optional[str] = ..., last_holder: _Optional[bool] = ..., owner_gone: _Optional[bool] = ...) -> None: ...

class BaseEmptied(_message.Message):
    __slots__ = ("knowledge_base_id", "teardown_id", "emptied_before")
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    TEARDOWN_ID_FIELD_NUMBER: _ClassVar[int]
    EMPTIED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    knowledge_base_id: str
    teardown_id: str
    emptied_before: str
    def __init__(self, knowledge_base_id: _Optional[str] = ..., teardown_id: _Optional[str] = ..., emptied_before: _Optional[str] = ...) -> None: ...

class SourceChanged(_message.Message):
    __slots__ = ("change_id", "change", "actor_user_id", "source_id", "connector", "knowledge_base_id", "previous_knowledge_base_id", "secret_id", "cloned_source_id")
    CHANGE_ID_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    ACTOR_USER_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    CONNECTOR_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    SECRET_ID_FIELD_NUMBER: _ClassVar[int]
    CLONED_SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    change_id: str
    change: SourceChange
    actor_user_id: str
    source_id: str
    connector: str
    knowledge_base_id: str
    previous_knowledge_base_id: str
    secret_id: str
    cloned_source_id: str
    def __init__(self, change_id: _Optional[str] = ..., change: _Optional[_Union[SourceChange, str]] = ..., actor_user_id: _Optional[str] = ..., source_id: _Optional[str] = ..., connector: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., previous_knowledge_base_id: _Optional[str] = ..., secret_id: _Optional[str] = ..., cloned_source_id: _Optional[str] = ...) -> None: ...

class TeardownAnswered(_message.Message):
    __slots__ = ("teardown_id", "service")
    TEARDOWN_ID_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    teardown_id: str
    service: str
    def __init__(self, teardown_id: _Optional[str] = ..., service: _Optional[str] = ...) -> None: ...

class OrganizationDeleted(_message.Message):
    __slots__ = ("organization_id",)
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    organization_id: str
    def __init__(self, organization_id: _Optional[str] = ...) -> None: ...

class MemberRemoved(_message.Message):
    __slots__ = ("organization_id", "user_id")
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    organization_id: str
    user_id: str
    def __init__(self, organization_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class AccountDeleted(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class SecretDeleted(_message.Message):
    __slots__ = ("secret_id",)
    SECRET_ID_FIELD_NUMBER: _ClassVar[int]
    secret_id: str
    def __init__(self, secret_id: _Optional[str] = ...) -> None: ...

class FileDeleted(_message.Message):
    __slots__ = ("file_id",)
    FILE_ID_FIELD_NUMBER: _ClassVar[int]
    file_id: str
    def __init__(self, file_id: _Optional[str] = ...) -> None: ...

class FactHandled(_message.Message):
    __slots__ = ("fact_id", "service")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    service: str
    def __init__(self, fact_id: _Optional[str] = ..., service: _Optional[str] = ...) -> None: ...
