"""The refusals that only access makes; those of every service are in `services.shared.errors`."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import islice
from typing import Final
from uuid import UUID

from acervo.common.v1.error_reason_pb2 import ErrorReason
from services.access.budget import Month, shortage
from services.shared.errors import AcervoError, FieldViolation, NotFound

# As many as a message, and a header, have room for.
_TOLD: Final = 5
_LISTED: Final = 50
_LETTERS: Final = 40


class RoleNotExceeded(AcervoError):
    """The role that is given or taken is not exceeded by the giver's own."""

    def __init__(self) -> None:
        super().__init__(ErrorReason.ERROR_REASON_ROLE_NOT_EXCEEDED)


class LastOwner(AcervoError):
    """The change would leave an organization without an owner."""

    def __init__(self, organizations: Sequence[UUID] = ()) -> None:
        """`organizations` are told where the caller named none."""
        reason = ErrorReason.ERROR_REASON_LAST_OWNER
        if not organizations:
            super().__init__(reason)
            return
        super().__init__(
            reason,
            f"These organizations have no other owner: {_told(organizations)}.",
            metadata={"organizations": _listed(organizations)},
        )


class EmbeddingConflict(AcervoError):
    """The chosen embedding settings are not those of the collection."""

    def __init__(self, paths: Sequence[str]) -> None:
        """`paths` are the fields that contradict it."""
        super().__init__(
            ErrorReason.ERROR_REASON_EMBEDDING_SETTINGS_CONFLICT,
            fields=[FieldViolation(path, "The collection has another one already.") for path in paths],
        )


class CollectionAmbiguous(AcervoError):
    """A write named a collection that several of the caller's bases hold."""

    def __init__(self, bases: Sequence[UUID] = ()) -> None:
        """`bases` are told to who may know of all of them."""
        reason = ErrorReason.ERROR_REASON_COLLECTION_AMBIGUOUS
        if not bases:
            super().__init__(reason)
            return
        super().__init__(
            reason,
            f"Several knowledge bases hold this collection name: {_told(bases)}.",
            metadata={"knowledge_bases": _listed(bases)},
        )


class BaseInUse(AcervoError):
    """The base is granted to agents."""

    def __init__(self, agents: Mapping[UUID, str]) -> None:
        """`agents` are those of which the caller may know, by id, with their names; there may be more."""
        reason = ErrorReason.ERROR_REASON_BASE_IN_USE
        if not agents:
            super().__init__(reason)
            return
        told = [f"{_cut(name)} ({agent_id})" for agent_id, name in agents.items()]
        super().__init__(
            reason,
            f"Agents hold this knowledge base: {_told(told)}.",
            metadata={"agents": _listed(agents)},
        )


class BudgetExhausted(AcervoError):
    """The organization may not spend so much more in this month."""

    def __init__(self, month: Month, amount: int, period: date) -> None:
        figures = {
            "limit_micros": month.limit or 0,
            "spent_micros": month.spent,
            "reserved_micros": month.reserved,
            "amount_micros": amount,
        }
        super().__init__(
            ErrorReason.ERROR_REASON_BUDGET_EXHAUSTED,
            shortage(month, amount),
            metadata={"period": f"{period:%Y-%m}", **{name: str(value) for name, value in figures.items()}},
        )


class VaultClosed(AcervoError):
    """The deployment has no master key."""

    def __init__(self) -> None:
        super().__init__(ErrorReason.ERROR_REASON_VAULT_CLOSED)


class SecretGone(AcervoError):
    """The secret that is bound there was deleted."""

    def __init__(self) -> None:
        super().__init__(ErrorReason.ERROR_REASON_SECRET_GONE)


class SecretUnreadable(AcervoError):
    """No master key at hand opens the secret."""

    def __init__(self) -> None:
        super().__init__(ErrorReason.ERROR_REASON_SECRET_UNREADABLE)


def _told(things: Sequence[object]) -> str:
    more = f" and {len(things) - _TOLD} more" if len(things) > _TOLD else ""
    return ", ".join(map(str, things[:_TOLD])) + more


def _listed(ids: Iterable[UUID]) -> str:
    return ",".join(map(str, islice(ids, _LISTED)))


def _cut(name: str) -> str:
    return name if len(name) <= _LETTERS else f"{name[:_LETTERS]}…"


class OrganizationNotFound(NotFound):
    """There is no such organization, or the caller may not do this in it."""

    def __init__(self) -> None:
        super().__init__("organization")


class MemberNotFound(NotFound):
    """The person is no member."""

    def __init__(self) -> None:
        super().__init__("member")


class BaseNotFound(NotFound):
    """There is no such base, or the caller does not reach it."""

    def __init__(self) -> None:
        super().__init__("knowledge base")


class TeamNotFound(NotFound):
    """There is no such team, or the caller may not do this with it."""

    def __init__(self) -> None:
        super().__init__("team")


class AgentNotFound(NotFound):
    """There is no such agent, it is not of the base's organization, or the caller may not do this with it."""

    def __init__(self) -> None:
        super().__init__("agent")


class GrantNotFound(NotFound):
    """There is no such grant, or the caller does not manage its base."""

    def __init__(self) -> None:
        super().__init__("grant")


class SecretNotFound(NotFound):
    """There is no such secret, the caller may not do this with it, or it is of no kind that is wanted here."""

    def __init__(self) -> None:
        super().__init__("secret")


class EndpointNotFound(NotFound):
    """There is no such endpoint, the caller may not do this with it, or none may be registered there."""

    def __init__(self) -> None:
        super().__init__("endpoint")


class VaultNotFound(NotFound):
    """The caller keeps no vault: only the deployment's admin does."""

    def __init__(self) -> None:
        super().__init__("vault")


class AuditLogNotFound(NotFound):
    """The deployment's audit log is not the caller's to read."""

    def __init__(self) -> None:
        super().__init__("audit log")


class CollectionNotFound(NotFound):
    """No base holds the name, or the caller may not know."""

    def __init__(self) -> None:
        super().__init__("collection")


class AccountNotFound(NotFound):
    """The account is not the caller's."""

    def __init__(self) -> None:
        super().__init__("account")


class ReservationNotFound(NotFound):
    """There is no such reservation, or another service made it."""

    def __init__(self) -> None:
        super().__init__("reservation")
