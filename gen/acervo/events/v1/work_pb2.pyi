from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class ParseDocument(_message.Message):
    __slots__ = ("document_id", "attempt", "tenant_id")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    attempt: int
    tenant_id: str
    def __init__(self, document_id: _Optional[str] = ..., attempt: _Optional[int] = ..., tenant_id: _Optional[str] = ...) -> None: ...

class EmbedDocument(_message.Message):
    __slots__ = ("document_id", "attempt", "parse_epoch", "tenant_id")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    PARSE_EPOCH_FIELD_NUMBER: _ClassVar[int]
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    attempt: int
    parse_epoch: int
    tenant_id: str
    def __init__(self, document_id: _Optional[str] = ..., attempt: _Optional[int] = ..., parse_epoch: _Optional[int] = ..., tenant_id: _Optional[str] = ...) -> None: ...

class RunSource(_message.Message):
    __slots__ = ("run_id", "attempt")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    attempt: int
    def __init__(self, run_id: _Optional[str] = ..., attempt: _Optional[int] = ...) -> None: ...
