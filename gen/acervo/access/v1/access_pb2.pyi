from acervo.access.v1 import knowledge_bases_pb2 as _knowledge_bases_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Permission(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PERMISSION_UNSPECIFIED: _ClassVar[Permission]
    PERMISSION_VIEW: _ClassVar[Permission]
    PERMISSION_EDIT: _ClassVar[Permission]
PERMISSION_UNSPECIFIED: Permission
PERMISSION_VIEW: Permission
PERMISSION_EDIT: Permission

class Target(_message.Message):
    __slots__ = ("knowledge_base_id", "collection_name")
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_NAME_FIELD_NUMBER: _ClassVar[int]
    knowledge_base_id: str
    collection_name: str
    def __init__(self, knowledge_base_id: _Optional[str] = ..., collection_name: _Optional[str] = ...) -> None: ...

class ResolveRequest(_message.Message):
    __slots__ = ("targets", "permission", "actor_user_id")
    TARGETS_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_FIELD_NUMBER: _ClassVar[int]
    ACTOR_USER_ID_FIELD_NUMBER: _ClassVar[int]
    targets: _containers.RepeatedCompositeFieldContainer[Target]
    permission: Permission
    actor_user_id: str
    def __init__(self, targets: _Optional[_Iterable[_Union[Target, _Mapping]]] = ..., permission: _Optional[_Union[Permission, str]] = ..., actor_user_id: _Optional[str] = ...) -> None: ...

class ResolveResponse(_message.Message):
    __slots__ = ("knowledge_bases",)
    KNOWLEDGE_BASES_FIELD_NUMBER: _ClassVar[int]
    knowledge_bases: _containers.RepeatedCompositeFieldContainer[_knowledge_bases_pb2.KnowledgeBase]
    def __init__(self, knowledge_bases: _Optional[_Iterable[_Union[_knowledge_bases_pb2.KnowledgeBase, _Mapping]]] = ...) -> None: ...

class WhoAmIRequest(_message.Message):
    __slots__ = ("actor_user_id",)
    ACTOR_USER_ID_FIELD_NUMBER: _ClassVar[int]
    actor_user_id: str
    def __init__(self, actor_user_id: _Optional[str] = ...) -> None: ...

class WhoAmIResponse(_message.Message):
    __slots__ = ("user_id", "service", "deployment_admin", "agent_id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_ADMIN_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    service: str
    deployment_admin: bool
    agent_id: str
    def __init__(self, user_id: _Optional[str] = ..., service: _Optional[str] = ..., deployment_admin: _Optional[bool] = ..., agent_id: _Optional[str] = ...) -> None: ...
