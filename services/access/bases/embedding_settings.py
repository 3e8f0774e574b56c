"""Who serves a base's embedding model, whose key pays, and where: what goes together. Model and width are the name's.

Pure: no clock, no ids, no I/O.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from services.shared.embedding_providers import CATALOGUE, Need, Provider
from services.shared.errors import FieldViolation


@dataclass(frozen=True, slots=True)
class Serving:
    """How the embedding model of a base is served."""

    provider: Provider = Provider.LOCAL
    secret_id: UUID | None = None
    """The key that pays: a secret of the base's organization, for that provider."""
    endpoint_id: UUID | None = None
    base_url: str = ""
    """Empty: the provider's own, or the endpoint's."""


LOCAL: Final = Serving()
"""By the models that are installed with the deployment."""


@dataclass(frozen=True, slots=True)
class ServingEdit:
    """Some fields of a serving, and what they are to be."""

    to: Serving = LOCAL
    named: frozenset[str] = frozenset()
    """Names of fields of `Serving`."""


NO_EDIT: Final = ServingEdit()


def apply(before: Serving, edit: ServingEdit) -> Serving:
    """What an edit comes to. With another provider goes what was the former one's and is not named anew."""
    moved = "provider" in edit.named and edit.to.provider is not before.provider
    start = Serving(edit.to.provider) if moved else before
    return replace(start, **{name: getattr(edit.to, name) for name in edit.named})


def redirects(before: Serving, after: Serving) -> bool:
    """Whether what is sent with the key goes elsewhere, so that whoever changes it lends the key anew."""
    return (before.provider, before.endpoint_id, before.base_url) != (
        after.provider,
        after.endpoint_id,
        after.base_url,
    )


def unnamed(before: Serving, after: Serving, named: frozenset[str]) -> Iterator[FieldViolation]:
    """What must be said beside a key that is named: where it goes. Who said so before may be another."""
    if "secret_id" not in named or after.secret_id in {None, before.secret_id}:
        return
    for field, path in (("endpoint_id", "embedding_endpoint_id"), ("base_url", "embedding_base_url")):
        if getattr(after, field) and field not in named:
            yield FieldViolation(path, "Name this as well, as it is to be: the key is sent there.")


def violations(serving: Serving, *, in_organization: bool, complete: bool) -> Iterator[FieldViolation]:
    """What is wrong with a serving. Outside organizations there is no vault, and so no key.

    What is required may be missing unless it must be `complete`: it was unbound or deleted, and is missed when needed.
    """
    terms = CATALOGUE[serving.provider]
    if terms.key is Need.REQUIRED and not in_organization:
        message = f"{serving.provider} needs a key, and outside an organization there is no vault."
        yield FieldViolation("embedding_provider", message)
        return
    key = terms.key if in_organization else Need.REFUSED
    given = {
        "embedding_secret_id": (key, serving.secret_id is not None),
        "embedding_endpoint_id": (terms.endpoint, serving.endpoint_id is not None),
        "embedding_base_url": (terms.base_url, bool(serving.base_url)),
    }
    for path, (need, there) in given.items():
        if there and need is Need.REFUSED:
            yield FieldViolation(path, f"{serving.provider} takes none here.")
        elif complete and not there and need is Need.REQUIRED:
            yield FieldViolation(path, f"{serving.provider} needs this.")
