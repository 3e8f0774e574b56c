"""The composition root of access."""

from datetime import UTC, datetime, timedelta

from acervo.access.v1 import (
    access_pb2_grpc,
    accounts_pb2_grpc,
    agents_pb2_grpc,
    audit_pb2_grpc,
    budgets_pb2_grpc,
    collections_pb2_grpc,
    endpoints_pb2_grpc,
    grants_pb2_grpc,
    knowledge_bases_pb2_grpc,
    organizations_pb2_grpc,
    secrets_pb2_grpc,
    teams_pb2_grpc,
)
from services.access import budgets, reach_sql
from services.access.audit import chain
from services.access.bases import teardowns
from services.access.bases.teardown import OWNERS
from services.access.callers import Callers
from services.access.consumers import Consumers
from services.access.rpc import CALLERS
from services.access.rpc.access import AccessServicer
from services.access.rpc.accounts import AccountServicer
from services.access.rpc.agents import AgentServicer
from services.access.rpc.audit import AuditServicer
from services.access.rpc.budgets import BudgetServicer
from services.access.rpc.collections import CollectionServicer
from services.access.rpc.endpoints import EndpointServicer
from services.access.rpc.grants import GrantServicer
from services.access.rpc.knowledge_bases import KnowledgeBaseServicer
from services.access.rpc.organizations import OrganizationServicer
from services.access.rpc.secrets import SecretServicer
from services.access.rpc.teams import TeamServicer
from services.access.settings import AccessSettings
from services.access.vault.master_keys import MasterKeys
from services.shared import bus, telemetry
from services.shared.db import Pool
from services.shared.runtime import Runtime
from services.shared.server import Servicer

SERVICE = "access"


def servicers(pool: Pool, settings: AccessSettings) -> list[Servicer]:
    """What the server of access offers."""
    callers = Callers(settings.admins)
    embedding = settings.default_embedding
    return [
        (access_pb2_grpc.add_AccessServiceServicer_to_server, AccessServicer(pool, callers)),
        (
            organizations_pb2_grpc.add_OrganizationServiceServicer_to_server,
            OrganizationServicer(pool, callers, embedding),
        ),
        (
            knowledge_bases_pb2_grpc.add_KnowledgeBaseServiceServicer_to_server,
            KnowledgeBaseServicer(pool, callers, embedding, settings.egress_allow),
        ),
        (
            collections_pb2_grpc.add_CollectionServiceServicer_to_server,
            CollectionServicer(pool, callers, embedding),
        ),
        (accounts_pb2_grpc.add_AccountServiceServicer_to_server, AccountServicer(pool, callers)),
        (teams_pb2_grpc.add_TeamServiceServicer_to_server, TeamServicer(pool, callers)),
        (agents_pb2_grpc.add_AgentServiceServicer_to_server, AgentServicer(pool, callers)),
        (grants_pb2_grpc.add_GrantServiceServicer_to_server, GrantServicer(pool, callers)),
        (audit_pb2_grpc.add_AuditServiceServicer_to_server, AuditServicer(pool, callers)),
        (
            secrets_pb2_grpc.add_SecretServiceServicer_to_server,
            SecretServicer(pool, callers, MasterKeys(settings.vault_keys_file)),
        ),
        (
            endpoints_pb2_grpc.add_EndpointServiceServicer_to_server,
            EndpointServicer(pool, callers, settings.egress_allow),
        ),
        (
            budgets_pb2_grpc.add_BudgetServiceServicer_to_server,
            BudgetServicer(pool, callers, timedelta(seconds=settings.reservation_seconds)),
        ),
    ]


async def sweep(pool: Pool, settings: AccessSettings) -> None:
    """Announce hanging teardowns again, and give back what was reserved and never settled."""
    age = timedelta(seconds=settings.teardown_retry_seconds)
    while await teardowns.announce_overdue(pool, age) == teardowns.SWEEP_BATCH:
        pass
    now = datetime.now(UTC)
    while await budgets.expire(pool, now) == budgets.SWEEP_BATCH:
        pass
    await budgets.forget(pool, now - timedelta(days=settings.request_days))


async def main() -> None:
    """Run access until the process is asked to end."""
    settings = AccessSettings.model_validate({})
    telemetry.configure(SERVICE, settings.log_level)
    async with Runtime.open(settings, SERVICE, reach_sql.prepare) as runtime:
        if settings.role.serves:
            await runtime.serve(servicers(runtime.pool, settings), CALLERS)
        else:
            await runtime.serve([], {})
        if settings.role.works:
            runtime.background()
            consumers = Consumers(runtime.pool)
            answered = {bus.teardown_answered(service): consumers.teardown_answered for service in OWNERS}
            runtime.facts({bus.SOURCE_CHANGED: consumers.source_changed, **answered})
            runtime.every("sweep", settings.sweep_seconds, lambda: sweep(runtime.pool, settings))
            runtime.every("audit-sealer", settings.audit_seal_seconds, lambda: chain.seal(runtime.pool))
        await runtime.run()
