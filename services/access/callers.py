"""From a verified token to a caller as the rules of access know it."""

from collections.abc import Set as AbstractSet
from uuid import UUID

from services.access.reach import Caller, CallerKind
from services.shared import auth
from services.shared.auth import PrincipalKind
from services.shared.errors import ServicesOnly


class Callers:
    """Tells who calls. `admins` are the deployment's."""

    def __init__(self, admins: AbstractSet[UUID]) -> None:
        self._admins = admins

    def current(self) -> Caller:
        """Who makes the call at hand."""
        principal = auth.current()
        if principal.kind is PrincipalKind.SERVICE:
            return Caller(CallerKind.SERVICE, None, service=principal.service or "")
        if principal.kind is PrincipalKind.USER and principal.user_id is not None:
            return self.person(principal.user_id)
        return Caller(CallerKind.AGENT, principal.user_id, agent_id=principal.agent_id)

    def acting_for(self, actor: UUID | None) -> Caller:
        """Who makes the call at hand, or the person in whose name a service makes it.

        Raises ServicesOnly where anybody else names one.
        """
        caller = self.current()
        if actor is None:
            return caller
        if caller.kind is not CallerKind.SERVICE:
            raise ServicesOnly
        return self.person(actor)

    def person(self, user_id: UUID) -> Caller:
        """What somebody is who need not call."""
        return Caller(CallerKind.PERSON, user_id, user_id in self._admins)
