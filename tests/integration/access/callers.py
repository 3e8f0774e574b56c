"""How tests call access: as a person of some name, as an agent of hers, or as a service."""

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from grpc.aio import AioRpcError

from acervo.access.v1 import (
    access_pb2,
    agents_pb2,
    budgets_pb2,
    endpoints_pb2,
    grants_pb2,
    secrets_pb2,
    teams_pb2,
)
from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.access.v1.access_pb2_grpc import AccessServiceStub
from acervo.access.v1.accounts_pb2_grpc import AccountServiceStub
from acervo.access.v1.agents_pb2_grpc import AgentServiceStub
from acervo.access.v1.audit_pb2_grpc import AuditServiceStub
from acervo.access.v1.budgets_pb2_grpc import BudgetServiceStub
from acervo.access.v1.collections_pb2_grpc import CollectionServiceStub
from acervo.access.v1.endpoints_pb2_grpc import EndpointServiceStub
from acervo.access.v1.grants_pb2_grpc import GrantServiceStub
from acervo.access.v1.knowledge_bases_pb2_grpc import KnowledgeBaseServiceStub
from acervo.access.v1.organizations_pb2_grpc import OrganizationServiceStub
from acervo.access.v1.secrets_pb2_grpc import SecretServiceStub
from acervo.access.v1.teams_pb2_grpc import TeamServiceStub
from services.shared.client import CallOptions, call_options
from services.shared.identity import AGENT_CLAIM, user_id
from services.shared.ids import uuid7
from tests.signing import PEOPLE, Signer

if TYPE_CHECKING:
    from acervo.access.v1.access_pb2_grpc import AccessServiceAsyncStub
    from acervo.access.v1.accounts_pb2_grpc import AccountServiceAsyncStub
    from acervo.access.v1.agents_pb2_grpc import AgentServiceAsyncStub
    from acervo.access.v1.audit_pb2_grpc import AuditServiceAsyncStub
    from acervo.access.v1.budgets_pb2_grpc import BudgetServiceAsyncStub
    from acervo.access.v1.collections_pb2_grpc import CollectionServiceAsyncStub
    from acervo.access.v1.endpoints_pb2_grpc import EndpointServiceAsyncStub
    from acervo.access.v1.grants_pb2_grpc import GrantServiceAsyncStub
    from acervo.access.v1.knowledge_bases_pb2_grpc import KnowledgeBaseServiceAsyncStub
    from acervo.access.v1.organizations_pb2_grpc import OrganizationServiceAsyncStub
    from acervo.access.v1.secrets_pb2_grpc import SecretServiceAsyncStub
    from acervo.access.v1.teams_pb2_grpc import TeamServiceAsyncStub

ADMIN = "root"
STRANGE_AGENT = str(UUID(int=77))


def person_id(name: str) -> UUID:
    return user_id(PEOPLE, name)


class Issuers(Protocol):
    """What tokens are made with."""

    people: Signer

    def person(self, subject: str = ...) -> str: ...
    def service(self, caller: str, callee: str) -> str: ...


class Access:
    """The services of access, and tokens to call them with."""

    def __init__(self, channel: grpc.aio.Channel, trust: Issuers, admin: str = ADMIN) -> None:
        self._trust = trust
        self.channel = channel
        self.admin = admin
        self.rules: AccessServiceAsyncStub = AccessServiceStub(channel)
        self.organizations: OrganizationServiceAsyncStub = OrganizationServiceStub(channel)
        self.bases: KnowledgeBaseServiceAsyncStub = KnowledgeBaseServiceStub(channel)
        self.accounts: AccountServiceAsyncStub = AccountServiceStub(channel)
        self.collections: CollectionServiceAsyncStub = CollectionServiceStub(channel)
        self.teams: TeamServiceAsyncStub = TeamServiceStub(channel)
        self.agents: AgentServiceAsyncStub = AgentServiceStub(channel)
        self.grants: GrantServiceAsyncStub = GrantServiceStub(channel)
        self.audit: AuditServiceAsyncStub = AuditServiceStub(channel)
        self.secrets: SecretServiceAsyncStub = SecretServiceStub(channel)
        self.endpoints: EndpointServiceAsyncStub = EndpointServiceStub(channel)
        self.budgets: BudgetServiceAsyncStub = BudgetServiceStub(channel)

    def id(self, name: str) -> str:
        return str(user_id(self._trust.people.issuer, name))

    def person(self, name: str) -> CallOptions:
        return call_options(self._trust.person(name))

    def agent(self, name: str, agent_id: str = STRANGE_AGENT) -> CallOptions:
        return call_options(self._trust.people.sign(sub=name, **{AGENT_CLAIM: agent_id}))

    def service(self, name: str) -> CallOptions:
        return call_options(self._trust.service(name, "access"))

    async def organization(self, owner: str, display_name: str = "Acme", **members: org.Role) -> str:
        """Make an organization with members of the given roles; return its id."""
        request = org.CreateOrganizationRequest(display_name=display_name)
        made = await self.organizations.CreateOrganization(request, **self.person(owner))
        for name, role in members.items():
            await self.add(owner, made.organization.id, name, role)
        return made.organization.id

    async def add(self, giver: str, organization_id: str, name: str, role: org.Role) -> org.Member:
        request = org.AddMemberRequest(organization_id=organization_id, user_id=self.id(name), role=role)
        return (await self.organizations.AddMember(request, **self.person(giver))).member

    async def remove(self, giver: str, organization_id: str, name: str) -> None:
        request = org.RemoveMemberRequest(organization_id=organization_id, user_id=self.id(name))
        await self.organizations.RemoveMember(request, **self.person(giver))

    async def team(self, maker: str, organization_id: str, *members: str) -> str:
        """Make a team of these members of an organization; return its id."""
        request = teams_pb2.CreateTeamRequest(organization_id=organization_id, display_name="Sales")
        made = await self.teams.CreateTeam(request, **self.person(maker))
        for name in members:
            await self.join(maker, made.team.id, name)
        return made.team.id

    async def register(self, maker: str, organization_id: str = "", display_name: str = "Clerk") -> str:
        """Register an agent of an organization, or of the maker's own; return its id."""
        request = agents_pb2.CreateAgentRequest(organization_id=organization_id, display_name=display_name)
        return (await self.agents.CreateAgent(request, **self.person(maker))).agent.id

    async def dismiss(self, caller: str, agent_id: str) -> None:
        await self.agents.DeleteAgent(agents_pb2.DeleteAgentRequest(agent_id=agent_id), **self.person(caller))

    async def join(self, giver: str, team_id: str, name: str) -> None:
        request = teams_pb2.AddTeamMemberRequest(team_id=team_id, user_id=self.id(name))
        await self.teams.AddTeamMember(request, **self.person(giver))

    async def leave(self, giver: str, team_id: str, name: str) -> None:
        request = teams_pb2.RemoveTeamMemberRequest(team_id=team_id, user_id=self.id(name))
        await self.teams.RemoveTeamMember(request, **self.person(giver))

    async def grant(self, giver: str, base_id: str, **grantee: str) -> grants_pb2.Grant:
        """Let `user_id`, `team_id` or `agent_id` view a base."""
        return await self._grant(giver, base_id, access_pb2.PERMISSION_VIEW, grantee)

    async def grant_edit(self, giver: str, base_id: str, **grantee: str) -> grants_pb2.Grant:
        """Let `user_id`, `team_id` or `agent_id` edit a base."""
        return await self._grant(giver, base_id, access_pb2.PERMISSION_EDIT, grantee)

    async def _grant(
        self, giver: str, base_id: str, permission: access_pb2.Permission, grantee: Mapping[str, Any]
    ) -> grants_pb2.Grant:
        request = grants_pb2.AddGrantRequest(knowledge_base_id=base_id, permission=permission, **grantee)
        return (await self.grants.AddGrant(request, **self.person(giver))).grant

    async def revoke(self, caller: str, grant_id: str) -> None:
        request = grants_pb2.RevokeGrantRequest(grant_id=grant_id)
        await self.grants.RevokeGrant(request, **self.person(caller))

    async def secret(self, maker: str, organization_id: str, **fields: Any) -> secrets_pb2.Secret:
        """Keep a secret of an organization: a private git_token where nothing else is said."""
        value = secrets_pb2.SecretValue(git_token=secrets_pb2.GitToken(token="ghp_1"))
        request = secrets_pb2.CreateSecretRequest(
            **{"organization_id": organization_id, "display_name": "Key", "value": value, **fields}
        )
        return (await self.secrets.CreateSecret(request, **self.person(maker))).secret

    async def endpoint(self, maker: str, organization_id: str = "", **fields: Any) -> endpoints_pb2.Endpoint:
        """Register an endpoint of an organization, or of the deployment."""
        request = endpoints_pb2.CreateEndpointRequest(
            **{
                "organization_id": organization_id,
                "display_name": "TEI",
                "base_url": "https://1.1.1.1/v1",
                **fields,
            }
        )
        return (await self.endpoints.CreateEndpoint(request, **self.person(maker))).endpoint

    async def lend(self, actor: str, secret_id: str, base_id: str, source_id: str) -> None:
        """Bind a secret to a source."""
        request = secrets_pb2.BindSecretRequest(
            actor_user_id=self.id(actor), secret_id=secret_id, knowledge_base_id=base_id, source_id=source_id
        )
        await self.secrets.BindSecret(request, **self.service("sync"))

    async def limit(self, manager: str, organization_id: str, micros: int | None) -> budgets_pb2.Budget:
        """Set what an organization may spend in a month."""
        request = budgets_pb2.SetBudgetRequest(organization_id=organization_id, limit_micros=micros)
        return (await self.budgets.SetBudget(request, **self.person(manager))).budget

    async def budget(self, manager: str, organization_id: str) -> budgets_pb2.Budget:
        request = budgets_pb2.GetBudgetRequest(organization_id=organization_id)
        return (await self.budgets.GetBudget(request, **self.person(manager))).budget

    async def reserve(self, service: str, base_id: str, micros: int = 1, reservation_id: str = "") -> str:
        """Set an amount aside; return the reservation's id."""
        reservation_id = reservation_id or str(uuid7())
        request = budgets_pb2.ReserveSpendRequest(
            reservation_id=reservation_id, knowledge_base_id=base_id, amount_micros=micros
        )
        await self.budgets.ReserveSpend(request, **self.service(service))
        return reservation_id

    async def settle(self, service: str, reservation_id: str, micros: int) -> None:
        request = budgets_pb2.SettleSpendRequest(reservation_id=reservation_id, amount_micros=micros)
        await self.budgets.SettleSpend(request, **self.service(service))

    async def base(self, maker: str, **fields: Any) -> kb.KnowledgeBase:
        """Make a base, personal and called `Notes` where nothing else is said."""
        request = kb.CreateKnowledgeBaseRequest(
            **{"display_name": "Notes", "scope": kb.SCOPE_PERSONAL, **fields}
        )
        return (await self.bases.CreateKnowledgeBase(request, **self.person(maker))).knowledge_base

    async def private_base(self, maker: str, organization_id: str) -> str:
        """Make a base of an organization that its maker alone sees, and return its id."""
        private = kb.VISIBILITY_PRIVATE
        made = await self.base(maker, scope=kb.SCOPE_ORG, organization_id=organization_id, visibility=private)
        return made.id

    async def update(self, caller: str, base_id: str, **fields: Any) -> kb.KnowledgeBase:
        """Change the fields of a base that are given."""
        mask = FieldMask(paths=set(fields) - {"request_id"})
        request = kb.UpdateKnowledgeBaseRequest(knowledge_base_id=base_id, update_mask=mask, **fields)
        return (await self.bases.UpdateKnowledgeBase(request, **self.person(caller))).knowledge_base

    async def delete(self, caller: str, base_id: str, request_id: str = "") -> None:
        request = kb.DeleteKnowledgeBaseRequest(knowledge_base_id=base_id, request_id=request_id)
        await self.bases.DeleteKnowledgeBase(request, **self.person(caller))

    async def resolve(
        self,
        options: CallOptions,
        *,
        ids: tuple[str, ...] = (),
        names: tuple[str, ...] = (),
        permission: access_pb2.Permission = access_pb2.PERMISSION_VIEW,
        actor: str = "",
    ) -> set[str]:
        """The ids of the bases that the targets come to."""
        targets = [access_pb2.Target(knowledge_base_id=base_id) for base_id in ids]
        targets += [access_pb2.Target(collection_name=name) for name in names]
        request = access_pb2.ResolveRequest(targets=targets, permission=permission, actor_user_id=actor)
        answer = await self.rules.Resolve(request, **options)
        return {base.id for base in answer.knowledge_bases}

    async def may(self, options: CallOptions, base_id: str) -> str:
        """What the caller may do with a base: "view edit", "view", or nothing."""
        wants = {"view": access_pb2.PERMISSION_VIEW, "edit": access_pb2.PERMISSION_EDIT}
        able = []
        for want, permission in wants.items():
            try:
                await self.resolve(options, ids=(base_id,), permission=permission)
            except AioRpcError as error:
                if error.code() is not grpc.StatusCode.NOT_FOUND:
                    raise
            else:
                able.append(want)
        return " ".join(able)


async def refusal(call: Awaitable[object]) -> AioRpcError:
    """The refusal of a call that must be refused."""
    with pytest.raises(AioRpcError) as refused:
        await call
    return refused.value


def told(error: AioRpcError) -> tuple[object, ...]:
    """All that a refusal says, but for the id of the request."""
    trailing = [pair for pair in error.trailing_metadata() or () if pair[0] != "x-request-id"]
    return error.code(), error.details(), sorted(trailing)
