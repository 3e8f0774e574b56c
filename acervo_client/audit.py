"""The audit log, read and verified."""

from collections.abc import AsyncGenerator

from acervo.access.v1 import audit_pb2 as pb
from acervo.access.v1.audit_pb2_grpc import AuditServiceStub
from acervo_client.connection import Connection, typed_errors
from acervo_client.paging import pages


class Audit:
    """Who changed what, as far as the caller may read it. Every method raises `AcervoError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stub = AuditServiceStub(connection.channel("access"))
        self._streams = AuditServiceStub(connection.channel("access", lasting=True))

    async def list(
        self, which: pb.AuditFilter, *, order: pb.AuditOrder = pb.AUDIT_ORDER_UNSPECIFIED
    ) -> AsyncGenerator[pb.AuditEvent, None]:
        """The events of a log, newest first where nothing else is asked for."""
        found = pages(
            lambda request: self._stub.ListAuditEvents(request, **self._connection.call()),
            pb.ListAuditEventsRequest(filter=which, order=order),
        )
        async for page in found:
            for event in page.events:
                yield event

    async def export(self, which: pb.AuditFilter) -> AsyncGenerator[str, None]:
        """A log as lines of JSON, oldest first."""
        request = pb.ExportAuditEventsRequest(filter=which)
        async with typed_errors():
            async for part in self._streams.ExportAuditEvents(request, **self._connection.stream()):
                for line in part.lines:
                    yield line

    async def verify(self, kept_head: pb.AuditHead | None = None) -> pb.VerifyAuditResponse:
        """Whether the chain of the deployment is whole, and contains a head that was kept. For its admin."""
        request = pb.VerifyAuditRequest(kept_head=kept_head)
        outcome = pb.VerifyAuditResponse()
        async with typed_errors():
            async for answer in self._streams.VerifyAudit(request, **self._connection.stream()):
                outcome = answer
        return outcome
