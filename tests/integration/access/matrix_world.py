"""What the matrices of methods and callers ask for: an organization, its bases, and who is in it or is not."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Final, Self
from uuid import uuid4

from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from services.shared.db import Pool
from services.shared.identity import AGENT_CLAIM, service_audience, user_id
from services.shared.ids import uuid7
from tests.integration.access.callers import Access, Issuers
from tests.matrix import PEOPLE, Kind, Metadata
from tests.signing import Signer

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
    "organizations members teams team_members collection_names knowledge_bases grants agents teardowns audit_events"
    " outbox facts secrets secret_bindings budgets spend reservations endpoints"
)
_numbers = count()


_HIDE = """
INSERT INTO knowledge_bases (id, kind, scope, display_name, collection_name, ingestion_config)
VALUES ($1, $2, 'app', 'Imported', $3,
        '{"parser": "pymupdf", "chunk_size": 2500, "chunk_overlap": 200, "chunking_strategy": "recursive"}')
"""


async def hide(pool: Pool, name: str, kind: str = "legacy_unknown") -> str:
    """Put a hidden base on a name, as an import does; return its id."""
    await pool.execute(
        "INSERT INTO collection_names VALUES ($1, 'hashing-256', 256) ON CONFLICT DO NOTHING", name
    )
    base_id = uuid7()
    await pool.execute(_HIDE, base_id, kind, name)
    return str(base_id)


@dataclass(frozen=True)
class World:
    """An organization with a team, a private base that an agent holds, one that none holds, an app base, a name that
    holds content of unknown origin, a secret that a source of the held base uses, and endpoints of the organization and
    of the deployment."""

    trust: Issuers
    pool: Pool
    operator: str
    number: int
    organization: str
    team: str
    held: str
    free: str
    app: str
    grant: str
    agent: str
    other_agent: str
    operators_agent: str
    unowned: str
    reservation: str
    secret: str
    endpoint: str
    shared_endpoint: str
    source: str
    service: str = "access"
    """Which service is asked."""

    @classmethod
    async def of_access(cls, access: Access, trust: Issuers, pool: Pool) -> Self:
        number = next(_numbers)
        names = {kind: f"{kind}-{number}" for kind in PEOPLE}
        owner = names[Kind.OWNER]
        acme = await access.organization(owner, "Acme", **{names[kind]: role for kind, role in ROLES.items()})
        await access.organization(names[Kind.STRANGER])
        team = await access.team(owner, acme, names[Kind.MEMBER])
        private = {"scope": kb.SCOPE_ORG, "organization_id": acme, "visibility": kb.VISIBILITY_PRIVATE}
        shared_endpoint = (await access.endpoint(access.admin)).id
        held, free = [(await access.base(owner, **private)).id for _ in range(2)]
        await access.update(owner, free, embedding_provider="ollama", embedding_endpoint_id=shared_endpoint)
        app = (await access.base(access.admin, scope=kb.SCOPE_APP)).id
        for base in (held, free):
            await access.grant(owner, base, user_id=access.id(names[Kind.GRANTED]))
            await access.grant_edit(owner, base, user_id=access.id(names[Kind.EDITOR]))
        agent, other = [await access.register(owner, acme) for _ in range(2)]
        grant = await access.grant(owner, held, agent_id=agent)
        unowned = f"imported_{number}"
        await hide(pool, unowned)
        secret = (await access.secret(owner, acme, visibility=kb.VISIBILITY_ORG)).id
        source = str(uuid4())
        reservation = await access.reserve("sync", held)
        await access.lend(owner, secret, held, source)
        return cls(
            trust=trust,
            pool=pool,
            operator=access.admin,
            number=number,
            organization=acme,
            team=team,
            held=held,
            free=free,
            app=app,
            grant=grant.id,
            agent=agent,
            other_agent=other,
            operators_agent=await access.register(access.admin),
            unowned=unowned,
            secret=secret,
            source=source,
            endpoint=(await access.endpoint(owner, acme)).id,
            shared_endpoint=shared_endpoint,
            reservation=reservation,
        )

    def absent(self) -> Self:
        things = "organization team held free app grant agent other_agent operators_agent reservation secret source"
        things += " endpoint shared_endpoint"
        absent: dict[str, Any] = {thing: str(uuid4()) for thing in things.split()}
        return replace(self, unowned="gone", **absent)

    def name(self, kind: Kind) -> str:
        return self.operator if kind is Kind.OPERATOR else f"{kind}-{self.number}"

    def id(self, kind: Kind) -> str:
        return str(user_id(self.trust.people.issuer, self.name(kind)))

    def metadata(self, kind: Kind) -> Metadata:
        if kind is Kind.NOBODY:
            return ()
        return (("authorization", f"Bearer {self._token(kind)}"),)

    def _token(self, kind: Kind) -> str:
        owner = self.name(Kind.OWNER)
        sign = self.trust.people.sign
        tokens: dict[Kind, Callable[[], str]] = {
            Kind.FORGER: lambda: Signer(self.trust.people.issuer).sign(sub=owner),
            Kind.LATE: lambda: sign(sub=owner, exp=1),
            Kind.ASTRAY: lambda: sign(sub=owner, aud=service_audience(self.service)),
            Kind.AGENT: lambda: sign(sub=owner, **{AGENT_CLAIM: self.agent}),
            Kind.OTHER_AGENT: lambda: sign(sub=owner, **{AGENT_CLAIM: self.other_agent}),
            Kind.SERVICE: lambda: self.trust.service("sync", self.service),
        }
        return tokens.get(kind, lambda: self.trust.person(self.name(kind)))()

    async def digest(self) -> str:
        told = []
        for table in _TABLES.split():
            rows = f"SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM {table} t"
            told.append(await self.pool.fetchval(rows))
        return " ".join(told)
