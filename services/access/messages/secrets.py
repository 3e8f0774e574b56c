"""Secrets on the wire."""

from collections.abc import Mapping
from uuid import UUID

from acervo.access.v1 import knowledge_bases_pb2
from acervo.access.v1 import secrets_pb2 as pb
from services.access.messages.decode import VISIBILITIES, read_display_name
from services.access.reach import Visibility
from services.access.vault.changing import SecretChange, SecretWish, Value
from services.access.vault.kinds import SecretKind, violations
from services.access.vault.lending import Purpose, Use
from services.access.vault.opening import OpeningWish
from services.access.vault.rotation import Rewrapped
from services.access.vault.secrets import Secret
from services.shared.fields import Fields
from services.shared.paging import PageRequest

_KINDS: Mapping[pb.SecretKind, SecretKind] = {
    pb.SECRET_KIND_API_KEY: SecretKind.API_KEY,
    pb.SECRET_KIND_AWS_CREDENTIALS: SecretKind.AWS_CREDENTIALS,
    pb.SECRET_KIND_GCP_SERVICE_ACCOUNT: SecretKind.GCP_SERVICE_ACCOUNT,
    pb.SECRET_KIND_AZURE_CREDENTIALS: SecretKind.AZURE_CREDENTIALS,
    pb.SECRET_KIND_GIT_TOKEN: SecretKind.GIT_TOKEN,
    pb.SECRET_KIND_ATLASSIAN_TOKEN: SecretKind.ATLASSIAN_TOKEN,
    pb.SECRET_KIND_GRAPH_APP: SecretKind.GRAPH_APP,
    pb.SECRET_KIND_NOTION_TOKEN: SecretKind.NOTION_TOKEN,
}
_PURPOSES: Mapping[pb.SecretPurpose, Purpose] = {
    pb.SECRET_PURPOSE_EMBEDDING: Purpose.EMBEDDING,
    pb.SECRET_PURPOSE_PARSING: Purpose.PARSING,
    pb.SECRET_PURPOSE_IMAGE_DESCRIPTION: Purpose.IMAGE_DESCRIPTION,
    pb.SECRET_PURPOSE_SOURCE: Purpose.SOURCE,
}
_KIND_CODES = {kind: code for code, kind in _KINDS.items()}
_VISIBILITY_CODES = {visibility: code for code, visibility in VISIBILITIES.items()}
_UNSET = knowledge_bases_pb2.VISIBILITY_UNSPECIFIED
_NOTHING = Value(SecretKind.API_KEY, {})


def wish(request: pb.CreateSecretRequest) -> SecretWish:
    """The secret that is to be kept."""
    with Fields() as fields:
        return SecretWish(
            organization_id=fields.uuid("organization_id", request.organization_id),
            display_name=read_display_name(fields, request.display_name),
            visibility=_visibility(fields, request) or Visibility.PRIVATE,
            team_id=_team(fields, request),
            value=_value(fields, request.value),
        )


def change(request: pb.UpdateSecretRequest) -> tuple[UUID, SecretChange]:
    """What is to change of which secret."""
    with Fields() as fields:
        named, replaced = request.HasField("display_name"), request.HasField("value")
        if not named and not replaced and request.visibility == _UNSET:
            fields.refuse("display_name", "Give this, visibility or value: something must change.")
        return fields.uuid("secret_id", request.secret_id), SecretChange(
            display_name=read_display_name(fields, request.display_name) if named else None,
            visibility=_visibility(fields, request),
            team_id=_team(fields, request),
            value=_value(fields, request.value) if replaced else None,
        )


def _visibility(
    fields: Fields, request: pb.CreateSecretRequest | pb.UpdateSecretRequest
) -> Visibility | None:
    if request.visibility == _UNSET:
        return None
    return fields.choice("visibility", request.visibility, VISIBILITIES, Visibility.PRIVATE)


def _team(fields: Fields, request: pb.CreateSecretRequest | pb.UpdateSecretRequest) -> UUID | None:
    if request.visibility == knowledge_bases_pb2.VISIBILITY_TEAM:
        return fields.uuid("team_id", request.team_id)
    if request.team_id:
        fields.refuse("team_id", "This goes with the visibility TEAM.")
    return None


def _value(fields: Fields, message: pb.SecretValue) -> Value:
    name = message.WhichOneof("value")
    if name is None:
        fields.refuse("value", "Give what it holds, in the fields of one kind.")
        return _NOTHING
    value = Value(SecretKind(name), {field.name: text for field, text in getattr(message, name).ListFields()})
    for violation in violations(value.kind, value.values):
        fields.refuse(f"value.{name}.{violation.path}", violation.message)
    return value


def listing(request: pb.ListSecretsRequest) -> tuple[UUID, SecretKind | None, PageRequest]:
    """Which secrets of which organization are asked for, and which part of them."""
    with Fields() as fields:
        kind = None
        if request.kind != pb.SECRET_KIND_UNSPECIFIED:
            kind = fields.choice("kind", request.kind, _KINDS, SecretKind.API_KEY)
        return fields.uuid("organization_id", request.organization_id), kind, fields.page(request)


def unbinding(request: pb.UnbindSecretRequest) -> Use:
    """Which use of a secret is to end."""
    with Fields() as fields:
        return _source_use(fields, request)


def _source_use(fields: Fields, request: pb.BindSecretRequest | pb.UnbindSecretRequest) -> Use:
    base_id = fields.uuid("knowledge_base_id", request.knowledge_base_id)
    return Use(base_id, Purpose.SOURCE, fields.uuid("source_id", request.source_id))


def binding(request: pb.BindSecretRequest) -> tuple[UUID, UUID, Use]:
    """Who lends which secret to what."""
    with Fields() as fields:
        actor = fields.uuid("actor_user_id", request.actor_user_id)
        return actor, fields.uuid("secret_id", request.secret_id), _source_use(fields, request)


def opening(request: pb.OpenSecretRequest) -> OpeningWish:
    """Which secret is needed, and what for."""
    with Fields() as fields:
        base_id = fields.uuid("knowledge_base_id", request.knowledge_base_id)
        purpose = fields.choice("purpose", request.purpose, _PURPOSES, Purpose.EMBEDDING)
        source_id = None
        if purpose is Purpose.SOURCE:
            source_id = fields.uuid("source_id", request.source_id)
        elif request.source_id:
            fields.refuse("source_id", "This goes with the purpose SOURCE.")
        return OpeningWish(
            secret_id=fields.uuid("secret_id", request.secret_id),
            use=Use(base_id, purpose, source_id),
            actor=fields.optional_uuid("actor_user_id", request.actor_user_id),
        )


def secret(row: Secret) -> pb.Secret:
    """A secret, every field set; not what it holds."""
    keeping = row.keeping
    message = pb.Secret(
        id=str(row.id),
        organization_id=str(keeping.organization_id),
        kind=_KIND_CODES[row.kind],
        display_name=row.display_name,
        hint=row.hint,
        visibility=_VISIBILITY_CODES[keeping.visibility],
        team_id=str(keeping.team_id or ""),
        owner_user_id=str(keeping.owner_user_id or ""),
    )
    message.create_time.FromDatetime(row.create_time)
    message.update_time.FromDatetime(row.update_time)
    message.value_time.FromDatetime(row.value_time)
    return message


def opened(value: Value) -> pb.OpenSecretResponse:
    """What a secret holds."""
    message = pb.OpenSecretResponse()
    holder = getattr(message.value, value.kind)
    for name, text in value.values.items():
        setattr(holder, name, text)
    return message


def rewrapped(done: Rewrapped) -> pb.RewrapSecretsResponse:
    """What became of a page of the vault."""
    return pb.RewrapSecretsResponse(
        key_version=done.key_version,
        rewrapped=done.rewrapped,
        unreadable_secret_ids=map(str, done.unreadable),
        remaining=done.remaining,
        next_page_token=done.next_page_token,
    )
