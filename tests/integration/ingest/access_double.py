"""Stands in for access over real gRPC: it says what tests want, and remembers what it was asked."""

import asyncio
from typing import Any

from grpc.aio import ServicerContext

from acervo.access.v1.access_pb2 import (
    PERMISSION_EDIT,
    Permission,
    ResolveRequest,
    ResolveResponse,
    WhoAmIRequest,
    WhoAmIResponse,
)
from acervo.access.v1.access_pb2_grpc import AccessServiceServicer
from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from services.shared import auth
from services.shared.errors import AcervoError, NotFound
from services.shared.reasons import reason_of
from services.shared.server import Callers

CALLERS = {f"/acervo.access.v1.AccessService/{name}": Callers.ANY for name in ("Resolve", "WhoAmI")}


class AccessDouble(AccessServiceServicer):
    """Lets a subject reach the bases that it was granted, for the permissions that it was granted."""

    def __init__(self) -> None:
        self.grants: dict[str, dict[str, set[Permission]]] = {}
        self.bases: dict[str, KnowledgeBase] = {}
        self.asked: list[tuple[str, int]] = []
        self.gates: dict[str, asyncio.Event] = {}
        """Events that an answer about a base waits for."""

    def grant(self, subject: str, base: KnowledgeBase, *permissions: Permission) -> None:
        self.bases[base.id] = base
        self.grants.setdefault(subject, {})[base.id] = set(permissions)

    def revoke(self, subject: str, base: KnowledgeBase) -> None:
        self.grants[subject].pop(base.id)

    async def Resolve(  # noqa: N802
        self, request: ResolveRequest, context: ServicerContext[Any, Any]
    ) -> ResolveResponse:
        caller = auth.current()
        self.asked.append((caller.subject, len(request.targets)))
        reached: dict[str, KnowledgeBase] = {}
        for target in request.targets:
            if target.knowledge_base_id in self.gates:
                await self.gates[target.knowledge_base_id].wait()
            found = [
                self.bases[base_id]
                for base_id, permissions in self.grants.get(caller.subject, {}).items()
                if request.permission in permissions
                and (
                    base_id == target.knowledge_base_id
                    or self.bases[base_id].collection_name == target.collection_name
                )
            ]
            if not found:
                raise NotFound("knowledge base")
            reached |= {base.id: base for base in found}
            if len(found) > 1 and request.permission == PERMISSION_EDIT:
                raise AcervoError(reason_of("COLLECTION_AMBIGUOUS"))
        return ResolveResponse(knowledge_bases=reached.values())

    async def WhoAmI(self, request: WhoAmIRequest, context: ServicerContext[Any, Any]) -> WhoAmIResponse:  # noqa: N802
        return WhoAmIResponse()
