"""Reading the audit log: which log it is, who may, what filters leave, and what an export holds."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from acervo.access.v1 import audit_pb2 as pb
from acervo.access.v1 import knowledge_bases_pb2 as kb
from acervo.access.v1 import organizations_pb2 as org
from acervo.common.v1 import error_reason_pb2 as reasons
from services.access.audit import chain, reading
from services.access.reach import Caller, CallerKind
from services.access.refusals import OrganizationNotFound
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from tests.integration.access.callers import Access, person_id, refusal, told

NOT_FOUND = reasons.ERROR_REASON_NOT_FOUND


async def listed(
    access: Access, reader: str, *, oldest_first: bool = False, **filters: Any
) -> list[pb.AuditEvent]:
    request = pb.ListAuditEventsRequest(
        filter=pb.AuditFilter(**filters),
        order=pb.AUDIT_ORDER_OLDEST_FIRST if oldest_first else pb.AUDIT_ORDER_UNSPECIFIED,
    )
    return list((await access.audit.ListAuditEvents(request, **access.person(reader))).events)


async def actions(access: Access, reader: str, **filters: Any) -> list[str]:
    return [event.action for event in await listed(access, reader, **filters)]


async def exported(access: Access, reader: str, **filters: Any) -> list[dict[str, Any]]:
    request = pb.ExportAuditEventsRequest(filter=pb.AuditFilter(**filters))
    stream = access.audit.ExportAuditEvents(request, **access.person(reader))
    return [json.loads(line) async for part in stream for line in part.lines]


async def verified(access: Access, kept: pb.AuditHead | None = None) -> pb.VerifyAuditResponse:
    stream = access.audit.VerifyAudit(pb.VerifyAuditRequest(kept_head=kept), **access.person(access.admin))
    return [answer async for answer in stream][-1]


def stamp(moment: datetime) -> Timestamp:
    message = Timestamp()
    message.FromDatetime(moment)
    return message


async def test_an_organizations_log_is_its_owners_and_admins_to_read(access: Access) -> None:
    acme = await access.organization("ana", "Acme", bea=org.ROLE_ADMIN, cem=org.ROLE_BUILDER)
    expected = ["member.added", "member.added", "knowledge_base.created", "organization.created"]
    for reader in ("ana", "bea"):
        assert await actions(access, reader, organization_id=acme) == expected
    await access.organization("dan")
    refusals = [
        await refusal(listed(access, reader, organization_id=organization_id))
        for reader in ("cem", "dan", access.admin)
        for organization_id in (acme, str(uuid4()))
    ]
    assert {from_rpc_error(refused).reason for refused in refusals} == {NOT_FOUND}
    assert len({str(told(refused)) for refused in refusals}) == 1


async def test_what_is_left_of_an_organization_that_is_gone_is_the_deployments_admins(access: Access) -> None:
    acme = await access.organization("ana", "Acme")
    await access.organizations.DeleteOrganization(
        org.DeleteOrganizationRequest(organization_id=acme), **access.person("ana")
    )
    await refusal(listed(access, "ana", organization_id=acme))
    (last, *_) = await listed(access, access.admin, organization_id=acme)
    assert (last.action, dict(last.before), dict(last.after)) == (
        "organization.deleted",
        {"display_name": "Acme"},
        {},
    )


async def test_what_is_nobody_elses_is_in_the_log_of_who_did_it(access: Access) -> None:
    mine = await access.base("ana")
    await access.base("bea")
    app = await access.base(access.admin, scope=kb.SCOPE_APP)
    assert [event.object_id for event in await listed(access, "ana")] == [mine.id]
    assert await listed(access, access.admin) == []
    assert [event.object_id for event in await listed(access, access.admin, deployment=True)] == [app.id]
    assert from_rpc_error(await refusal(listed(access, "ana", deployment=True))).reason == NOT_FOUND


async def test_an_event_is_told_whole(access: Access, pool: Pool) -> None:
    acme = await access.organization("ana", "Acme")
    team = await access.team("ana", acme)
    (event,) = await listed(access, "ana", organization_id=acme, object_id=team)
    assert not event.HasField("seal")
    await chain.seal(pool)
    (event,) = await listed(access, "ana", organization_id=acme, object_id=team)
    assert (event.seal.sequence, len(event.seal.previous_hash), len(event.seal.hash)) == (3, 32, 32)
    assert (event.action, event.object_kind, event.organization_id) == ("team.created", "team", acme)
    assert (event.actor_user_id, event.actor_agent_id, event.actor_service) == (access.id("ana"), "", "")
    assert (dict(event.before), dict(event.after)) == ({}, {"display_name": "Sales"})


async def test_filters_leave_what_they_name(access: Access) -> None:
    acme = await access.organization("ana", "Acme", bea=org.ROLE_ADMIN)
    team = await access.team("bea", acme, "ana")

    async def found(**filters: Any) -> list[str]:
        return await actions(access, "ana", organization_id=acme, **filters)

    assert await found(actor_id=access.id("bea")) == ["team_member.added", "team.created"]
    assert await found(action="team") == ["team.created"]
    assert await found(action="team.created") == ["team.created"]
    assert await found(action="tea") == []
    assert await found(object_kind="person") == ["team_member.added", "member.added"]
    assert await found(object_id=team) == ["team.created"]
    (event,) = await listed(access, "ana", organization_id=acme, action="team")
    made = event.create_time.ToDatetime(UTC)
    assert await found(object_id=team, since=stamp(made), until=stamp(made + timedelta(microseconds=1))) == [
        "team.created"
    ]
    assert await found(object_id=team, until=stamp(made)) == []
    assert await found(object_id=team, since=stamp(made + timedelta(microseconds=1))) == []


@pytest.mark.parametrize("order", [pb.AUDIT_ORDER_NEWEST_FIRST, pb.AUDIT_ORDER_OLDEST_FIRST])
async def test_pages_put_together_are_the_log(access: Access, order: pb.AuditOrder) -> None:
    acme = await access.organization("ana", "Acme", bea=org.ROLE_ADMIN, cem=org.ROLE_VIEWER)
    whole = await listed(access, "ana", oldest_first=True, organization_id=acme)
    if order == pb.AUDIT_ORDER_NEWEST_FIRST:
        whole.reverse()
    request = pb.ListAuditEventsRequest(filter=pb.AuditFilter(organization_id=acme), order=order, page_size=3)
    found: list[pb.AuditEvent] = []
    while True:
        page = await access.audit.ListAuditEvents(request, **access.person("ana"))
        found += page.events
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
    assert found == whole
    assert len(found) == 4


async def test_an_export_holds_the_log_and_what_its_hashes_are_made_of(
    access: Access, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "EXPORTED_TOGETHER", 2)
    acme = await access.organization("ana", "Año", bea=org.ROLE_ADMIN)
    await chain.seal(pool)
    await access.team("ana", acme)
    events = await listed(access, "ana", oldest_first=True, organization_id=acme)
    lines = await exported(access, "ana", organization_id=acme)
    assert [line["id"] for line in lines] == [event.id for event in events]
    *sealed, waiting = [line.pop("seal") for line in lines]
    assert waiting is None
    for line, seal, event in zip(lines, sealed, events, strict=False):
        written = json.dumps(line, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        hashed = hashlib.sha256(bytes.fromhex(seal["previous_hash"]) + written.encode())
        assert hashed.digest() == event.seal.hash
        assert (hashed.hexdigest(), seal["sequence"]) == (seal["hash"], event.seal.sequence)


async def test_an_export_ends_where_the_reader_may_not_read_on(
    access: Access, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "EXPORTED_TOGETHER", 1)
    acme = await access.organization("ana", "Acme", bea=org.ROLE_ADMIN)
    bea = Caller(CallerKind.PERSON, person_id("bea"))
    lines = reading.lines(pool, bea, reading.Filter(organization_id=UUID(acme)))
    assert len(await anext(lines)) == 1
    await access.remove("ana", acme, "bea")
    with pytest.raises(OrganizationNotFound):
        await anext(lines)


async def test_the_deployments_admin_sees_the_chain_whole_and_where_it_is_not(
    access: Access, pool: Pool
) -> None:
    await access.organization("ana")
    assert (await verified(access)).waiting_count == 2
    await chain.seal(pool)
    found = await verified(access)
    assert (found.complete, found.head.sequence, found.waiting_count) == (True, 2, 0)
    assert not found.HasField("broken")
    assert not (await verified(access, found.head)).HasField("broken")
    forged = await verified(access, pb.AuditHead(sequence=2, hash=bytes(32)))
    assert (forged.broken.fault, forged.broken.sequence) == (pb.AUDIT_FAULT_HEAD_DIFFERS, 2)


@pytest.mark.parametrize(
    ("filters", "path"),
    [
        ({"organization_id": "x"}, "filter.organization_id"),
        ({"organization_id": str(uuid4()), "deployment": True}, "filter.deployment"),
        ({"actor_id": "x"}, "filter.actor_id"),
        ({"action": "Team"}, "filter.action"),
        ({"action": "a\0"}, "filter.action"),
        ({"object_kind": "a" * 101}, "filter.object_kind"),
        ({"object_id": "x"}, "filter.object_id"),
        ({"since": Timestamp(seconds=10**15)}, "filter.since"),
        ({"until": Timestamp(seconds=-(10**15))}, "filter.until"),
    ],
)
async def test_a_filter_that_means_nothing_is_told_by_its_field(
    access: Access, filters: dict[str, Any], path: str
) -> None:
    for ask in (listed, exported):
        error = from_rpc_error(await refusal(ask(access, "ana", **filters)))
        assert [field.path for field in error.fields] == [path]
