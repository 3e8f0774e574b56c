"""The audit log, read and verified."""

import re
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from acervo.access.v1 import audit_pb2 as pb
from acervo.access.v1 import audit_pb2_grpc
from services.access.audit import chain, reading
from services.access.audit.chain import Verification
from services.access.audit.reading import Filter
from services.access.audit.seals import Fault, Head
from services.access.callers import Callers
from services.access.messages import encode
from services.shared import server
from services.shared.db import Pool
from services.shared.fields import Fields
from services.shared.server import CallContext

CALLERS: Final[Mapping[str, server.Callers]] = {
    "/acervo.access.v1.AuditService/ListAuditEvents": server.Callers.PEOPLE,
    "/acervo.access.v1.AuditService/ExportAuditEvents": server.Callers.PEOPLE,
    "/acervo.access.v1.AuditService/VerifyAudit": server.Callers.PEOPLE,
}

_WORD = re.compile(r"[a-z_.]{1,100}")
_OLDEST_FIRST = {
    pb.AUDIT_ORDER_UNSPECIFIED: False,
    pb.AUDIT_ORDER_NEWEST_FIRST: False,
    pb.AUDIT_ORDER_OLDEST_FIRST: True,
}
_FAULTS = {
    Fault.MISSING_SEAL: pb.AUDIT_FAULT_MISSING_SEAL,
    Fault.OUT_OF_ORDER: pb.AUDIT_FAULT_OUT_OF_ORDER,
    Fault.MISSING_EVENT: pb.AUDIT_FAULT_MISSING_EVENT,
    Fault.ALTERED: pb.AUDIT_FAULT_ALTERED,
    Fault.STILL_WAITING: pb.AUDIT_FAULT_STILL_WAITING,
    Fault.NOT_SEALED: pb.AUDIT_FAULT_NOT_SEALED,
    Fault.HEAD_DIFFERS: pb.AUDIT_FAULT_HEAD_DIFFERS,
}


class AuditServicer(audit_pb2_grpc.AuditServiceServicer):
    """Tells who changed what, and whether the record of it is whole."""

    def __init__(self, pool: Pool, callers: Callers) -> None:
        self._pool = pool
        self._callers = callers

    async def ListAuditEvents(  # noqa: N802
        self, request: pb.ListAuditEventsRequest, context: CallContext
    ) -> pb.ListAuditEventsResponse:
        """A part of a log that the caller may read."""
        caller = self._callers.current()
        with _Fields() as fields:
            which = fields.filter(request.filter)
            wanted = fields.page(request)
            oldest_first = fields.choice("order", request.order, _OLDEST_FIRST, stand_in=False)
        page = await reading.page(self._pool, caller, which, wanted, oldest_first=oldest_first)
        return pb.ListAuditEventsResponse(
            events=map(encode.audit_event, page.rows), next_page_token=page.next_page_token
        )

    async def ExportAuditEvents(  # noqa: N802
        self, request: pb.ExportAuditEventsRequest, context: CallContext
    ) -> AsyncIterator[pb.ExportAuditEventsResponse]:
        """A log that the caller may read, as long as that is so."""
        caller = self._callers.current()
        with _Fields() as fields:
            which = fields.filter(request.filter)
        async for lines in reading.lines(self._pool, caller, which):
            yield pb.ExportAuditEventsResponse(lines=lines)

    async def VerifyAudit(  # noqa: N802
        self, request: pb.VerifyAuditRequest, context: CallContext
    ) -> AsyncIterator[pb.VerifyAuditResponse]:
        """The outcome of a walk along the chain, for the deployment's admin."""
        reading.check_admin(self._callers.current())
        kept = None
        if request.HasField("kept_head"):
            with _Fields() as fields:
                kept = fields.head(request.kept_head)
        async for verification in chain.verify(self._pool, kept):
            yield _verification(verification)


class _Fields(Fields):
    """Reads what only requests to the audit log hold."""

    def filter(self, message: pb.AuditFilter) -> Filter:
        if message.organization_id and message.deployment:
            self.refuse("filter.deployment", "This does not go with organization_id.")
        return Filter(
            organization_id=self.optional_uuid("filter.organization_id", message.organization_id),
            deployment=message.deployment,
            actor_id=self.optional_uuid("filter.actor_id", message.actor_id),
            action=self._word("filter.action", message.action),
            object_kind=self._word("filter.object_kind", message.object_kind),
            object_id=self.optional_uuid("filter.object_id", message.object_id),
            since=self._moment("filter.since", message.since) if message.HasField("since") else None,
            until=self._moment("filter.until", message.until) if message.HasField("until") else None,
        )

    def head(self, message: pb.AuditHead) -> Head:
        if message.sequence < 0:
            self.refuse("kept_head.sequence", "This must not be negative.")
        self.sha256("kept_head.hash", message.hash)
        return Head(message.sequence, message.hash)

    def _word(self, path: str, text: str) -> str | None:
        if text and not _WORD.fullmatch(text):
            self.refuse(path, "This must be at most 100 lower-case letters, `_` and `.`.")
        return text or None

    def _moment(self, path: str, message: Timestamp) -> datetime | None:
        try:
            return message.ToDatetime(UTC)
        except (ValueError, OverflowError):
            self.refuse(path, "This must be a moment of the years 1 to 9999.")
            return None


def _verification(verification: Verification) -> pb.VerifyAuditResponse:
    head, broken = verification.head, verification.broken
    message = pb.VerifyAuditResponse(
        head=pb.AuditHead(sequence=head.sequence, hash=head.hash),
        waiting_count=verification.waiting,
        complete=verification.complete,
    )
    if verification.oldest_waiting is not None:
        message.oldest_waiting_time.FromDatetime(verification.oldest_waiting)
    if broken is not None:
        message.broken.fault = _FAULTS[broken.fault]
        message.broken.sequence = broken.sequence
        message.broken.event_id = str(broken.event_id or "")
    return message
