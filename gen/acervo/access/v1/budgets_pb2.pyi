import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Budget(_message.Message):
    __slots__ = ("organization_id", "limit_micros", "spent_micros", "reserved_micros", "period_start_time", "period_end_time")
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_MICROS_FIELD_NUMBER: _ClassVar[int]
    SPENT_MICROS_FIELD_NUMBER: _ClassVar[int]
    RESERVED_MICROS_FIELD_NUMBER: _ClassVar[int]
    PERIOD_START_TIME_FIELD_NUMBER: _ClassVar[int]
    PERIOD_END_TIME_FIELD_NUMBER: _ClassVar[int]
    organization_id: str
    limit_micros: int
    spent_micros: int
    reserved_micros: int
    period_start_time: _timestamp_pb2.Timestamp
    period_end_time: _timestamp_pb2.Timestamp
    def __init__(self, organization_id: _Optional[str] = ..., limit_micros: _Optional[int] = ..., spent_micros: _Optional[int] = ..., reserved_micros: _Optional[int] = ..., period_start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., period_end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SetBudgetRequest(_message.Message):
    __slots__ = ("request_id", "organization_id", "limit_micros")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_MICROS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    organization_id: str
    limit_micros: int
    def __init__(self, request_id: _Optional[str] = ..., organization_id: _Optional[str] = ..., limit_micros: _Optional[int] = ...) -> None: ...

class SetBudgetResponse(_message.Message):
    __slots__ = ("budget",)
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    budget: Budget
    def __init__(self, budget: _Optional[_Union[Budget, _Mapping]] = ...) -> None: ...

class GetBudgetRequest(_message.Message):
    __slots__ = ("organization_id",)
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    organization_id: str
    def __init__(self, organization_id: _Optional[str] = ...) -> None: ...

class GetBudgetResponse(_message.Message):
    __slots__ = ("budget",)
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    budget: Budget
    def __init__(self, budget: _Optional[_Union[Budget, _Mapping]] = ...) -> None: ...

class ReserveSpendRequest(_message.Message):
    __slots__ = ("reservation_id", "knowledge_base_id", "amount_micros")
    RESERVATION_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_MICROS_FIELD_NUMBER: _ClassVar[int]
    reservation_id: str
    knowledge_base_id: str
    amount_micros: int
    def __init__(self, reservation_id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., amount_micros: _Optional[int] = ...) -> None: ...

class ReserveSpendResponse(_message.Message):
    __slots__ = ("expire_time",)
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SettleSpendRequest(_message.Message):
    __slots__ = ("reservation_id", "amount_micros")
    RESERVATION_ID_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_MICROS_FIELD_NUMBER: _ClassVar[int]
    reservation_id: str
    amount_micros: int
    def __init__(self, reservation_id: _Optional[str] = ..., amount_micros: _Optional[int] = ...) -> None: ...

class SettleSpendResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
