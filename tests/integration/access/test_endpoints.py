"""Endpoints: whose they are, who sees them, and where they may lie."""

import grpc
import pytest

from acervo.access.v1 import endpoints_pb2 as pb
from acervo.access.v1 import organizations_pb2 as org
from services.shared.client import from_rpc_error
from services.shared.db import Pool
from tests.integration.access.callers import ADMIN, Access, refusal

INSIDE = "http://10.0.0.1:11434/v1"


async def listed(access: Access, name: str, organization_id: str = "") -> list[str]:
    request = pb.ListEndpointsRequest(organization_id=organization_id, page_size=1)
    found = []
    while True:
        page = await access.endpoints.ListEndpoints(request, **access.person(name))
        found += [endpoint.id for endpoint in page.endpoints]
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


async def test_an_endpoint_is_kept_in_one_form_and_made_once(access: Access) -> None:
    acme = await access.organization("ada")
    request_id = "0190f000-0000-7000-8000-000000000001"
    first, again = [
        await access.endpoint("ada", acme, base_url="HTTPS://1.1.1.1:443/v1/", request_id=request_id)
        for _ in range(2)
    ]
    assert first == again
    assert (first.base_url, first.kind) == ("https://1.1.1.1/v1", pb.ENDPOINT_KIND_OTHER)


@pytest.mark.parametrize(
    "url", [INSIDE, "http://127.1/", "http://[::ffff:169.254.169.254]", "http://nowhere.invalid"]
)
async def test_a_private_address_and_none_read_alike_to_an_organization(access: Access, url: str) -> None:
    acme = await access.organization("ada")
    error = from_rpc_error(await refusal(access.endpoint("ada", acme, base_url=url)))
    assert [(field.path, field.message) for field in error.fields] == [
        (
            "base_url",
            "This must resolve to a public address, or one that the admin opened (ACERVO_EGRESS_ALLOW).",
        )
    ]
    made = await access.endpoint("ada", acme)
    move = pb.UpdateEndpointRequest(endpoint_id=made.id, base_url=url)
    refused = await refusal(access.endpoints.UpdateEndpoint(move, **access.person("ada")))
    assert refused.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_the_admin_registers_private_addresses_for_all(access: Access) -> None:
    made = await access.endpoint(ADMIN, base_url=INSIDE)
    assert (made.base_url, made.organization_id) == (INSIDE, "")
    assert await listed(access, "anybody") == [made.id]


async def test_an_organizations_are_listed_to_who_may_make_bases_there_with_the_deployments(
    access: Access,
) -> None:
    acme = await access.organization("ada", mia=org.ROLE_MEMBER, vic=org.ROLE_VIEWER)
    other = await access.organization("eve")
    shared = await access.endpoint(ADMIN)
    ours = await access.endpoint("ada", acme)
    theirs = await access.endpoint("eve", other)
    assert await listed(access, "mia", acme) == [shared.id, ours.id]
    assert await listed(access, "vic", acme) == [shared.id]
    assert await listed(access, "mia") == [shared.id]
    assert await listed(access, "eve", other) == [shared.id, theirs.id]


async def test_changes_are_told_to_the_audit_log(access: Access, pool: Pool) -> None:
    acme = await access.organization("ada")
    made = await access.endpoint("ada", acme)
    change = pb.UpdateEndpointRequest(endpoint_id=made.id, kind=pb.ENDPOINT_KIND_TEI, display_name="Two")
    changed = await access.endpoints.UpdateEndpoint(change, **access.person("ada"))
    assert (changed.endpoint.display_name, changed.endpoint.base_url) == ("Two", made.base_url)
    await access.endpoints.DeleteEndpoint(
        pb.DeleteEndpointRequest(endpoint_id=made.id), **access.person("ada")
    )
    rows = await pool.fetch("SELECT action, organization_id FROM audit_events ORDER BY id")
    told = [row["action"] for row in rows if row["action"].startswith("endpoint")]
    assert told == ["endpoint.created", "endpoint.updated", "endpoint.deleted"]
    gone = await refusal(
        access.endpoints.GetEndpoint(pb.GetEndpointRequest(endpoint_id=made.id), **access.person("ada"))
    )
    assert gone.code() is grpc.StatusCode.NOT_FOUND


async def test_an_organization_takes_its_endpoints_along(access: Access, pool: Pool) -> None:
    acme = await access.organization("ada")
    await access.endpoint("ada", acme)
    request = org.DeleteOrganizationRequest(organization_id=acme)
    await access.organizations.DeleteOrganization(request, **access.person("ada"))
    assert await pool.fetchval("SELECT count(*) FROM endpoints") == 0
