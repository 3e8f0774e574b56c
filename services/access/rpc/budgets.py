"""What organizations may spend, and what services reserve of it."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from acervo.access.v1 import budgets_pb2, budgets_pb2_grpc
from services.access import budgets
from services.access.budget import period_of
from services.access.budgets import Reservation
from services.access.callers import Callers
from services.access.messages import encode
from services.shared import server
from services.shared.db import Connection, Pool
from services.shared.fields import Fields, read_uuid
from services.shared.idempotency import Call, once
from services.shared.server import CallContext

MAX_LIMIT: Final = 10**15
MAX_AMOUNT: Final = 10**12

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.BudgetService/SetBudget": server.Callers.PEOPLE,
    "/acervo.access.v1.BudgetService/GetBudget": server.Callers.PEOPLE,
    "/acervo.access.v1.BudgetService/ReserveSpend": server.Callers.SERVICES,
    "/acervo.access.v1.BudgetService/SettleSpend": server.Callers.SERVICES,
}


class BudgetServicer(budgets_pb2_grpc.BudgetServiceServicer):
    """Keeps budgets. `lasting` is how long an amount stays reserved that nobody settles."""

    def __init__(self, pool: Pool, callers: Callers, lasting: timedelta) -> None:
        self._pool = pool
        self._callers = callers
        self._lasting = lasting

    async def SetBudget(  # noqa: N802
        self, request: budgets_pb2.SetBudgetRequest, context: CallContext
    ) -> budgets_pb2.SetBudgetResponse:
        """A limit, or none."""
        caller = self._callers.current()
        call = Call.of(request)
        organization_id, limit = _read_limit(request)
        period = period_of(datetime.now(UTC))

        async def work(connection: Connection) -> budgets_pb2.SetBudgetResponse:
            await budgets.set_limit(connection, caller, organization_id, limit)
            month = await budgets.find(connection, organization_id, caller.person, period)
            return budgets_pb2.SetBudgetResponse(budget=encode.budget(organization_id, month, period))

        return await once(self._pool, call, budgets_pb2.SetBudgetResponse, work)

    async def GetBudget(  # noqa: N802
        self, request: budgets_pb2.GetBudgetRequest, context: CallContext
    ) -> budgets_pb2.GetBudgetResponse:
        """The limit, and what the month has come to."""
        caller = self._callers.current()
        organization_id = read_uuid("organization_id", request.organization_id)
        period = period_of(datetime.now(UTC))
        month = await budgets.find(self._pool, organization_id, caller.person, period)
        return budgets_pb2.GetBudgetResponse(budget=encode.budget(organization_id, month, period))

    async def ReserveSpend(  # noqa: N802
        self, request: budgets_pb2.ReserveSpendRequest, context: CallContext
    ) -> budgets_pb2.ReserveSpendResponse:
        """An amount set aside, or a refusal with the figures."""
        wanted = _read_reservation(request, self._callers.current().service)
        async with self._pool.acquire() as connection, connection.transaction():
            until = await budgets.reserve(connection, wanted, datetime.now(UTC), self._lasting)
        return encode.reserved(until)

    async def SettleSpend(  # noqa: N802
        self, request: budgets_pb2.SettleSpendRequest, context: CallContext
    ) -> budgets_pb2.SettleSpendResponse:
        """What was spent, counted once."""
        service = self._callers.current().service
        with Fields() as fields:
            reservation_id = fields.uuid("reservation_id", request.reservation_id)
            actual = fields.within("amount_micros", request.amount_micros, 0, MAX_AMOUNT)
        async with self._pool.acquire() as connection, connection.transaction():
            await budgets.settle(connection, reservation_id, service, actual)
        return budgets_pb2.SettleSpendResponse()


def _read_limit(request: budgets_pb2.SetBudgetRequest) -> tuple[UUID, int | None]:
    with Fields() as fields:
        organization_id = fields.uuid("organization_id", request.organization_id)
        limit = fields.within("limit_micros", request.limit_micros, 0, MAX_LIMIT)
        return organization_id, limit if request.HasField("limit_micros") else None


def _read_reservation(request: budgets_pb2.ReserveSpendRequest, service: str) -> Reservation:
    with Fields() as fields:
        return Reservation(
            id=fields.uuid("reservation_id", request.reservation_id),
            service=service,
            knowledge_base_id=fields.uuid("knowledge_base_id", request.knowledge_base_id),
            amount=fields.within("amount_micros", request.amount_micros, 1, MAX_AMOUNT),
        )
