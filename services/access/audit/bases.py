"""What the audit log tells of a knowledge base. Pure: no clock, no ids, no I/O."""

from uuid import UUID

from services.access.audit.events import Action, Details, Event, ObjectKind, details
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
