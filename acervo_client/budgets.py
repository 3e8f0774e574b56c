"""Budgets of organizations."""

from uuid import uuid4

from acervo.access.v1 import budgets_pb2 as pb
from acervo.access.v1.budgets_pb2_grpc import BudgetServiceStub
from acervo_client.connection import Connection, typed_errors


class Budgets:
    """What the caller's organizations may spend in a month. Every method raises `AcervoError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stub = BudgetServiceStub(connection.channel("access"))

    async def get(self, organization_id: str) -> pb.Budget:
        """The limit, and what the current month has come to."""
        request = pb.GetBudgetRequest(organization_id=organization_id)
        async with typed_errors():
            return (await self._stub.GetBudget(request, **self._connection.call())).budget

    async def set(self, organization_id: str, limit_micros: int | None) -> pb.Budget:
        """Limit what may be spent in a month, in micro-dollars; None: no limit."""
        request = pb.SetBudgetRequest(
            request_id=str(uuid4()), organization_id=organization_id, limit_micros=limit_micros
        )
        async with typed_errors():
            return (await self._stub.SetBudget(request, **self._connection.call())).budget
