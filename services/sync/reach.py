"""What access lets people reach. Asked anew each time: nothing is remembered, and no answer refuses."""

from dataclasses import dataclass
from uuid import UUID

from acervo.access.v1 import access_pb2 as pb
from acervo.access.v1.access_pb2 import Permission, ResolveRequest, Target, WhoAmIRequest
from acervo.common.v1 import error_reason_pb2 as reasons
from services.shared.client import Peers, refusals
from services.shared.errors import AcervoError, NotFound
from services.shared.reach import NO_BASE, resolve, target
from services.sync.sources import Source


@dataclass(frozen=True, slots=True)
class Base:
    """A knowledge base that somebody may reach. `tenant_id` is whose turn its work counts as."""

    id: UUID
    tenant_id: UUID


class Reach:
    """Asks access: in the name of whoever calls us, or in that of a source's owner."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers

    async def base_to_view(self, base_id: UUID) -> Base:
        """Return a base that the caller may view. Raises NotFound."""
        return await self._resolve(target(base_id), pb.PERMISSION_VIEW)

    async def base_for_local_source(self, named: Target) -> Base:
        """Return a base that the caller may edit, who is the deployment's admin: so a source of local files wants it.

        Raises:
            NotFound: of a base, whichever of these lacks.
            AcervoError: COLLECTION_AMBIGUOUS where the target's name stands for several bases.
        """
        admin = await self.is_admin()
        base = await self._resolve(named, pb.PERMISSION_EDIT)
        if not admin:
            raise NotFound("knowledge base")
        return base

    async def view(self, source: Source | None, kind: str) -> Source:
        """Let pass whoever may view the source's base or, where that was deleted, the deployment's admin.

        Raises:
            NotFound: of a `kind` of thing, whether it is absent or out of reach.
        """
        _, found = await self._weigh(source, pb.PERMISSION_VIEW, kind)
        return found

    async def edit(self, source: Source | None) -> Source:
        """Let pass the deployment's admin who may edit the source's base, if that is still there. Raises NotFound."""
        admin, found = await self._weigh(source, pb.PERMISSION_EDIT, "source")
        if not admin:
            raise NotFound("source")
        return found

    async def _weigh(self, source: Source | None, permission: Permission, kind: str) -> tuple[bool, Source]:
        admin = await self.is_admin()
        base_id = NO_BASE if source is None else source.knowledge_base_id
        try:
            await self._resolve(target(base_id), permission)
        except NotFound:
            if source is None or not (source.detached and admin):
                raise NotFound(kind) from None
        if source is None:
            raise NotFound(kind)
        return admin, source

    async def is_admin(self) -> bool:
        """Whether the caller is the deployment's admin."""
        answer = await self._peers.access().WhoAmI(WhoAmIRequest(), **self._peers.forward("access"))
        return answer.deployment_admin

    async def authorise_owner(self, base_id: UUID, owner_user_id: UUID) -> None:
        """Let a run pass whose source's owner is still the deployment's admin and may still edit the base.

        Raises:
            AcervoError: OWNER_LOST_ACCESS.
        """
        owner = str(owner_user_id)
        request = ResolveRequest(
            targets=[target(base_id)], permission=pb.PERMISSION_EDIT, actor_user_id=owner
        )
        access = self._peers.access()
        try:
            with refusals():
                who = await access.WhoAmI(WhoAmIRequest(actor_user_id=owner), **self._peers.own("access"))
                await access.Resolve(request, **self._peers.own("access"))
        except AcervoError as refusal:
            if refusal.reason == reasons.ERROR_REASON_NOT_FOUND:
                raise AcervoError(reasons.ERROR_REASON_OWNER_LOST_ACCESS) from None
            raise
        if not who.deployment_admin:
            raise AcervoError(reasons.ERROR_REASON_OWNER_LOST_ACCESS)

    async def _resolve(self, named: Target, permission: Permission) -> Base:
        (base,) = await resolve(self._peers, [named], permission)
        return Base(UUID(base.id), UUID(base.organization_id or base.id))
