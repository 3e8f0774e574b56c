"""The rows of endpoints in the matrix of methods and callers."""

from typing import Final

from acervo.access.v1 import endpoints_pb2 as pb
from tests.integration.access.matrix_world import EDIT_ALL, MANAGERS, World
from tests.matrix import MEMBERS, PEOPLE, Kind, Row

ENDPOINTS = "/acervo.access.v1.EndpointService/"
URL = "https://1.1.1.1/v1"
ADMIN = frozenset({Kind.OPERATOR})
ROWS: Final[dict[str, list[Row[World]]]] = {
    f"{ENDPOINTS}CreateEndpoint": [
        Row(
            lambda w: pb.CreateEndpointRequest(
                organization_id=w.organization, display_name="TEI", base_url=URL
            ),
            MANAGERS,
        ),
        Row(lambda w: pb.CreateEndpointRequest(display_name="TEI", base_url=URL), ADMIN, of_oneself=True),
    ],
    f"{ENDPOINTS}GetEndpoint": [
        Row(lambda w: pb.GetEndpointRequest(endpoint_id=w.endpoint), EDIT_ALL | {Kind.MEMBER}, lasting=True),
        Row(lambda w: pb.GetEndpointRequest(endpoint_id=w.shared_endpoint), PEOPLE, lasting=True),
    ],
    f"{ENDPOINTS}ListEndpoints": [
        Row(lambda w: pb.ListEndpointsRequest(organization_id=w.organization), MEMBERS, lasting=True),
    ],
    f"{ENDPOINTS}UpdateEndpoint": [
        Row(lambda w: pb.UpdateEndpointRequest(endpoint_id=w.endpoint, base_url=f"{URL}/other"), MANAGERS),
        Row(lambda w: pb.UpdateEndpointRequest(endpoint_id=w.shared_endpoint, display_name="x"), ADMIN),
    ],
    f"{ENDPOINTS}ResolveEndpoint": [
        Row(
            lambda w: pb.ResolveEndpointRequest(knowledge_base_id=w.free),
            frozenset({Kind.SERVICE}),
            lasting=True,
        )
    ],
    f"{ENDPOINTS}DeleteEndpoint": [
        Row(lambda w: pb.DeleteEndpointRequest(endpoint_id=w.endpoint), MANAGERS),
        Row(lambda w: pb.DeleteEndpointRequest(endpoint_id=w.shared_endpoint), ADMIN),
    ],
}
