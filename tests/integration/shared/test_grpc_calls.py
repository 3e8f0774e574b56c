"""Server and client together, over real connections."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc.aio import AioRpcError
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest
from grpc_reflection.v1alpha.reflection_pb2_grpc import ServerReflectionStub

from acervo.access.v1.access_pb2_grpc import add_AccessServiceServicer_to_server
from acervo.common.v1 import error_reason_pb2 as pb
from acervo.ingest.v1 import documents_pb2
from acervo.ingest.v1.documents_pb2_grpc import DocumentServiceStub
from services.shared import auth, identity, interceptors
from services.shared.client import (
    REQUEST_ID_KEY,
    call_options,
    from_rpc_error,
    open_channel,
)
from services.shared.errors import FieldViolation
from services.shared.server import Callers, build_server
from services.shared.settings import Misconfigured
from tests.integration.shared.deployment import ACCESS, Access, Deployment, running, service_settings
from tests.signing import Trust

Get = documents_pb2.GetDocumentRequest


@pytest.fixture
async def deployment(tmp_path: Path) -> AsyncIterator[Deployment]:
    async with running(tmp_path) as deployment:
        yield deployment


@asynccontextmanager
async def _refused(reason: pb.ErrorReason, code: grpc.StatusCode) -> AsyncIterator[list[AioRpcError]]:
    caught: list[AioRpcError] = []
    with pytest.raises(AioRpcError) as refusal:
        yield caught
    assert refusal.value.code() == code
    assert from_rpc_error(refusal.value).reason == reason
    caught.append(refusal.value)


async def test_a_refusal_arrives_with_reason_and_fields(deployment: Deployment) -> None:
    async with _refused(pb.ERROR_REASON_FIELD_INVALID, grpc.StatusCode.INVALID_ARGUMENT) as caught:
        await deployment.caller.ingest().GetDocument(Get(document_id="invalid"), **deployment.person())
    assert from_rpc_error(caught[0]).fields == (FieldViolation("document_id", "is no UUID"),)


async def test_a_refusal_of_any_length_fits_into_the_answer(deployment: Deployment) -> None:
    async with _refused(pb.ERROR_REASON_FIELD_INVALID, grpc.StatusCode.INVALID_ARGUMENT):
        await deployment.caller.ingest().GetDocument(Get(document_id="endless"), **deployment.person())


async def test_a_token_of_the_greatest_length_is_read(deployment: Deployment) -> None:
    token = deployment.trust.people.sign(groups="g" * 5800)
    assert auth.MAX_TOKEN_LENGTH - 300 < len(token) <= auth.MAX_TOKEN_LENGTH
    await deployment.caller.ingest().GetDocument(Get(document_id="x"), **call_options(token))


async def test_an_unforeseen_error_tells_an_id_and_nothing_else(
    deployment: Deployment, caplog: pytest.LogCaptureFixture
) -> None:
    async with _refused(pb.ERROR_REASON_INTERNAL, grpc.StatusCode.INTERNAL) as caught:
        await deployment.caller.ingest().GetDocument(Get(document_id="broken"), **deployment.person())
    trailing = dict(caught[0].trailing_metadata())
    assert trailing[REQUEST_ID_KEY]
    assert "secret" not in (caught[0].details() or "")
    assert not any(b"secret" in value for value in trailing.values() if isinstance(value, bytes))
    logged = next(record for record in caplog.records if record.exc_info)
    assert "a secret of the database" in str(logged.exc_info)


async def test_an_error_in_a_stream_follows_what_was_sent(deployment: Deployment) -> None:
    request = documents_pb2.WatchDocumentsRequest(document_ids=["a", "absent", "b"])
    seen: list[str] = []
    async with _refused(pb.ERROR_REASON_NOT_FOUND, grpc.StatusCode.NOT_FOUND):
        async for answer in deployment.caller.ingest().WatchDocuments(request, **deployment.person()):
            seen.append(answer.document.id)  # noqa: PERF401 - what came before the error counts
    assert seen == ["a"]


@pytest.mark.parametrize(
    "metadata",
    [(), (("authorization", ""),), (("authorization", "Basic x"),), (("authorization", "Bearer x"),)],
)
async def test_a_call_without_a_good_token_is_refused_before_anything_else(
    deployment: Deployment, metadata: tuple[tuple[str, str], ...]
) -> None:
    ingest = deployment.caller.ingest()
    async with _refused(pb.ERROR_REASON_TOKEN_INVALID, grpc.StatusCode.UNAUTHENTICATED):
        await ingest.GetDocument(Get(document_id="broken"), metadata=metadata, timeout=10)
    async with _refused(pb.ERROR_REASON_TOKEN_INVALID, grpc.StatusCode.UNAUTHENTICATED):
        async for _ in ingest.WatchDocuments(
            documents_pb2.WatchDocumentsRequest(), metadata=metadata, timeout=10
        ):
            pass


async def test_a_person_is_refused_what_is_for_services(deployment: Deployment) -> None:
    async with _refused(pb.ERROR_REASON_SERVICES_ONLY, grpc.StatusCode.PERMISSION_DENIED):
        await deployment.caller.ingest().CreateDocument(
            documents_pb2.CreateDocumentRequest(), **deployment.person()
        )


async def test_a_service_is_refused_what_is_for_people(deployment: Deployment) -> None:
    async with _refused(pb.ERROR_REASON_TOKEN_INVALID, grpc.StatusCode.UNAUTHENTICATED):
        await deployment.caller.ingest().RetryDocument(
            documents_pb2.RetryDocumentRequest(), **deployment.caller.own("ingest")
        )


async def test_a_persons_token_is_forwarded_with_request_id_and_deadline(deployment: Deployment) -> None:
    options = deployment.person(seconds=7)
    await deployment.caller.ingest().CheckUpload(documents_pb2.CheckUploadRequest(), **options)
    ((caller, request_id, remaining),) = deployment.access.calls
    assert caller == "ana"
    assert request_id == dict(options["metadata"])[REQUEST_ID_KEY]
    assert 0 < remaining < 8  # the wire rounds a deadline up


async def test_a_services_token_is_not_passed_on(deployment: Deployment) -> None:
    await deployment.caller.ingest().CheckUpload(
        documents_pb2.CheckUploadRequest(), **deployment.caller.own("ingest")
    )
    assert deployment.access.calls[0][0] == "ingest"


async def test_a_service_calls_in_its_own_name(deployment: Deployment) -> None:
    await deployment.caller.ingest().CreateDocument(
        documents_pb2.CreateDocumentRequest(), **deployment.caller.own("ingest")
    )


async def test_calls_at_the_same_time_keep_their_callers_apart(deployment: Deployment) -> None:
    people = [f"person-{number}" for number in range(20)]
    ingest = deployment.caller.ingest()
    answers = await asyncio.gather(
        *(
            ingest.ListDocuments(
                documents_pb2.ListDocumentsRequest(), **call_options(deployment.trust.person(person))
            )
            for person in people
        )
    )
    assert [answer.next_page_token for answer in answers] == people


async def test_a_peer_that_fails_for_a_moment_is_called_again(deployment: Deployment) -> None:
    deployment.access.failures = 2
    await deployment.caller.ingest().CheckUpload(documents_pb2.CheckUploadRequest(), **deployment.person())
    assert len(deployment.access.calls) == 3


async def test_a_peer_that_is_gone_is_unavailable(deployment: Deployment) -> None:
    await deployment.servers["access"].stop(0)
    async with _refused(pb.ERROR_REASON_UNAVAILABLE, grpc.StatusCode.UNAVAILABLE):
        await deployment.caller.ingest().CheckUpload(
            documents_pb2.CheckUploadRequest(), **deployment.person()
        )


async def test_a_call_that_is_given_up_stops_the_work(deployment: Deployment) -> None:
    call = deployment.caller.ingest().GetDocument(Get(document_id="slow"), **deployment.person())
    waiting = asyncio.ensure_future(_await(call))
    await asyncio.wait_for(deployment.documents.entered.wait(), 10)
    call.cancel()
    await asyncio.wait_for(deployment.documents.left.wait(), 10)
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_deadline_stops_the_work(deployment: Deployment) -> None:
    async with _refused(pb.ERROR_REASON_DEADLINE_EXCEEDED, grpc.StatusCode.DEADLINE_EXCEEDED):
        await deployment.caller.ingest().GetDocument(Get(document_id="slow"), **deployment.person(0.3))
    await asyncio.wait_for(deployment.documents.left.wait(), 10)


async def _await(call: Any) -> Any:
    return await call


async def test_a_message_over_the_limit_is_refused(deployment: Deployment) -> None:
    request = Get(document_id="x" * (5 << 20))
    async with _refused(pb.ERROR_REASON_MESSAGE_TOO_LARGE, grpc.StatusCode.RESOURCE_EXHAUSTED):
        await deployment.caller.ingest().GetDocument(request, **deployment.person())
    async with grpc.aio.insecure_channel(deployment.servers["ingest"].address) as unbounded:
        stub: Any = DocumentServiceStub(unbounded)
        async with _refused(pb.ERROR_REASON_MESSAGE_TOO_LARGE, grpc.StatusCode.RESOURCE_EXHAUSTED):
            await stub.GetDocument(request, **deployment.person())


@pytest.mark.parametrize("length", [auth.MAX_TOKEN_LENGTH + 1, 20_000, 60_000])
async def test_a_token_over_the_limit_is_no_good_token(deployment: Deployment, length: int) -> None:
    with pytest.raises(AioRpcError) as refusal:
        await deployment.caller.ingest().GetDocument(Get(document_id="x"), **call_options("x" * length))
    assert from_rpc_error(refusal.value).reason == pb.ERROR_REASON_TOKEN_INVALID


async def test_an_unknown_method_stays_unknown(deployment: Deployment) -> None:
    async with open_channel(deployment.servers["ingest"].address) as channel:
        call: Any = channel.unary_unary("/acervo.ingest.v1.DocumentService/Nothing")
        with pytest.raises(AioRpcError) as refusal:
            await call(b"", timeout=10)
    assert refusal.value.code() == grpc.StatusCode.UNIMPLEMENTED


GET_DOCUMENT = "/acervo.ingest.v1.DocumentService/GetDocument"
CHECK = "/grpc.health.v1.Health/Check"
REFLECT = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"


async def test_a_call_without_a_good_token_is_refused_before_its_message_came(deployment: Deployment) -> None:
    async with open_channel(deployment.servers["ingest"].address) as channel:
        silent: Any = channel.stream_unary(GET_DOCUMENT)
        async with _refused(pb.ERROR_REASON_TOKEN_INVALID, grpc.StatusCode.UNAUTHENTICATED):
            await silent()


@pytest.mark.parametrize("method", [CHECK, REFLECT])
async def test_whoever_holds_anonymous_calls_open_ends_only_their_own(
    deployment: Deployment, method: str
) -> None:
    async with open_channel(deployment.servers["ingest"].address) as channel:
        held: list[Any] = [
            channel.stream_stream(method)() for _ in range(interceptors.MAX_ANONYMOUS_CALLS + 20)
        ]
        for call in held[:20]:
            async with _refused(pb.ERROR_REASON_OVERLOADED, grpc.StatusCode.RESOURCE_EXHAUSTED):
                await call.read()
        health: Any = health_pb2_grpc.HealthStub(channel)
        answer = await health.Check(health_pb2.HealthCheckRequest(), timeout=10)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        for call in held:
            call.cancel()


@pytest.mark.parametrize("method", [CHECK, REFLECT])
async def test_an_anonymous_call_has_an_end(
    deployment: Deployment, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interceptors, "ANONYMOUS_SECONDS", 0.1)
    async with (
        open_channel(deployment.servers["ingest"].address) as channel,
        _refused(pb.ERROR_REASON_OVERLOADED, grpc.StatusCode.RESOURCE_EXHAUSTED),
    ):
        await channel.stream_stream(method)().read()


async def test_a_callers_message_has_its_time(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interceptors, "MESSAGE_SECONDS", 0.1)
    async with open_channel(deployment.servers["ingest"].address) as channel:
        silent: Any = channel.stream_unary(GET_DOCUMENT)
        async with _refused(pb.ERROR_REASON_REQUEST_TOO_SLOW, grpc.StatusCode.DEADLINE_EXCEEDED):
            await silent(**deployment.person())


async def test_nobody_takes_all_places_of_a_server(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, eventually: Callable[..., Awaitable[None]]
) -> None:
    monkeypatch.setattr(interceptors, "MAX_CALLS_EACH", 3)
    ingest = deployment.caller.ingest()
    watch = documents_pb2.WatchDocumentsRequest(document_ids=["held"])
    anas, services = deployment.person(), deployment.caller.own("ingest")
    held = [ingest.WatchDocuments(watch, **options) for options in (*[anas] * 3, *[services] * 4)]
    reading = [asyncio.ensure_future(call.read()) for call in held]

    async def full() -> bool:
        return deployment.documents.held == len(held)

    async def free() -> bool:
        try:
            await ingest.GetDocument(Get(document_id="x"), **anas)
        except AioRpcError as error:
            return from_rpc_error(error).reason != pb.ERROR_REASON_OVERLOADED
        return True

    await eventually(full)
    assert not await free()
    await ingest.GetDocument(Get(document_id="x"), **call_options(deployment.trust.person("ben")))
    await ingest.GetDocument(Get(document_id="x"), **services)
    held[0].cancel()
    await eventually(free)
    for call in held:
        call.cancel()
    await asyncio.gather(*reading, return_exceptions=True)


async def test_an_anonymous_call_without_a_message_is_no_call(deployment: Deployment) -> None:
    async with open_channel(deployment.servers["ingest"].address) as channel:
        call: Any = channel.stream_stream(CHECK)()
        await call.done_writing()
        async with _refused(pb.ERROR_REASON_REQUEST_MALFORMED, grpc.StatusCode.INVALID_ARGUMENT):
            await call.read()


async def test_what_a_server_offers_can_be_asked_and_health_cannot_be_watched(deployment: Deployment) -> None:
    async with open_channel(deployment.servers["ingest"].address) as channel:
        reflect: Any = ServerReflectionStub(channel).ServerReflectionInfo(timeout=10)
        await reflect.write(ServerReflectionRequest(list_services=""))
        names = {service.name for service in (await reflect.read()).list_services_response.service}
        assert "acervo.ingest.v1.DocumentService" in names
        reflect.cancel()
        health: Any = health_pb2_grpc.HealthStub(channel)
        with pytest.raises(AioRpcError) as refusal:
            await health.Watch(health_pb2.HealthCheckRequest(), timeout=10).read()
    assert refusal.value.code() == grpc.StatusCode.UNIMPLEMENTED


async def test_health_needs_no_token_and_turns_with_the_drain(deployment: Deployment) -> None:
    server = deployment.servers["ingest"]
    async with open_channel(server.address) as channel:
        health: Any = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service="acervo.ingest.v1.DocumentService")
        assert (await health.Check(request, timeout=10)).status == health_pb2.HealthCheckResponse.SERVING
        await server.unready()
        assert (await health.Check(request, timeout=10)).status == health_pb2.HealthCheckResponse.NOT_SERVING
    answer = await deployment.caller.ingest().GetDocument(Get(document_id="x"), **deployment.person())
    assert answer == documents_pb2.GetDocumentResponse()


async def test_running_calls_may_end_while_the_server_stops(deployment: Deployment) -> None:
    call = deployment.caller.ingest().GetDocument(Get(document_id="slow"), **deployment.person())
    waiting = asyncio.ensure_future(_await(call))
    await asyncio.wait_for(deployment.documents.entered.wait(), 10)
    await deployment.servers["ingest"].stop(0.2)
    await asyncio.wait_for(deployment.documents.left.wait(), 10)
    with pytest.raises(AioRpcError) as refusal:
        await waiting
    assert from_rpc_error(refusal.value).reason == pb.ERROR_REASON_UNAVAILABLE


async def test_each_call_is_logged_with_its_caller_and_outcome(
    deployment: Deployment,
    caplog: pytest.LogCaptureFixture,
    eventually: Callable[..., Awaitable[None]],
) -> None:
    caplog.set_level(logging.INFO, "services.calls")
    with pytest.raises(AioRpcError):
        await deployment.caller.ingest().GetDocument(Get(document_id="absent"), **deployment.person())

    async def logged() -> bool:  # the answer is sent before that
        return any(record.message == "call" for record in caplog.records)

    await eventually(logged)
    record: Any = next(record for record in caplog.records if record.message == "call")
    assert record.method.endswith("/GetDocument")
    assert record.outcome == "NOT_FOUND"
    assert record.caller == str(identity.user_id(deployment.trust.people.issuer, "ana"))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "no row in the table of callers: /acervo.access.v1.AccessService/Resolve"),
        ({**ACCESS, "/acervo.access.v1.AccessService/Open": Callers.ANY}, "no such method"),
    ],
)
async def test_a_server_with_an_undecided_method_does_not_start(
    tmp_path: Path, table: Mapping[str, Callers], message: str
) -> None:
    trust = Trust(tmp_path)
    with pytest.raises(ValueError, match=message):
        await build_server(
            service_settings(trust),
            trust.verifier("access"),
            [(add_AccessServiceServicer_to_server, Access())],
            table,
        )


async def test_two_servers_never_share_a_port(deployment: Deployment, tmp_path: Path) -> None:
    settings = service_settings(deployment.trust, listen=deployment.servers["ingest"].address)
    with pytest.raises(Misconfigured, match="ACERVO_LISTEN"):
        await build_server(settings, deployment.trust.verifier("access"), [], {})
