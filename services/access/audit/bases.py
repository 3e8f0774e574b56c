"""What the audit log tells of a knowledge base. Pure: no clock, no ids, no I/O."""

from uuid import UUID

from services.access.audit.events import Action, Details, Event, ObjectKind, details
from services.access.bases.embedding_settings import Serving
from services.access.reach import BaseScope, Holding

_ENDS = frozenset({Action.KNOWLEDGE_BASE_EMPTIED, Action.KNOWLEDGE_BASE_DELETED})


def of_base(
    action: Action, base_id: UUID, holding: Holding, *, display_name: str, collection_name: str
) -> Event:
    """What became of a base.

    An organization's log does not tell its readers what a member's personal base is called.
    """
    private = holding.scope is BaseScope.PERSONAL and holding.organization_id is not None
    told = details(
        display_name=None if private else display_name,
        collection_name=None if private else collection_name,
        scope=holding.scope,
        visibility=holding.visibility,
        team_id=holding.team_id,
    )
    before: Details = told if action in _ENDS else {}
    return Event(
        action,
        holding.organization_id,
        ObjectKind.KNOWLEDGE_BASE,
        base_id,
        before=before,
        after={} if before else told,
        deployment=holding.scope is BaseScope.APP,
    )


def of_change(
    base_id: UUID, before: tuple[Holding, str, Serving], after: tuple[Holding, str, Serving], *, config: bool
) -> Event | None:
    """What changed of a base; None where nothing did. `config`: whether its ingestion configuration did.

    A change of the configuration is told without what it holds.
    """
    told_before, told_after = _told(*before), _told(*after)
    if told_before == told_after and not config:
        return None
    holding = after[0]
    return Event(
        Action.KNOWLEDGE_BASE_UPDATED,
        holding.organization_id,
        ObjectKind.KNOWLEDGE_BASE,
        base_id,
        before=told_before,
        after=told_after,
        deployment=holding.scope is BaseScope.APP,
    )


def _told(holding: Holding, display_name: str, serving: Serving) -> Details:
    private = holding.scope is BaseScope.PERSONAL and holding.organization_id is not None
    return details(
        display_name=None if private else display_name,
        visibility=holding.visibility,
        team_id=holding.team_id,
        provider=serving.provider,
        endpoint_id=serving.endpoint_id,
        secret_id=serving.secret_id,
        base_url=serving.base_url or None,
    )
