"""Endpoints on the wire."""

from collections.abc import Mapping
from uuid import UUID

from acervo.access.v1 import endpoints_pb2 as pb
from services.access.endpoints import Endpoint, EndpointChange, EndpointKind, EndpointWish
from services.access.messages.decode import read_display_name
from services.access.messages.serving import read_address
from services.shared.fields import Fields
from services.shared.paging import PageRequest

_KINDS: Mapping[pb.EndpointKind, EndpointKind] = {
    pb.ENDPOINT_KIND_OLLAMA: EndpointKind.OLLAMA,
    pb.ENDPOINT_KIND_TEI: EndpointKind.TEI,
    pb.ENDPOINT_KIND_VLLM: EndpointKind.VLLM,
    pb.ENDPOINT_KIND_LM_STUDIO: EndpointKind.LM_STUDIO,
    pb.ENDPOINT_KIND_OTHER: EndpointKind.OTHER,
}
_KIND_CODES = {kind: code for code, kind in _KINDS.items()}


def wish(request: pb.CreateEndpointRequest) -> EndpointWish:
    """The endpoint that is to be registered."""
    with Fields() as fields:
        return EndpointWish(
            organization_id=fields.optional_uuid("organization_id", request.organization_id),
            kind=_kind(fields, request.kind) or EndpointKind.OTHER,
            display_name=read_display_name(fields, request.display_name),
            base_url=read_address(fields, "base_url", request.base_url),
        )


def change(request: pb.UpdateEndpointRequest) -> tuple[UUID, EndpointChange]:
    """What is to change of which endpoint."""
    with Fields() as fields:
        named, moved = request.HasField("display_name"), request.HasField("base_url")
        kind = _kind(fields, request.kind)
        if not named and not moved and kind is None:
            fields.refuse("display_name", "Give this, kind or base_url: something must change.")
        return fields.uuid("endpoint_id", request.endpoint_id), EndpointChange(
            kind=kind,
            display_name=read_display_name(fields, request.display_name) if named else None,
            base_url=read_address(fields, "base_url", request.base_url) if moved else None,
        )


def _kind(fields: Fields, code: pb.EndpointKind) -> EndpointKind | None:
    if code == pb.ENDPOINT_KIND_UNSPECIFIED:
        return None
    return fields.choice("kind", code, _KINDS, EndpointKind.OTHER)


def listing(request: pb.ListEndpointsRequest) -> tuple[UUID | None, PageRequest]:
    """Whose endpoints are asked for, and which part of them."""
    with Fields() as fields:
        return fields.optional_uuid("organization_id", request.organization_id), fields.page(request)


def endpoint(row: Endpoint) -> pb.Endpoint:
    """An endpoint, every field set that it has."""
    message = pb.Endpoint(
        id=str(row.id),
        organization_id=str(row.organization_id or ""),
        owner_user_id=str(row.owner_user_id),
        kind=_KIND_CODES[row.kind],
        display_name=row.display_name,
        base_url=row.base_url,
    )
    message.create_time.FromDatetime(row.create_time)
    message.update_time.FromDatetime(row.update_time)
    return message
