"""Taking many files in, against services of a test's own that fail in chosen ways, over real gRPC."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest

from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.ingest.v1 import documents_pb2 as ingest_pb
from acervo.upload.v1 import upload_pb2 as upload_pb
from acervo_client import AcervoClient, AcervoError, BlockingClient
from acervoctl import encode
from acervoctl.ingesting import FileStatus, Stage, ingest_files
from services.shared import errors, rpc_status

PROCESSING = ingest_pb.DOCUMENT_STATE_PROCESSING
DONE = ingest_pb.DOCUMENT_STATE_DONE
FAILED = ingest_pb.DOCUMENT_STATE_ERROR


async def refuse(context: Any, reason: errors.ErrorReason) -> None:
    error = errors.AcervoError(reason)
    context.set_trailing_metadata(((rpc_status.DETAILS_KEY, rpc_status.encode(error)),))
    await context.abort(rpc_status.status_code(error), error.message)


@dataclass
class Acervo:
    """Upload and ingest. Each name in a set meets the failure that the set is named after."""

    refused: set[str] = field(default_factory=set)
    lost_once: set[str] = field(default_factory=set)
    damaged: set[str] = field(default_factory=set)
    fails: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    watches_to_break: int = 0
    headers: list[upload_pb.UploadDocumentHeader] = field(default_factory=list)
    documents: dict[str, ingest_pb.Document] = field(default_factory=dict)

    def handlers(self) -> tuple[grpc.GenericRpcHandler, ...]:
        upload = grpc.stream_unary_rpc_method_handler(
            self.upload,
            request_deserializer=upload_pb.UploadDocumentRequest.FromString,
            response_serializer=upload_pb.UploadDocumentResponse.SerializeToString,
        )
        watch = grpc.unary_stream_rpc_method_handler(
            self.watch,
            request_deserializer=ingest_pb.WatchDocumentsRequest.FromString,
            response_serializer=ingest_pb.WatchDocumentsResponse.SerializeToString,
        )
        return (
            grpc.method_handlers_generic_handler(
                "acervo.upload.v1.UploadService", {"UploadDocument": upload}
            ),
            grpc.method_handlers_generic_handler(
                "acervo.ingest.v1.DocumentService", {"WatchDocuments": watch}
            ),
        )

    async def upload(
        self, request_iterator: AsyncIterator[upload_pb.UploadDocumentRequest], context: Any
    ) -> upload_pb.UploadDocumentResponse:
        header = (await anext(request_iterator)).header
        self.headers.append(header)
        name = header.filename
        if name in self.refused:
            await refuse(context, reasons.ERROR_REASON_FILE_KIND_UNSUPPORTED)
        received = b"".join([message.data async for message in request_iterator])
        if name in self.lost_once:
            self.lost_once.remove(name)
            await context.abort(grpc.StatusCode.UNAVAILABLE, "gone")
        if name in self.damaged:
            received += b"!"
        made = ingest_pb.Document(
            id=f"id-{name}", filename=name, state=PROCESSING, sha256=hashlib.sha256(received).digest()
        )
        self.documents[made.id] = made
        return upload_pb.UploadDocumentResponse(document=made)

    async def watch(
        self, request: ingest_pb.WatchDocumentsRequest, context: Any
    ) -> AsyncIterator[ingest_pb.WatchDocumentsResponse]:
        for document_id in request.document_ids:
            document = self.documents[document_id]
            yield ingest_pb.WatchDocumentsResponse(document=document)
        if self.watches_to_break:
            self.watches_to_break -= 1
            await context.abort(grpc.StatusCode.UNAVAILABLE, "restarting")
        for document_id in request.document_ids:
            document = self.documents[document_id]
            gone = document.filename in self.deleted
            document.state = DONE
            document.chunk_count = 7
            if document.filename in self.fails:
                document.state = FAILED
                document.failure.reason = reasons.ERROR_REASON_NO_TEXT
                document.failure.message = "No text."
                document.failure.advice = "Scan it anew."
            yield ingest_pb.WatchDocumentsResponse(document=document, deleted=gone)


@pytest.fixture
def acervo() -> Acervo:
    return Acervo()


@pytest.fixture
async def address(acervo: Acervo) -> AsyncIterator[str]:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(acervo.handlers())
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop(None)


@pytest.fixture
async def client(address: str) -> AsyncIterator[AcervoClient]:
    async with AcervoClient({"upload": address, "ingest": address}, "token", patience_seconds=20) as client:
        yield client


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{number:02}.txt" for number in range(20)]
    for path in paths:
        path.write_bytes(path.name.encode() * 100_000)
    return paths


async def ingest(client: AcervoClient, paths: list[Path]) -> tuple[list[FileStatus], list[FileStatus]]:
    changes: list[FileStatus] = []
    ends = await ingest_files(
        client, paths, knowledge_base_id="base", replace_older=True, on_change=changes.append
    )
    return ends, changes


async def test_every_file_ends_done_in_the_order_given_and_is_told_of(
    client: AcervoClient, acervo: Acervo, files: list[Path]
) -> None:
    ends, changes = await ingest(client, files)
    assert [end.path for end in ends] == files
    assert {end.stage for end in ends} == {Stage.DONE}
    assert {end.chunks for end in ends} == {7}
    assert Counter(change.path for change in changes if change.stage.ended) == Counter(files)
    header = next(header for header in acervo.headers if header.filename == files[0].name)
    assert (header.source_path, header.replace, header.size) == (str(files[0]), True, 600_000)


async def test_what_is_refused_or_fails_has_a_reason_and_stops_no_other_file(
    client: AcervoClient, acervo: Acervo, files: list[Path]
) -> None:
    acervo.refused, acervo.fails, acervo.deleted = {"03.txt"}, {"04.txt"}, {"05.txt"}
    files[6].unlink()
    ends, _ = await ingest(client, files)
    assert [(end.stage, end.reason) for end in ends[3:7]] == [
        (Stage.REFUSED, "FILE_KIND_UNSUPPORTED"),
        (Stage.ERROR, "NO_TEXT"),
        (Stage.ERROR, "NOT_FOUND"),
        (Stage.REFUSED, "FILE_UNREADABLE"),
    ]
    assert all(end.message and end.advice for end in ends[3:7])
    assert Counter(end.stage for end in ends)[Stage.DONE] == 16


async def test_an_upload_that_is_cut_off_is_sent_again_under_the_same_request_id(
    client: AcervoClient, acervo: Acervo, files: list[Path]
) -> None:
    acervo.lost_once = {"00.txt"}
    ends, _ = await ingest(client, files[:1])
    assert ends[0].stage is Stage.DONE
    first, second = acervo.headers
    assert first.request_id == second.request_id


async def test_a_watch_that_is_cut_off_goes_on(
    client: AcervoClient, acervo: Acervo, files: list[Path]
) -> None:
    acervo.watches_to_break = 3
    ends, _ = await ingest(client, files)
    assert {end.stage for end in ends} == {Stage.DONE}


async def test_bytes_that_arrive_damaged_are_noticed(
    client: AcervoClient, acervo: Acervo, files: list[Path]
) -> None:
    acervo.damaged = {"00.txt"}
    ends, _ = await ingest(client, files[:1])
    assert ends[0].reason == "CHECKSUM_MISMATCH"


async def test_without_a_connection_the_whole_ingestion_ends(files: list[Path]) -> None:
    nobody = {"upload": "127.0.0.1:1", "ingest": "127.0.0.1:1"}
    async with AcervoClient(nobody, "token", patience_seconds=0.2) as client:
        with pytest.raises(AcervoError, match="UNAVAILABLE"):
            await ingest(client, files)


async def test_the_blocking_client_uploads_and_watches_without_an_event_loop(
    address: str, files: list[Path]
) -> None:
    def without_a_loop() -> list[str]:
        with BlockingClient({"upload": address, "ingest": address}, "token") as blocking:
            made = blocking.upload(files[0], collection_name="notes").document
            return [encode.state_name(change.document.state) for change in blocking.watch([made.id])]

    assert await asyncio.to_thread(without_a_loop) == ["processing", "done"]
