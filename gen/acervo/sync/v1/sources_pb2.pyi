import datetime

from acervo.common.v1 import error_reason_pb2 as _error_reason_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SyncMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SYNC_MODE_UNSPECIFIED: _ClassVar[SyncMode]
    SYNC_MODE_NEW_ONLY: _ClassVar[SyncMode]
    SYNC_MODE_UPDATE_ONLY: _ClassVar[SyncMode]
    SYNC_MODE_FULL: _ClassVar[SyncMode]

class RunState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_STATE_UNSPECIFIED: _ClassVar[RunState]
    RUN_STATE_RUNNING: _ClassVar[RunState]
    RUN_STATE_DONE: _ClassVar[RunState]
    RUN_STATE_ERROR: _ClassVar[RunState]
SYNC_MODE_UNSPECIFIED: SyncMode
SYNC_MODE_NEW_ONLY: SyncMode
SYNC_MODE_UPDATE_ONLY: SyncMode
SYNC_MODE_FULL: SyncMode
RUN_STATE_UNSPECIFIED: RunState
RUN_STATE_RUNNING: RunState
RUN_STATE_DONE: RunState
RUN_STATE_ERROR: RunState

class LocalDirectory(_message.Message):
    __slots__ = ("path", "recursive")
    PATH_FIELD_NUMBER: _ClassVar[int]
    RECURSIVE_FIELD_NUMBER: _ClassVar[int]
    path: str
    recursive: bool
    def __init__(self, path: _Optional[str] = ..., recursive: _Optional[bool] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("id", "knowledge_base_id", "display_name", "local_directory", "mode", "create_time", "owner_user_id", "detached")
    ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    LOCAL_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    OWNER_USER_ID_FIELD_NUMBER: _ClassVar[int]
    DETACHED_FIELD_NUMBER: _ClassVar[int]
    id: str
    knowledge_base_id: str
    display_name: str
    local_directory: LocalDirectory
    mode: SyncMode
    create_time: _timestamp_pb2.Timestamp
    owner_user_id: str
    detached: bool
    def __init__(self, id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., display_name: _Optional[str] = ..., local_directory: _Optional[_Union[LocalDirectory, _Mapping]] = ..., mode: _Optional[_Union[SyncMode, str]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., owner_user_id: _Optional[str] = ..., detached: _Optional[bool] = ...) -> None: ...

class RunCounts(_message.Message):
    __slots__ = ("listed", "ingested", "updated", "skipped", "failed", "removed")
    LISTED_FIELD_NUMBER: _ClassVar[int]
    INGESTED_FIELD_NUMBER: _ClassVar[int]
    UPDATED_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    listed: int
    ingested: int
    updated: int
    skipped: int
    failed: int
    removed: int
    def __init__(self, listed: _Optional[int] = ..., ingested: _Optional[int] = ..., updated: _Optional[int] = ..., skipped: _Optional[int] = ..., failed: _Optional[int] = ..., removed: _Optional[int] = ...) -> None: ...

class FailedFile(_message.Message):
    __slots__ = ("source_path", "reason", "message")
    SOURCE_PATH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    source_path: str
    reason: _error_reason_pb2.ErrorReason
    message: str
    def __init__(self, source_path: _Optional[str] = ..., reason: _Optional[_Union[_error_reason_pb2.ErrorReason, str]] = ..., message: _Optional[str] = ...) -> None: ...

class Run(_message.Message):
    __slots__ = ("id", "source_id", "mode", "state", "counts", "failure_reason", "failure_message", "create_time", "complete_time", "failed_files", "kinds_not_taken")
    class KindsNotTakenEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_REASON_FIELD_NUMBER: _ClassVar[int]
    FAILURE_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_TIME_FIELD_NUMBER: _ClassVar[int]
    FAILED_FILES_FIELD_NUMBER: _ClassVar[int]
    KINDS_NOT_TAKEN_FIELD_NUMBER: _ClassVar[int]
    id: str
    source_id: str
    mode: SyncMode
    state: RunState
    counts: RunCounts
    failure_reason: _error_reason_pb2.ErrorReason
    failure_message: str
    create_time: _timestamp_pb2.Timestamp
    complete_time: _timestamp_pb2.Timestamp
    failed_files: _containers.RepeatedCompositeFieldContainer[FailedFile]
    kinds_not_taken: _containers.ScalarMap[str, int]
    def __init__(self, id: _Optional[str] = ..., source_id: _Optional[str] = ..., mode: _Optional[_Union[SyncMode, str]] = ..., state: _Optional[_Union[RunState, str]] = ..., counts: _Optional[_Union[RunCounts, _Mapping]] = ..., failure_reason: _Optional[_Union[_error_reason_pb2.ErrorReason, str]] = ..., failure_message: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., complete_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., failed_files: _Optional[_Iterable[_Union[FailedFile, _Mapping]]] = ..., kinds_not_taken: _Optional[_Mapping[str, int]] = ...) -> None: ...

class CreateSourceRequest(_message.Message):
    __slots__ = ("request_id", "knowledge_base_id", "collection_name", "display_name", "local_directory", "mode")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    LOCAL_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    knowledge_base_id: str
    collection_name: str
    display_name: str
    local_directory: LocalDirectory
    mode: SyncMode
    def __init__(self, request_id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., collection_name: _Optional[str] = ..., display_name: _Optional[str] = ..., local_directory: _Optional[_Union[LocalDirectory, _Mapping]] = ..., mode: _Optional[_Union[SyncMode, str]] = ...) -> None: ...

class CreateSourceResponse(_message.Message):
    __slots__ = ("source",)
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    source: Source
    def __init__(self, source: _Optional[_Union[Source, _Mapping]] = ...) -> None: ...

class GetSourceRequest(_message.Message):
    __slots__ = ("source_id",)
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    def __init__(self, source_id: _Optional[str] = ...) -> None: ...

class GetSourceResponse(_message.Message):
    __slots__ = ("source",)
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    source: Source
    def __init__(self, source: _Optional[_Union[Source, _Mapping]] = ...) -> None: ...

class ListSourcesRequest(_message.Message):
    __slots__ = ("knowledge_base_id", "page_size", "page_token")
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    knowledge_base_id: str
    page_size: int
    page_token: str
    def __init__(self, knowledge_base_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSourcesResponse(_message.Message):
    __slots__ = ("sources", "next_page_token")
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    sources: _containers.RepeatedCompositeFieldContainer[Source]
    next_page_token: str
    def __init__(self, sources: _Optional[_Iterable[_Union[Source, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class AttachSourceRequest(_message.Message):
    __slots__ = ("request_id", "source_id", "knowledge_base_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    source_id: str
    knowledge_base_id: str
    def __init__(self, request_id: _Optional[str] = ..., source_id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ...) -> None: ...

class AttachSourceResponse(_message.Message):
    __slots__ = ("source",)
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    source: Source
    def __init__(self, source: _Optional[_Union[Source, _Mapping]] = ...) -> None: ...

class DeleteSourceRequest(_message.Message):
    __slots__ = ("request_id", "source_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    source_id: str
    def __init__(self, request_id: _Optional[str] = ..., source_id: _Optional[str] = ...) -> None: ...

class DeleteSourceResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StartRunRequest(_message.Message):
    __slots__ = ("request_id", "source_id", "mode")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    source_id: str
    mode: SyncMode
    def __init__(self, request_id: _Optional[str] = ..., source_id: _Optional[str] = ..., mode: _Optional[_Union[SyncMode, str]] = ...) -> None: ...

class StartRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: Run
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: Run
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ...) -> None: ...

class ListRunsRequest(_message.Message):
    __slots__ = ("source_id", "page_size", "page_token")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    page_size: int
    page_token: str
    def __init__(self, source_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRunsResponse(_message.Message):
    __slots__ = ("runs", "next_page_token")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[Run]
    next_page_token: str
    def __init__(self, runs: _Optional[_Iterable[_Union[Run, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
