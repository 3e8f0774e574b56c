"""Addresses, and who serves a base's embedding model, as requests hold them."""

from collections.abc import Collection, Mapping
from typing import Final

from acervo.access.v1 import knowledge_bases_pb2 as pb
from services.access.bases.embedding_settings import Serving, ServingEdit
from services.shared.egress import AddressInvalid, parse_address
from services.shared.embedding_providers import Provider
from services.shared.fields import Fields

SERVING: Final[Mapping[str, str]] = {
    "embedding_provider": "provider",
    "embedding_secret_id": "secret_id",
    "embedding_endpoint_id": "endpoint_id",
    "embedding_base_url": "base_url",
}
"""Fields of requests, and those of a `Serving` that they are."""
_PROVIDERS: Final = {provider.value: provider for provider in Provider}


def read_address(fields: Fields, path: str, text: str) -> str:
    """The address of a server, in the form in which it is kept."""
    try:
        return parse_address(text).url
    except AddressInvalid as invalid:
        fields.refuse(path, str(invalid))
        return ""


def read_serving(
    fields: Fields,
    request: pb.CreateKnowledgeBaseRequest | pb.UpdateKnowledgeBaseRequest,
    named: Collection[str],
) -> ServingEdit:
    """What is named of who serves the model; a named field that is empty is cleared."""
    provider, address = Provider.LOCAL, ""
    if "embedding_provider" in named:
        if request.embedding_provider not in _PROVIDERS:
            fields.refuse("embedding_provider", f"This must be one of {', '.join(_PROVIDERS)}.")
        provider = _PROVIDERS.get(request.embedding_provider, provider)
    if "embedding_base_url" in named and request.embedding_base_url:
        address = read_address(fields, "embedding_base_url", request.embedding_base_url)
    ids = {
        path: fields.optional_uuid(path, getattr(request, path)) if path in named else None
        for path in ("embedding_secret_id", "embedding_endpoint_id")
    }
    return ServingEdit(
        Serving(provider, ids["embedding_secret_id"], ids["embedding_endpoint_id"], address),
        frozenset(SERVING[path] for path in named if path in SERVING),
    )


def given_serving(request: pb.CreateKnowledgeBaseRequest) -> frozenset[str]:
    """The fields of a new base's serving that are not left to the collection."""
    return frozenset(path for path in SERVING if getattr(request, path))
