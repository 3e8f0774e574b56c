"""What somebody has here, and its end."""

from collections.abc import Mapping
from typing import Final

from acervo.access.v1 import accounts_pb2, accounts_pb2_grpc
from services.access.callers import Callers
from services.access.people import accounts
from services.access.refusals import AccountNotFound
from services.shared import server
from services.shared.db import Connection, Pool
from services.shared.fields import read_optional_uuid
from services.shared.idempotency import Call, once
from services.shared.ids import uuid7
from services.shared.server import CallContext

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.AccountService/DeleteAccount": server.Callers.PEOPLE,
}


class AccountServicer(accounts_pb2_grpc.AccountServiceServicer):
    """Ends accounts."""

    def __init__(self, pool: Pool, callers: Callers) -> None:
        self._pool = pool
        self._callers = callers

    async def DeleteAccount(  # noqa: N802
        self, request: accounts_pb2.DeleteAccountRequest, context: CallContext
    ) -> accounts_pb2.DeleteAccountResponse:
        """A person without anything here."""
        caller = self._callers.current()
        call = Call.of(request)
        user_id = read_optional_uuid("user_id", request.user_id) or caller.person
        if user_id is None:
            raise AccountNotFound

        async def work(connection: Connection) -> accounts_pb2.DeleteAccountResponse:
            gone = await accounts.delete(connection, caller, user_id, uuid7)
            return accounts_pb2.DeleteAccountResponse(
                knowledge_base_count=gone.bases, organization_count=gone.organizations
            )

        return await once(self._pool, call, accounts_pb2.DeleteAccountResponse, work)
