from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class DeleteAccountRequest(_message.Message):
    __slots__ = ("request_id", "user_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class DeleteAccountResponse(_message.Message):
    __slots__ = ("knowledge_base_count", "organization_count")
    KNOWLEDGE_BASE_COUNT_FIELD_NUMBER: _ClassVar[int]
    ORGANIZATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    knowledge_base_count: int
    organization_count: int
    def __init__(self, knowledge_base_count: _Optional[int] = ..., organization_count: _Optional[int] = ...) -> None: ...
