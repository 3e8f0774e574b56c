import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AuditOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AUDIT_ORDER_UNSPECIFIED: _ClassVar[AuditOrder]
    AUDIT_ORDER_NEWEST_FIRST: _ClassVar[AuditOrder]
    AUDIT_ORDER_OLDEST_FIRST: _ClassVar[AuditOrder]

class AuditFault(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AUDIT_FAULT_UNSPECIFIED: _ClassVar[AuditFault]
    AUDIT_FAULT_MISSING_SEAL: _ClassVar[AuditFault]
    AUDIT_FAULT_OUT_OF_ORDER: _ClassVar[AuditFault]
    AUDIT_FAULT_MISSING_EVENT: _ClassVar[AuditFault]
    AUDIT_FAULT_ALTERED: _ClassVar[AuditFault]
    AUDIT_FAULT_NOT_SEALED: _ClassVar[AuditFault]
    AUDIT_FAULT_HEAD_DIFFERS: _ClassVar[AuditFault]
    AUDIT_FAULT_STILL_WAITING: _ClassVar[AuditFault]
AUDIT_ORDER_UNSPECIFIED: AuditOrder
AUDIT_ORDER_NEWEST_FIRST: AuditOrder
AUDIT_ORDER_OLDEST_FIRST: AuditOrder
AUDIT_FAULT_UNSPECIFIED: AuditFault
AUDIT_FAULT_MISSING_SEAL: AuditFault
AUDIT_FAULT_OUT_OF_ORDER: AuditFault
AUDIT_FAULT_MISSING_EVENT: AuditFault
AUDIT_FAULT_ALTERED: AuditFault
AUDIT_FAULT_NOT_SEALED: AuditFault
AUDIT_FAULT_HEAD_DIFFERS: AuditFault
AUDIT_FAULT_STILL_WAITING: AuditFault

class AuditEvent(_message.Message):
    __slots__ = ("id", "create_time", "organization_id", "deployment", "actor_user_id", "actor_agent_id", "actor_service", "action", "object_kind", "object_id", "before", "after", "seal")
    class BeforeEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class AfterEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    ACTOR_USER_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_SERVICE_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    OBJECT_KIND_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    SEAL_FIELD_NUMBER: _ClassVar[int]
    id: str
    create_time: _timestamp_pb2.Timestamp
    organization_id: str
    deployment: bool
    actor_user_id: str
    actor_agent_id: str
    actor_service: str
    action: str
    object_kind: str
    object_id: str
    before: _containers.ScalarMap[str, str]
    after: _containers.ScalarMap[str, str]
    seal: AuditSeal
    def __init__(self, id: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., organization_id: _Optional[str] = ..., deployment: _Optional[bool] = ..., actor_user_id: _Optional[str] = ..., actor_agent_id: _Optional[str] = ..., actor_service: _Optional[str] = ..., action: _Optional[str] = ..., object_kind: _Optional[str] = ..., object_id: _Optional[str] = ..., before: _Optional[_Mapping[str, str]] = ..., after: _Optional[_Mapping[str, str]] = ..., seal: _Optional[_Union[AuditSeal, _Mapping]] = ...) -> None: ...

class AuditSeal(_message.Message):
    __slots__ = ("sequence", "previous_hash", "hash")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_HASH_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    previous_hash: bytes
    hash: bytes
    def __init__(self, sequence: _Optional[int] = ..., previous_hash: _Optional[bytes] = ..., hash: _Optional[bytes] = ...) -> None: ...

class AuditFilter(_message.Message):
    __slots__ = ("organization_id", "deployment", "actor_id", "action", "object_kind", "object_id", "since", "until")
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    OBJECT_KIND_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    organization_id: str
    deployment: bool
    actor_id: str
    action: str
    object_kind: str
    object_id: str
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    def __init__(self, organization_id: _Optional[str] = ..., deployment: _Optional[bool] = ..., actor_id: _Optional[str] = ..., action: _Optional[str] = ..., object_kind: _Optional[str] = ..., object_id: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListAuditEventsRequest(_message.Message):
    __slots__ = ("filter", "order", "page_size", "page_token")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    filter: AuditFilter
    order: AuditOrder
    page_size: int
    page_token: str
    def __init__(self, filter: _Optional[_Union[AuditFilter, _Mapping]] = ..., order: _Optional[_Union[AuditOrder, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListAuditEventsResponse(_message.Message):
    __slots__ = ("events", "next_page_token")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[AuditEvent]
    next_page_token: str
    def __init__(self, events: _Optional[_Iterable[_Union[AuditEvent, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ExportAuditEventsRequest(_message.Message):
    __slots__ = ("filter",)
    FILTER_FIELD_NUMBER: _ClassVar[int]
    filter: AuditFilter
    def __init__(self, filter: _Optional[_Union[AuditFilter, _Mapping]] = ...) -> None: ...

class ExportAuditEventsResponse(_message.Message):
    __slots__ = ("lines",)
    LINES_FIELD_NUMBER: _ClassVar[int]
    lines: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, lines: _Optional[_Iterable[str]] = ...) -> None: ...

class AuditHead(_message.Message):
    __slots__ = ("sequence", "hash")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    hash: bytes
    def __init__(self, sequence: _Optional[int] = ..., hash: _Optional[bytes] = ...) -> None: ...

class AuditBreak(_message.Message):
    __slots__ = ("fault", "sequence", "event_id")
    FAULT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    fault: AuditFault
    sequence: int
    event_id: str
    def __init__(self, fault: _Optional[_Union[AuditFault, str]] = ..., sequence: _Optional[int] = ..., event_id: _Optional[str] = ...) -> None: ...

class VerifyAuditRequest(_message.Message):
    __slots__ = ("kept_head",)
    KEPT_HEAD_FIELD_NUMBER: _ClassVar[int]
    kept_head: AuditHead
    def __init__(self, kept_head: _Optional[_Union[AuditHead, _Mapping]] = ...) -> None: ...

class VerifyAuditResponse(_message.Message):
    __slots__ = ("head", "waiting_count", "broken", "complete", "oldest_waiting_time")
    HEAD_FIELD_NUMBER: _ClassVar[int]
    WAITING_COUNT_FIELD_NUMBER: _ClassVar[int]
    BROKEN_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    OLDEST_WAITING_TIME_FIELD_NUMBER: _ClassVar[int]
    head: AuditHead
    waiting_count: int
    broken: AuditBreak
    complete: bool
    oldest_waiting_time: _timestamp_pb2.Timestamp
    def __init__(self, head: _Optional[_Union[AuditHead, _Mapping]] = ..., waiting_count: _Optional[int] = ..., broken: _Optional[_Union[AuditBreak, _Mapping]] = ..., complete: _Optional[bool] = ..., oldest_waiting_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
