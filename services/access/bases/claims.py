"""Who may make a base on which collection name.

The space of names is the whole deployment's, and bases of one name share a table: a name that somebody else
holds, or that is being torn down, is not to be had. Pure: no clock, no ids, no I/O.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import UUID

from services.access.bases.embedding_settings import LOCAL, Serving
from services.shared.embedding_providers import Provider


@dataclass(frozen=True, slots=True)
class Embedding:
    """The space that a collection's vectors live in."""

    model: str
    width: int
    """Number of dimensions, 1 to 4096."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A base on the name."""

    editable: bool
    """Whether the claimant may write to it."""
    hidden: bool
    """Whether it holds content that no organization or person owns."""
    serving: Serving = LOCAL
    """Who serves its embedding model."""
    organization_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """What is known of a name, under its row's lock."""

    embedding: Embedding
    """What it has; what the claimant asked for, where it is new."""
    holders: Sequence[Holder]
    """Oldest first."""
    teardowns: int
    """How many deletions of bases of this name are not answered by every service yet."""

    @property
    def serving(self) -> Serving | None:
        """What a new base adopts: the oldest holder's. None where the name is free."""
        return self.holders[0].serving if self.holders else None

    def serving_for(self, organization_id: UUID | None) -> Serving:
        """What a base of that organization takes over: no address that another one's people named."""
        if not self.holders:
            return LOCAL
        oldest = self.holders[0]
        at_home = oldest.organization_id == organization_id
        return oldest.serving if at_home else replace(oldest.serving, base_url="")

    @property
    def reserved(self) -> bool:
        """Whether nobody may have it until its teardowns are answered."""
        return self.teardowns > 0 and not self.holders


@dataclass(frozen=True, slots=True)
class Claimant:
    """Who wants the name, for what."""

    deployment_admin: bool
    outside_organizations: bool
    """Whether the base is a personal one outside any organization: it takes over nothing unowned."""


class Verdict(StrEnum):
    """What becomes of a claim."""

    GRANTED = "granted"
    TAKEN = "taken"
    EMBEDDING_CONFLICT = "embedding_conflict"
    """The name's embedding settings are others than the claimant chose."""


def judge(
    name: Name, claimant: Claimant, wanted: Embedding | None, provider: Provider | None = None
) -> Verdict:
    """Decide on a claim; `wanted` and `provider` are the claimant's own choices, None to take what is there."""
    if name.reserved or not all(_yields(holder, claimant) for holder in name.holders):
        return Verdict.TAKEN
    return Verdict.EMBEDDING_CONFLICT if conflicts(name, wanted, provider) else Verdict.GRANTED


def conflicts(name: Name, wanted: Embedding | None, provider: Provider | None = None) -> Sequence[str]:
    """The fields in which a claimant's choice contradicts what the name has."""
    found = []
    if wanted is not None and wanted.model != name.embedding.model:
        found.append("embedding.model")
    if wanted is not None and wanted.width != name.embedding.width:
        found.append("embedding.width")
    if provider is not None and name.serving is not None and provider is not name.serving.provider:
        found.append("embedding_provider")
    return found


def _yields(holder: Holder, claimant: Claimant) -> bool:
    if holder.hidden:
        return claimant.deployment_admin and not claimant.outside_organizations
    return holder.editable
