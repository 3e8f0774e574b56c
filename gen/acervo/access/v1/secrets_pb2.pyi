import datetime

from acervo.access.v1 import knowledge_bases_pb2 as _knowledge_bases_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SecretKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SECRET_KIND_UNSPECIFIED: _ClassVar[SecretKind]
    SECRET_KIND_API_KEY: _ClassVar[SecretKind]
    SECRET_KIND_AWS_CREDENTIALS: _ClassVar[SecretKind]
    SECRET_KIND_GCP_SERVICE_ACCOUNT: _ClassVar[SecretKind]
    SECRET_KIND_AZURE_CREDENTIALS: _ClassVar[SecretKind]
    SECRET_KIND_GIT_TOKEN: _ClassVar[SecretKind]
    SECRET_KIND_ATLASSIAN_TOKEN: _ClassVar[SecretKind]
    SECRET_KIND_GRAPH_APP: _ClassVar[SecretKind]
    SECRET_KIND_NOTION_TOKEN: _ClassVar[SecretKind]

class SecretPurpose(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SECRET_PURPOSE_UNSPECIFIED: _ClassVar[SecretPurpose]
    SECRET_PURPOSE_EMBEDDING: _ClassVar[SecretPurpose]
    SECRET_PURPOSE_PARSING: _ClassVar[SecretPurpose]
    SECRET_PURPOSE_IMAGE_DESCRIPTION: _ClassVar[SecretPurpose]
    SECRET_PURPOSE_SOURCE: _ClassVar[SecretPurpose]
SECRET_KIND_UNSPECIFIED: SecretKind
SECRET_KIND_API_KEY: SecretKind
SECRET_KIND_AWS_CREDENTIALS: SecretKind
SECRET_KIND_GCP_SERVICE_ACCOUNT: SecretKind
SECRET_KIND_AZURE_CREDENTIALS: SecretKind
SECRET_KIND_GIT_TOKEN: SecretKind
SECRET_KIND_ATLASSIAN_TOKEN: SecretKind
SECRET_KIND_GRAPH_APP: SecretKind
SECRET_KIND_NOTION_TOKEN: SecretKind
SECRET_PURPOSE_UNSPECIFIED: SecretPurpose
SECRET_PURPOSE_EMBEDDING: SecretPurpose
SECRET_PURPOSE_PARSING: SecretPurpose
SECRET_PURPOSE_IMAGE_DESCRIPTION: SecretPurpose
SECRET_PURPOSE_SOURCE: SecretPurpose

class Secret(_message.Message):
    __slots__ = ("id", "organization_id", "kind", "display_name", "hint", "visibility", "team_id", "owner_user_id", "create_time", "update_time", "value_time")
    ID_FIELD_NUMBER: _ClassVar[int]
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    TEAM_ID_FIELD_NUMBER: _ClassVar[int]
    OWNER_USER_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    VALUE_TIME_FIELD_NUMBER: _ClassVar[int]
    id: str
    organization_id: str
    kind: SecretKind
    display_name: str
    hint: str
    visibility: _knowledge_bases_pb2.Visibility
    team_id: str
    owner_user_id: str
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    value_time: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., organization_id: _Optional[str] = ..., kind: _Optional[_Union[SecretKind, str]] = ..., display_name: _Optional[str] = ..., hint: _Optional[str] = ..., visibility: _Optional[_Union[_knowledge_bases_pb2.Visibility, str]] = ..., team_id: _Optional[str] = ..., owner_user_id: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., value_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SecretValue(_message.Message):
    __slots__ = ("api_key", "aws_credentials", "gcp_service_account", "azure_credentials", "git_token", "atlassian_token", "graph_app", "notion_token")
    API_KEY_FIELD_NUMBER: _ClassVar[int]
    AWS_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    GCP_SERVICE_ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    AZURE_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    GIT_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ATLASSIAN_TOKEN_FIELD_NUMBER: _ClassVar[int]
    GRAPH_APP_FIELD_NUMBER: _ClassVar[int]
    NOTION_TOKEN_FIELD_NUMBER: _ClassVar[int]
    api_key: ApiKey
    aws_credentials: AwsCredentials
    gcp_service_account: GcpServiceAccount
    azure_credentials: AzureCredentials
    git_token: GitToken
    atlassian_token: AtlassianToken
    graph_app: GraphApp
    notion_token: NotionToken
    def __init__(self, api_key: _Optional[_Union[ApiKey, _Mapping]] = ..., aws_credentials: _Optional[_Union[AwsCredentials, _Mapping]] = ..., gcp_service_account: _Optional[_Union[GcpServiceAccount, _Mapping]] = ..., azure_credentials: _Optional[_Union[AzureCredentials, _Mapping]] = ..., git_token: _Optional[_Union[GitToken, _Mapping]] = ..., atlassian_token: _Optional[_Union[AtlassianToken, _Mapping]] = ..., graph_app: _Optional[_Union[GraphApp, _Mapping]] = ..., notion_token: _Optional[_Union[NotionToken, _Mapping]] = ...) -> None: ...

class ApiKey(_message.Message):
    __slots__ = ("provider", "key")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    provider: str
    key: str
    def __init__(self, provider: _Optional[str] = ..., key: _Optional[str] = ...) -> None: ...

class AwsCredentials(_message.Message):
    __slots__ = ("access_key_id", "secret_access_key", "session_token", "region")
    ACCESS_KEY_ID_FIELD_NUMBER: _ClassVar[int]
    SECRET_ACCESS_KEY_FIELD_NUMBER: _ClassVar[int]
    SESSION_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    access_key_id: str
    secret_access_key: str
    session_token: str
    region: str
    def __init__(self, access_key_id: _Optional[str] = ..., secret_access_key: _Optional[str] = ..., session_token: _Optional[str] = ..., region: _Optional[str] = ...) -> None: ...

class GcpServiceAccount(_message.Message):
    __slots__ = ("json",)
    JSON_FIELD_NUMBER: _ClassVar[int]
    json: str
    def __init__(self, json: _Optional[str] = ...) -> None: ...

class AzureCredentials(_message.Message):
    __slots__ = ("account_name", "account_key", "sas_token", "tenant_id", "client_id", "client_secret")
    ACCOUNT_NAME_FIELD_NUMBER: _ClassVar[int]
    ACCOUNT_KEY_FIELD_NUMBER: _ClassVar[int]
    SAS_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_SECRET_FIELD_NUMBER: _ClassVar[int]
    account_name: str
    account_key: str
    sas_token: str
    tenant_id: str
    client_id: str
    client_secret: str
    def __init__(self, account_name: _Optional[str] = ..., account_key: _Optional[str] = ..., sas_token: _Optional[str] = ..., tenant_id: _Optional[str] = ..., client_id: _Optional[str] = ..., client_secret: _Optional[str] = ...) -> None: ...

class GitToken(_message.Message):
    __slots__ = ("username", "token")
    USERNAME_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    username: str
    token: str
    def __init__(self, username: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class AtlassianToken(_message.Message):
    __slots__ = ("email", "token")
    EMAIL_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    email: str
    token: str
    def __init__(self, email: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class GraphApp(_message.Message):
    __slots__ = ("tenant_id", "client_id", "client_secret")
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_SECRET_FIELD_NUMBER: _ClassVar[int]
    tenant_id: str
    client_id: str
    client_secret: str
    def __init__(self, tenant_id: _Optional[str] = ..., client_id: _Optional[str] = ..., client_secret: _Optional[str] = ...) -> None: ...

class NotionToken(_message.Message):
    __slots__ = ("token",)
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    token: str
    def __init__(self, token: _Optional[str] = ...) -> None: ...

class CreateSecretRequest(_message.Message):
    __slots__ = ("request_id", "organization_id", "display_name", "visibility", "team_id", "value")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    TEAM_ID_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    organization_id: str
    display_name: str
    visibility: _knowledge_bases_pb2.Visibility
    team_id: str
    value: SecretValue
    def __init__(self, request_id: _Optional[str] = ..., organization_id: _Optional[str] = ..., display_name: _Optional[str] = ..., visibility: _Optional[_Union[_knowledge_bases_pb2.Visibility, str]] = ..., team_id: _Optional[str] = ..., value: _Optional[_Union[SecretValue, _Mapping]] = ...) -> None: ...

class CreateSecretResponse(_message.Message):
    __slots__ = ("secret",)
    SECRET_FIELD_NUMBER: _ClassVar[int]
    secret: Secret
    def __init__(self, secret: _Optional[_Union[Secret, _Mapping]] = ...) -> None: ...

class GetSecretRequest(_message.Message):
    __slots__ = ("secret_id",)
    SECRET_ID_FIELD_NUMBER: _ClassVar[int]
    secret_id: str
    def __init__(self, secret_id: _Optional[str] = ...) -> None: ...

class GetSecretResponse(_message.Message):
    __slots__ = ("secret",)
    SECRET_FIELD_NUMBER: _ClassVar[int]
    secret: Secret
    def __init__(self, secret: _Optional[_Union[Secret, _Mapping]] = ...) -> None: ...

class ListSecretsRequest(_message.Message):
    __slots__ = ("organization_id", "kind", "page_size", "page_token")
    ORGANIZATION_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    organization_id: str
    kind: SecretKind
    page_size: int
    page_token: str
    def __init__(self, organization_id: _Optional[str] = ..., kind: _Optional[_Union[SecretKind, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSecretsResponse(_message.Message):
    __slots__ = ("secrets", "next_page_token")
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    secrets: _containers.RepeatedCompositeFieldContainer[Secret]
    next_page_token: str
    def __init__(self, secrets: _Optional[_Iterable[_Union[Secret, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateSecretRequest(_message.Message):
    __slots__ = ("request_id", "secret_id", "display_name", "visibility", "team_id", "value")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SECRET_ID_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    TEAM_ID_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    secret_id: str
    display_name: str
    visibility: _knowledge_bases_pb2.Visibility
    team_id: str
    value: SecretValue
    def __init__(self, request_id: _Optional[str] = ..., secret_id: _Optional[str] = ..., display_name: _Optional[str] = ..., visibility: _Optional[_Union[_knowledge_bases_pb2.Visibility, str]] = ..., team_id: _Optional[str] = ..., value: _Optional[_Union[SecretValue, _Mapping]] = ...) -> None: ...

class UpdateSecretResponse(_message.Message):
    __slots__ = ("secret",)
    SECRET_FIELD_NUMBER: _ClassVar[int]
    secret: Secret
    def __init__(self, secret: _Optional[_Union[Secret, _Mapping]] = ...) -> None: ...

class DeleteSecretRequest(_message.Message):
    __slots__ = ("request_id", "secret_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SECRET_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    secret_id: str
    def __init__(self, request_id: _Optional[str] = ..., secret_id: _Optional[str] = ...) -> None: ...

class DeleteSecretResponse(_message.Message):
    __slots__ = ("uses",)
    USES_FIELD_NUMBER: _ClassVar[int]
    uses: int
    def __init__(self, uses: _Optional[int] = ...) -> None: ...

class RewrapSecretsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class RewrapSecretsResponse(_message.Message):
    __slots__ = ("key_version", "rewrapped", "unreadable_secret_ids", "remaining", "next_page_token")
    KEY_VERSION_FIELD_NUMBER: _ClassVar[int]
    REWRAPPED_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_SECRET_IDS_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    key_version: int
    rewrapped: int
    unreadable_secret_ids: _containers.RepeatedScalarFieldContainer[str]
    remaining: int
    next_page_token: str
    def __init__(self, key_version: _Optional[int] = ..., rewrapped: _Optional[int] = ..., unreadable_secret_ids: _Optional[_Iterable[str]] = ..., remaining: _Optional[int] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class BindSecretRequest(_message.Message):
    __slots__ = ("request_id", "actor_user_id", "secret_id", "knowledge_base_id", "source_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_USER_ID_FIELD_NUMBER: _ClassVar[int]
    SECRET_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    actor_user_id: str
    secret_id: str
    knowledge_base_id: str
    source_id: str
    def __init__(self, request_id: _Optional[str] = ..., actor_user_id: _Optional[str] = ..., secret_id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., source_id: _Optional[str] = ...) -> None: ...

class BindSecretResponse(_message.Message):
    __slots__ = ("secret",)
    SECRET_FIELD_NUMBER: _ClassVar[int]
    secret: Secret
    def __init__(self, secret: _Optional[_Union[Secret, _Mapping]] = ...) -> None: ...

class UnbindSecretRequest(_message.Message):
    __slots__ = ("request_id", "knowledge_base_id", "source_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    knowledge_base_id: str
    source_id: str
    def __init__(self, request_id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., source_id: _Optional[str] = ...) -> None: ...

class UnbindSecretResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class OpenSecretRequest(_message.Message):
    __slots__ = ("secret_id", "knowledge_base_id", "source_id", "purpose", "actor_user_id")
    SECRET_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_BASE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    ACTOR_USER_ID_FIELD_NUMBER: _ClassVar[int]
    secret_id: str
    knowledge_base_id: str
    source_id: str
    purpose: SecretPurpose
    actor_user_id: str
    def __init__(self, secret_id: _Optional[str] = ..., knowledge_base_id: _Optional[str] = ..., source_id: _Optional[str] = ..., purpose: _Optional[_Union[SecretPurpose, str]] = ..., actor_user_id: _Optional[str] = ...) -> None: ...

class OpenSecretResponse(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: SecretValue
    def __init__(self, value: _Optional[_Union[SecretValue, _Mapping]] = ...) -> None: ...
