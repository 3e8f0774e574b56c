import datetime

from acervo.access.v1 import access_pb2 as _access_pb2
from acervo.access.v1 import organizations_pb2 as _organizations_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Ground(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GROUND_UNSPECIFIED: _ClassVar[Ground]
    GROUND_APP: _ClassVar[Ground]
    GROUND_DEPLOYMENT_ADMIN: _ClassVar[Ground]
    GROUND_PERSONAL: _ClassVar[Ground]
    GROUND_OWN: _ClassVar[Ground]
    GROUND_ORGANIZATION: _ClassVar[Ground]
    GROUND_TEAM: _ClassVar[Ground]
    GROUND_ROLE: _ClassVar[Ground]
    GROUND_USER_GRANT: _ClassVar[Ground]
    GROUND_TEAM_GRANT: _ClassVar[Ground]
    GROUND_AGENT_GRANT: _ClassVar[Ground]
GROUND_UNSPECIFIED: Ground
GROUND_APP: Ground
GROUND_DEPLOYMENT_ADMIN: Ground
GROUND_PERSONAL: Ground
GROUND_OWN: Ground
GROUND_ORGANIZATION: Ground
GROUND_TEAM: Ground
GROUND_ROLE: Ground
GROUND_USER_GRANT: Ground
GROUND_TEAM_GRANT: Ground
GROUND_AGENT_GRANT: Ground

class Grant(_message.Message):
    __slots__ = ("id", "knowledge_base_id", "user_id", "team_id", "agent_id", "permission", "giver_user_id", "create_time")
    ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    TEAM_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_FIELD_NUMBER: _ClassVar[int]
    GIVER_USER_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    id: str
    knowledge_base_id: str
    user_id: str
    team_id: str
    agent_id: str
    permission: _access_pb2.Permission
    giver_user_id: str
    create_time: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., user_id: _Optional[str] = ..., team_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., permission: _Optional[_Union[_access_pb2.Permission, str]] = ..., giver_user_id: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class AddGrantRequest(_message.Message):
    __slots__ = ("request_id", "knowledge_base_id", "user_id", "team_id", "agent_id", "permission")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    TEAM_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    knowledge_base_id: str
    user_id: str
    team_id: str
    agent_id: str
    permission: _access_pb2.Permission
    def __init__(self, request_id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., user_id: _Optional[str] = ..., team_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., permission: _Optional[_Union[_access_pb2.Permission, str]] = ...) -> None: ...

class AddGrantResponse(_message.Message):
    __slots__ = ("grant",)
    GRANT_FIELD_NUMBER: _ClassVar[int]
    grant: Grant
    def __init__(self, grant: _Optional[_Union[Grant, _Mapping]] = ...) -> None: ...

class ListGrantsRequest(_message.Message):
    __slots__ = ("knowledge_base_id", "page_size", "page_token")
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    knowledge_base_id: str
    page_size: int
    page_token: str
    def __init__(self, knowledge_base_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListGrantsResponse(_message.Message):
    __slots__ = ("grants", "next_page_token")
    GRANTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    grants: _containers.RepeatedCompositeFieldContainer[Grant]
    next_page_token: str
    def __init__(self, grants: _Optional[_Iterable[_Union[Grant, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RevokeGrantRequest(_message.Message):
    __slots__ = ("request_id", "grant_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    grant_id: str
    def __init__(self, request_id: _Optional[str] = ..., grant_id: _Optional[str] = ...) -> None: ...

class RevokeGrantResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ExplainAccessRequest(_message.Message):
    __slots__ = ("knowledge_base_id", "user_id", "agent_id")
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    knowledge_base_id: str
    user_id: str
    agent_id: str
    def __init__(self, knowledge_base_id: _Optional[str] = ..., user_id: _Optional[str] = ..., agent_id: _Optional[str] = ...) -> None: ...

class ExplainAccessResponse(_message.Message):
    __slots__ = ("role", "view", "edit")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    EDIT_FIELD_NUMBER: _ClassVar[int]
    role: _organizations_pb2.Role
    view: _containers.RepeatedScalarFieldContainer[Ground]
    edit: _containers.RepeatedScalarFieldContainer[Ground]
    def __init__(self, role: _Optional[_Union[_organizations_pb2.Role, str]] = ..., view: _Optional[_Iterable[_Union[Ground, str]]] = ..., edit: _Optional[_Iterable[_Union[Ground, str]]] = ...) -> None: ...
