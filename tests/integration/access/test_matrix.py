"""Every method of access against every kind of caller."""

from collections.abc import Awaitable
from typing import Any, Final
from uuid import uuid4

import pytest
from google.protobuf.field_mask_pb2 import FieldMask

from acervo.access.v1 import (
    access_pb2,
    accounts_pb2,
    agents_pb2,
    audit_pb2,
    budgets_pb2,
    collections_pb2,
    grants_pb2,
    teams_pb2,
)
from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.common.v1 import error_reason_pb2 as reasons
from services.access.rpc import CALLERS
from services.shared.db import Pool
from services.shared.ids import uuid7
from tests.integration.access.callers import Access
from tests.integration.access.endpoint_rows import ROWS as ENDPOINT_ROWS
from tests.integration.access.matrix_world import EDIT_ALL, EDITORS, MANAGERS, READERS, World
from tests.integration.access.secret_rows import ROWS as SECRET_ROWS
from tests.matrix import AGENTS, MEMBERS, PEOPLE, Asking, Kind, PoolStatements, Row, check
from tests.signing import Trust

VIEW, EDIT = access_pb2.PERMISSION_VIEW, access_pb2.PERMISSION_EDIT


DEPLOYMENT = audit_pb2.AuditFilter(deployment=True)


def log_of(world: World) -> audit_pb2.AuditFilter:
    return audit_pb2.AuditFilter(organization_id=world.organization)


def resolve(base: str, permission: access_pb2.Permission) -> access_pb2.ResolveRequest:
    return access_pb2.ResolveRequest(
        targets=[access_pb2.Target(knowledge_base_id=base)], permission=permission
    )


def update(base: str, **fields: Any) -> kb.UpdateKnowledgeBaseRequest:
    mask = FieldMask(paths=fields)
    return kb.UpdateKnowledgeBaseRequest(knowledge_base_id=base, update_mask=mask, **fields)


ACCESS = "/acervo.access.v1.AccessService/"
ORGANIZATIONS = "/acervo.access.v1.OrganizationService/"
BASES = "/acervo.access.v1.KnowledgeBaseService/"
TEAMS = "/acervo.access.v1.TeamService/"
BUDGETS = "/acervo.access.v1.BudgetService/"
AGENT = "/acervo.access.v1.AgentService/"
GRANTS = "/acervo.access.v1.GrantService/"
AUDIT = "/acervo.access.v1.AuditService/"
COLLECTIONS = "/acervo.access.v1.CollectionService/"
ACCOUNTS = "/acervo.access.v1.AccountService/"
LAST_OWNER = reasons.ERROR_REASON_LAST_OWNER
IN_USE = reasons.ERROR_REASON_BASE_IN_USE
MATRIX: Final[dict[str, list[Row[World]]]] = {
    f"{ACCESS}Resolve": [
        Row(lambda w: resolve(w.held, VIEW), READERS | {Kind.AGENT, Kind.SERVICE}, lasting=True),
        Row(lambda w: resolve(w.held, EDIT), EDITORS | {Kind.SERVICE}, lasting=True),
        Row(lambda w: resolve(w.app, VIEW), PEOPLE | {Kind.SERVICE}, lasting=True),
        Row(lambda w: resolve(w.app, EDIT), frozenset({Kind.OPERATOR, Kind.SERVICE}), lasting=True),
    ],
    f"{ACCESS}WhoAmI": [
        Row(
            lambda w: access_pb2.WhoAmIRequest(),
            PEOPLE | AGENTS | {Kind.SERVICE},
            of_oneself=True,
            lasting=True,
        )
    ],
    f"{ORGANIZATIONS}CreateOrganization": [
        Row(lambda w: org.CreateOrganizationRequest(display_name="New"), PEOPLE, of_oneself=True)
    ],
    f"{ORGANIZATIONS}ListOrganizations": [
        Row(lambda w: org.ListOrganizationsRequest(), PEOPLE | AGENTS, of_oneself=True, lasting=True)
    ],
    f"{ORGANIZATIONS}AddMember": [
        Row(
            lambda w: org.AddMemberRequest(
                organization_id=w.organization, user_id=str(uuid4()), role=org.ROLE_VIEWER
            ),
            MANAGERS,
        )
    ],
    f"{ORGANIZATIONS}TransferOwnership": [
        Row(
            lambda w: org.TransferOwnershipRequest(organization_id=w.organization, user_id=w.id(Kind.MEMBER)),
            frozenset({Kind.OWNER}),
        )
    ],
    f"{ORGANIZATIONS}RemoveMember": [
        Row(
            lambda w: org.RemoveMemberRequest(organization_id=w.organization, user_id=w.id(Kind.MEMBER)),
            MANAGERS | {Kind.MEMBER},
        )
    ],
    f"{ORGANIZATIONS}ListMembers": [
        Row(lambda w: org.ListMembersRequest(organization_id=w.organization), MEMBERS, lasting=True)
    ],
    f"{ORGANIZATIONS}DeleteOrganization": [
        Row(lambda w: org.DeleteOrganizationRequest(organization_id=w.organization), frozenset({Kind.OWNER}))
    ],
    f"{BASES}CreateKnowledgeBase": [
        Row(
            lambda w: kb.CreateKnowledgeBaseRequest(
                display_name="Mine", scope=kb.SCOPE_ORG, organization_id=w.organization
            ),
            EDIT_ALL | {Kind.MEMBER},
        ),
        Row(
            lambda w: kb.CreateKnowledgeBaseRequest(display_name="Mine", scope=kb.SCOPE_PERSONAL),
            PEOPLE,
            of_oneself=True,
        ),
        Row(
            lambda w: kb.CreateKnowledgeBaseRequest(display_name="All's", scope=kb.SCOPE_APP),
            frozenset({Kind.OPERATOR}),
            of_oneself=True,
        ),
    ],
    f"{BASES}GetKnowledgeBase": [
        Row(
            lambda w: kb.GetKnowledgeBaseRequest(knowledge_base_id=w.held),
            READERS | {Kind.AGENT},
            lasting=True,
        ),
        Row(lambda w: kb.GetKnowledgeBaseRequest(knowledge_base_id=w.app), PEOPLE, lasting=True),
    ],
    f"{BASES}ListKnowledgeBases": [
        Row(
            lambda w: kb.ListKnowledgeBasesRequest(organization_id=w.organization),
            MEMBERS | {Kind.AGENT},
            lasting=True,
        )
    ],
    f"{BASES}UpdateKnowledgeBase": [
        Row(lambda w: update(w.free, display_name="New"), EDITORS),
        Row(lambda w: update(w.free, visibility=kb.VISIBILITY_ORG), EDIT_ALL),
        Row(
            lambda w: update(
                w.free, embedding_provider="openai_compatible", embedding_endpoint_id=w.shared_endpoint
            ),
            EDITORS,
        ),
        Row(lambda w: update(w.app, display_name="New"), frozenset({Kind.OPERATOR})),
    ],
    f"{BASES}DeleteKnowledgeBase": [
        Row(lambda w: kb.DeleteKnowledgeBaseRequest(knowledge_base_id=w.free), EDITORS),
        Row(
            lambda w: kb.DeleteKnowledgeBaseRequest(knowledge_base_id=w.held),
            frozenset(),
            refused=dict.fromkeys(EDITORS, IN_USE),
        ),
    ],
    f"{COLLECTIONS}OpenOperatorBase": [
        Row(
            lambda w: collections_pb2.OpenOperatorBaseRequest(collection_name=f"operators_{w.number}"),
            frozenset({Kind.OPERATOR}),
            of_oneself=True,
        )
    ],
    f"{COLLECTIONS}InspectProvenance": [
        Row(
            lambda w: collections_pb2.InspectProvenanceRequest(collection_name=w.unowned),
            frozenset({Kind.OPERATOR}),
            lasting=True,
        )
    ],
    f"{COLLECTIONS}ConfirmProvenance": [
        Row(
            lambda w: collections_pb2.ConfirmProvenanceRequest(collection_name=w.unowned),
            frozenset({Kind.OPERATOR}),
        )
    ],
    f"{COLLECTIONS}DropCollection": [
        Row(
            lambda w: collections_pb2.DropCollectionRequest(collection_name=w.unowned),
            frozenset({Kind.OPERATOR}),
        )
    ],
    f"{ACCOUNTS}DeleteAccount": [
        Row(
            lambda w: accounts_pb2.DeleteAccountRequest(),
            PEOPLE - {Kind.OWNER, Kind.STRANGER},
            refused=dict.fromkeys((Kind.OWNER, Kind.STRANGER), LAST_OWNER),
            of_oneself=True,
        ),
        Row(
            lambda w: accounts_pb2.DeleteAccountRequest(user_id=w.id(Kind.MEMBER)),
            frozenset({Kind.MEMBER, Kind.OPERATOR}),
            of_oneself=True,
        ),
    ],
    f"{ORGANIZATIONS}RenameOrganization": [
        Row(
            lambda w: org.RenameOrganizationRequest(organization_id=w.organization, display_name="New"),
            MANAGERS,
        )
    ],
    f"{TEAMS}CreateTeam": [
        Row(
            lambda w: teams_pb2.CreateTeamRequest(organization_id=w.organization, display_name="New"),
            MANAGERS,
        )
    ],
    f"{TEAMS}ListTeams": [
        Row(lambda w: teams_pb2.ListTeamsRequest(organization_id=w.organization), MEMBERS, lasting=True)
    ],
    f"{TEAMS}RenameTeam": [
        Row(lambda w: teams_pb2.RenameTeamRequest(team_id=w.team, display_name="New"), MANAGERS)
    ],
    f"{TEAMS}DeleteTeam": [Row(lambda w: teams_pb2.DeleteTeamRequest(team_id=w.team), MANAGERS)],
    f"{TEAMS}AddTeamMember": [
        Row(lambda w: teams_pb2.AddTeamMemberRequest(team_id=w.team, user_id=w.id(Kind.VIEWER)), MANAGERS)
    ],
    f"{TEAMS}RemoveTeamMember": [
        Row(
            lambda w: teams_pb2.RemoveTeamMemberRequest(team_id=w.team, user_id=w.id(Kind.MEMBER)),
            MANAGERS | {Kind.MEMBER},
        )
    ],
    f"{TEAMS}ListTeamMembers": [
        Row(lambda w: teams_pb2.ListTeamMembersRequest(team_id=w.team), MEMBERS, lasting=True)
    ],
    f"{BUDGETS}SetBudget": [
        Row(lambda w: budgets_pb2.SetBudgetRequest(organization_id=w.organization, limit_micros=9), MANAGERS)
    ],
    f"{BUDGETS}GetBudget": [
        Row(lambda w: budgets_pb2.GetBudgetRequest(organization_id=w.organization), MANAGERS, lasting=True)
    ],
    f"{BUDGETS}ReserveSpend": [
        Row(
            lambda w: budgets_pb2.ReserveSpendRequest(
                reservation_id=str(uuid7()), knowledge_base_id=w.held, amount_micros=1
            ),
            frozenset({Kind.SERVICE}),
        )
    ],
    f"{BUDGETS}SettleSpend": [
        Row(
            lambda w: budgets_pb2.SettleSpendRequest(reservation_id=w.reservation, amount_micros=1),
            frozenset({Kind.SERVICE}),
        )
    ],
    f"{AGENT}CreateAgent": [
        Row(
            lambda w: agents_pb2.CreateAgentRequest(organization_id=w.organization, display_name="New"),
            MANAGERS,
        ),
        Row(lambda w: agents_pb2.CreateAgentRequest(display_name="New"), PEOPLE, of_oneself=True),
    ],
    f"{AGENT}ListAgents": [
        Row(lambda w: agents_pb2.ListAgentsRequest(organization_id=w.organization), MEMBERS, lasting=True),
        Row(lambda w: agents_pb2.ListAgentsRequest(), PEOPLE | AGENTS, of_oneself=True, lasting=True),
    ],
    f"{AGENT}RenameAgent": [
        Row(lambda w: agents_pb2.RenameAgentRequest(agent_id=w.agent, display_name="New"), MANAGERS),
        Row(
            lambda w: agents_pb2.RenameAgentRequest(agent_id=w.operators_agent, display_name="New"),
            frozenset({Kind.OPERATOR}),
        ),
    ],
    f"{AGENT}DeleteAgent": [Row(lambda w: agents_pb2.DeleteAgentRequest(agent_id=w.agent), MANAGERS)],
    f"{GRANTS}AddGrant": [
        Row(
            lambda w: grants_pb2.AddGrantRequest(
                knowledge_base_id=w.held, agent_id=w.other_agent, permission=VIEW
            ),
            EDIT_ALL,
        ),
        Row(
            lambda w: grants_pb2.AddGrantRequest(
                knowledge_base_id=w.held, user_id=w.id(Kind.VIEWER), permission=EDIT
            ),
            EDIT_ALL,
        ),
        Row(
            lambda w: grants_pb2.AddGrantRequest(
                knowledge_base_id=w.app, agent_id=w.operators_agent, permission=VIEW
            ),
            frozenset({Kind.OPERATOR}),
        ),
    ],
    f"{GRANTS}ListGrants": [
        Row(lambda w: grants_pb2.ListGrantsRequest(knowledge_base_id=w.held), EDIT_ALL, lasting=True)
    ],
    f"{GRANTS}RevokeGrant": [Row(lambda w: grants_pb2.RevokeGrantRequest(grant_id=w.grant), EDIT_ALL)],
    f"{GRANTS}ExplainAccess": [
        Row(
            lambda w: grants_pb2.ExplainAccessRequest(knowledge_base_id=w.held, user_id=w.id(Kind.VIEWER)),
            EDIT_ALL,
            lasting=True,
        )
    ],
    f"{AUDIT}ListAuditEvents": [
        Row(
            lambda w: audit_pb2.ListAuditEventsRequest(filter=log_of(w)),
            MANAGERS,
            lasting=True,
        ),
        Row(lambda w: audit_pb2.ListAuditEventsRequest(), PEOPLE | AGENTS, of_oneself=True, lasting=True),
        Row(
            lambda w: audit_pb2.ListAuditEventsRequest(filter=DEPLOYMENT),
            frozenset({Kind.OPERATOR}),
            of_oneself=True,
            lasting=True,
        ),
    ],
    f"{AUDIT}ExportAuditEvents": [
        Row(
            lambda w: audit_pb2.ExportAuditEventsRequest(filter=log_of(w)),
            MANAGERS,
            lasting=True,
        ),
        Row(lambda w: audit_pb2.ExportAuditEventsRequest(), PEOPLE | AGENTS, of_oneself=True, lasting=True),
        Row(
            lambda w: audit_pb2.ExportAuditEventsRequest(filter=DEPLOYMENT),
            frozenset({Kind.OPERATOR}),
            of_oneself=True,
            lasting=True,
        ),
    ],
    f"{AUDIT}VerifyAudit": [
        Row(
            lambda w: audit_pb2.VerifyAuditRequest(),
            frozenset({Kind.OPERATOR}),
            of_oneself=True,
            lasting=True,
        )
    ],
    **SECRET_ROWS,
    **ENDPOINT_ROWS,
}


@pytest.mark.parametrize("method", sorted(CALLERS))
async def test_whoever_may_is_answered_and_all_others_are_told_of_nothing(
    access: Access, trust: Trust, pool: Pool, method: str
) -> None:
    assert method in MATRIX, "a new method needs its row of the matrix"
    asking = Asking(access.channel, await PoolStatements.of(pool))

    def make() -> Awaitable[World]:
        return World.of_access(access, trust, pool)

    await check(asking, method, CALLERS[method], MATRIX[method], make)
