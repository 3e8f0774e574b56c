"""Every method of access against every kind of caller."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Self
from uuid import UUID, uuid4

import pytest

from acervo.access.v1 import access_pb2, grants_pb2, teams_pb2
from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.common.v1 import error_reason_pb2 as reasons
from services.access.rpc import CALLERS
from services.shared.auth import AGENT_CLAIM, service_audience
from services.shared.db import Pool
from tests.integration.access.callers import ADMIN, Access, person_id
from tests.matrix import AGENTS, MEMBERS, PEOPLE, Asking, Kind, Metadata, Row, check
from tests.signing import PEOPLE as ISSUER
from tests.signing import Signer, Trust

VIEW, EDIT = access_pb2.PERMISSION_VIEW, access_pb2.PERMISSION_EDIT
AGENT, OTHER_AGENT = UUID(int=77), UUID(int=78)
ROLES: Final = {
    Kind.VIEWER: org.ROLE_VIEWER,
    Kind.MEMBER: org.ROLE_MEMBER,
    Kind.GRANTED: org.ROLE_VIEWER,
    Kind.EDITOR: org.ROLE_VIEWER,
    Kind.BUILDER: org.ROLE_BUILDER,
    Kind.ADMIN: org.ROLE_ADMIN,
}
MANAGERS = frozenset({Kind.OWNER, Kind.ADMIN})
EDIT_ALL = MANAGERS | {Kind.BUILDER}
EDITORS = EDIT_ALL | {Kind.EDITOR}
READERS = EDITORS | {Kind.GRANTED}
_TABLES = (
    "organizations members teams team_members collection_names knowledge_bases grants teardowns outbox facts"
)
_numbers = count()


@dataclass(frozen=True)
class World:
    """An organization with a team, a private base that an agent holds, one that none holds, and an app base."""

    trust: Trust
    pool: Pool
    number: int
    organization: str
    team: str
    held: str
    free: str
    app: str
    grant: str

    @classmethod
    async def make(cls, access: Access, trust: Trust, pool: Pool) -> Self:
        number = next(_numbers)
        names = {kind: f"{kind}-{number}" for kind in PEOPLE}
        owner = names[Kind.OWNER]
        acme = await access.organization(owner, "Acme", **{names[kind]: role for kind, role in ROLES.items()})
        await access.organization(names[Kind.STRANGER])
        team = await access.team(owner, acme, names[Kind.MEMBER])
        private = {"scope": kb.SCOPE_ORG, "organization_id": acme, "visibility": kb.VISIBILITY_PRIVATE}
        held, free = [(await access.base(owner, **private)).id for _ in range(2)]
        app = (await access.base(ADMIN, scope=kb.SCOPE_APP)).id
        for base in (held, free):
            await access.grant(owner, base, user_id=str(person_id(names[Kind.GRANTED])))
            await access.grant_edit(owner, base, user_id=str(person_id(names[Kind.EDITOR])))
        grant = await access.grant(owner, held, agent_id=str(AGENT))
        return cls(trust, pool, number, acme, team, held, free, app, grant.id)

    def absent(self) -> Self:
        organization, team, held, free, app, grant = (str(uuid4()) for _ in range(6))
        return replace(self, organization=organization, team=team, held=held, free=free, app=app, grant=grant)

    def name(self, kind: Kind) -> str:
        return ADMIN if kind is Kind.OPERATOR else f"{kind}-{self.number}"

    def id(self, kind: Kind) -> str:
        return str(person_id(self.name(kind)))

    def metadata(self, kind: Kind) -> Metadata:
        if kind is Kind.NOBODY:
            return ()
        return (("authorization", f"Bearer {self._token(kind)}"),)

    def _token(self, kind: Kind) -> str:
        owner = self.name(Kind.OWNER)
        sign = self.trust.people.sign
        tokens: dict[Kind, Callable[[], str]] = {
            Kind.FORGER: lambda: Signer(ISSUER).sign(sub=owner),
            Kind.LATE: lambda: sign(sub=owner, exp=1),
            Kind.ASTRAY: lambda: sign(sub=owner, aud=service_audience("access")),
            Kind.AGENT: lambda: sign(sub=owner, **{AGENT_CLAIM: str(AGENT)}),
            Kind.OTHER_AGENT: lambda: sign(sub=owner, **{AGENT_CLAIM: str(OTHER_AGENT)}),
            Kind.SERVICE: lambda: self.trust.service("sync", "access"),
        }
        return tokens.get(kind, lambda: self.trust.person(self.name(kind)))()

    async def digest(self) -> str:
        told = []
        for table in _TABLES.split():
            rows = f"SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM {table} t"
            told.append(await self.pool.fetchval(rows))
        return " ".join(told)


def resolve(base: str, permission: access_pb2.Permission) -> access_pb2.ResolveRequest:
    return access_pb2.ResolveRequest(
        targets=[access_pb2.Target(knowledge_base_id=base)], permission=permission
    )


ACCESS = "/acervo.access.v1.AccessService/"
ORGANIZATIONS = "/acervo.access.v1.OrganizationService/"
BASES = "/acervo.access.v1.KnowledgeBaseService/"
TEAMS = "/acervo.access.v1.TeamService/"
GRANTS = "/acervo.access.v1.GrantService/"
IN_USE = reasons.ERROR_REASON_BASE_IN_USE
MATRIX: Final[dict[str, list[Row[World]]]] = {
    f"{ACCESS}Resolve": [
        Row(lambda w: resolve(w.held, VIEW), READERS | {Kind.AGENT, Kind.SERVICE}),
        Row(lambda w: resolve(w.held, EDIT), EDITORS | {Kind.SERVICE}),
        Row(lambda w: resolve(w.app, VIEW), PEOPLE | {Kind.SERVICE}),
        Row(lambda w: resolve(w.app, EDIT), frozenset({Kind.OPERATOR, Kind.SERVICE})),
    ],
    f"{ACCESS}WhoAmI": [
        Row(lambda w: access_pb2.WhoAmIRequest(), PEOPLE | AGENTS | {Kind.SERVICE}, of_oneself=True)
    ],
    f"{ORGANIZATIONS}CreateOrganization": [
        Row(lambda w: org.CreateOrganizationRequest(display_name="New"), PEOPLE, of_oneself=True)
    ],
    f"{ORGANIZATIONS}ListOrganizations": [
        Row(lambda w: org.ListOrganizationsRequest(), PEOPLE | AGENTS, of_oneself=True)
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
        Row(lambda w: org.ListMembersRequest(organization_id=w.organization), MEMBERS)
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
        Row(lambda w: kb.GetKnowledgeBaseRequest(knowledge_base_id=w.held), READERS | {Kind.AGENT}),
        Row(lambda w: kb.GetKnowledgeBaseRequest(knowledge_base_id=w.app), PEOPLE),
    ],
    f"{BASES}ListKnowledgeBases": [
        Row(lambda w: kb.ListKnowledgeBasesRequest(organization_id=w.organization), MEMBERS | {Kind.AGENT})
    ],
    f"{BASES}DeleteKnowledgeBase": [
        Row(lambda w: kb.DeleteKnowledgeBaseRequest(knowledge_base_id=w.free), EDITORS),
        Row(
            lambda w: kb.DeleteKnowledgeBaseRequest(knowledge_base_id=w.held),
            frozenset(),
            refused=dict.fromkeys(EDITORS, IN_USE),
        ),
    ],
    f"{TEAMS}CreateTeam": [
        Row(
            lambda w: teams_pb2.CreateTeamRequest(organization_id=w.organization, display_name="New"),
            MANAGERS,
        )
    ],
    f"{TEAMS}ListTeams": [Row(lambda w: teams_pb2.ListTeamsRequest(organization_id=w.organization), MEMBERS)],
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
    f"{TEAMS}ListTeamMembers": [Row(lambda w: teams_pb2.ListTeamMembersRequest(team_id=w.team), MEMBERS)],
    f"{GRANTS}AddGrant": [
        Row(
            lambda w: grants_pb2.AddGrantRequest(
                knowledge_base_id=w.held, user_id=w.id(Kind.VIEWER), permission=EDIT
            ),
            EDIT_ALL,
        ),
        Row(
            lambda w: grants_pb2.AddGrantRequest(
                knowledge_base_id=w.app, agent_id=str(AGENT), permission=VIEW
            ),
            frozenset({Kind.OPERATOR}),
        ),
    ],
    f"{GRANTS}ListGrants": [Row(lambda w: grants_pb2.ListGrantsRequest(knowledge_base_id=w.held), EDIT_ALL)],
    f"{GRANTS}RevokeGrant": [Row(lambda w: grants_pb2.RevokeGrantRequest(grant_id=w.grant), EDIT_ALL)],
    f"{GRANTS}ExplainAccess": [
        Row(
            lambda w: grants_pb2.ExplainAccessRequest(knowledge_base_id=w.held, user_id=w.id(Kind.VIEWER)),
            EDIT_ALL,
        )
    ],
}


@pytest.mark.parametrize("method", sorted(CALLERS))
async def test_whoever_may_is_answered_and_all_others_are_told_of_nothing(
    access: Access, trust: Trust, pool: Pool, method: str
) -> None:
    assert method in MATRIX, "a new method needs its row of the matrix"
    asking = await Asking.of(access.channel, pool)

    def make() -> Awaitable[World]:
        return World.make(access, trust, pool)

    await check(asking, method, CALLERS[method], MATRIX[method], make)
