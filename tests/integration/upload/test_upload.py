"""UploadDocument over real gRPC, PostgreSQL and blob storage."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.common.v1 import lane_pb2
from acervo.ingest.v1 import documents_pb2
from acervo.upload.v1 import upload_pb2 as pb
from services.shared import bases, staged_file
from services.shared.errors import AcervoError, BaseGone, Unavailable
from services.shared.ids import uuid7
from services.upload.limits import Pace
from tests.conftest import Databases
from tests.full_disk import full_device
from tests.integration.upload.stack import BASE, LIMITS, MAX_SIZE, Stack, messages, refused, running, sha256

Eventually = Callable[..., Awaitable[None]]
PARTS = [b"# Handbook\n" * 20_000, b"the end\n"]
PDF = b"%PDF-1.7\n" + b"x" * 1000


@pytest.fixture
async def stack(tmp_path: Path, databases: Databases, blob_url: str) -> AsyncIterator[Stack]:
    async with running(tmp_path, databases["upload"], blob_url) as stack:
        yield stack


async def nothing_is_kept(stack: Stack) -> None:
    assert await stack.files() == {}
    assert await stack.stored() == set()
    assert stack.ingest.documents == {}


async def test_a_file_is_stored_and_a_document_made_of_it(stack: Stack) -> None:
    answer = await stack.upload(PARTS, size=sum(map(len, PARTS)), sha256=sha256(PARTS))
    ((caller, created),) = stack.ingest.created
    assert caller == "upload"
    assert (created.size, created.sha256, created.kind) == (sum(map(len, PARTS)), sha256(PARTS), "md")
    assert created.lane == lane_pb2.LANE_INTERACTIVE
    assert answer.document == stack.ingest.documents[created.file_id]
    assert not answer.already_present
    assert await stack.files() == {created.file_id: "tracked"}
    assert await stack.stored() == await stack.live_blobs() == {created.blob_key}
    assert await stack.blobs.get(created.blob_key) == b"".join(PARTS)


async def test_the_persons_own_token_is_what_access_is_judged_by(stack: Stack) -> None:
    await stack.upload(PARTS, person="eva")
    assert stack.ingest.checked[0][0] == "eva"


async def test_a_name_is_a_label(stack: Stack) -> None:
    await stack.upload(PARTS, filename="../../etc/notes.md")
    assert stack.ingest.created[0][1].filename == "notes.md"


async def test_a_base_out_of_reach_is_refused_before_a_byte_is_asked_for(stack: Stack) -> None:
    asked_for_bytes = asyncio.Event()

    async def stream() -> AsyncIterator[pb.UploadDocumentRequest]:
        yield next(messages([], knowledge_base_id=str(uuid4())))
        await asyncio.Event().wait()
        asked_for_bytes.set()

    async with refused(reasons.ERROR_REASON_NOT_FOUND):
        await stack.send(stream())
    assert not asked_for_bytes.is_set()
    assert await stack.pool.fetchval("SELECT count(*) FROM blobs") == 0


REFUSED: dict[str, tuple[reasons.ErrorReason, list[bytes], dict[str, Any]]] = {
    "no bytes": (reasons.ERROR_REASON_FILE_EMPTY, [], {}),
    "fewer bytes than declared": (reasons.ERROR_REASON_SIZE_MISMATCH, [b"abc"], {"size": 4}),
    "more bytes than declared": (reasons.ERROR_REASON_SIZE_MISMATCH, [b"abc", b"de"], {"size": 4}),
    "other bytes than declared": (reasons.ERROR_REASON_CHECKSUM_MISMATCH, [b"abc"], {"sha256": b"x" * 32}),
    "more bytes than the kind may have": (
        reasons.ERROR_REASON_FILE_TOO_LARGE,
        [b"x" * (1 << 20)] * (MAX_SIZE // (1 << 20) + 1),
        {},
    ),
    "a PDF under another name": (reasons.ERROR_REASON_FILE_KIND_MISMATCH, [PDF], {}),
    "text under the name of a PDF": (
        reasons.ERROR_REASON_FILE_KIND_MISMATCH,
        [b"plain text"],
        {"filename": "a.pdf"},
    ),
    "a hash that is none": (reasons.ERROR_REASON_FIELD_INVALID, [b"abc"], {"sha256": b"x"}),
    "a request id that is none": (reasons.ERROR_REASON_FIELD_INVALID, [b"abc"], {"request_id": "1"}),
    "an empty message": (reasons.ERROR_REASON_UPLOAD_MALFORMED, [b"abc", b""], {}),
    "a message over the limit": (reasons.ERROR_REASON_UPLOAD_MALFORMED, [b"x" * ((1 << 20) + 1)], {}),
    "what services alone may say": (
        reasons.ERROR_REASON_FIELD_INVALID,
        [b"abc"],
        {"discard_original": True},
    ),
}


async def test_nothing_is_kept_of_a_wrong_upload(stack: Stack, subtests: pytest.Subtests) -> None:
    for case, (reason, parts, header) in REFUSED.items():
        with subtests.test(case):
            async with refused(reason):
                await stack.upload(parts, **header)
            await nothing_is_kept(stack)


async def test_bytes_without_a_header_are_refused(stack: Stack) -> None:
    async with refused(reasons.ERROR_REASON_UPLOAD_MALFORMED):
        await stack.send(iter([pb.UploadDocumentRequest(data=b"abc")]))
    async with refused(reasons.ERROR_REASON_UPLOAD_MALFORMED):
        await stack.send(iter([]))
    await nothing_is_kept(stack)


async def test_a_second_header_is_refused(stack: Stack) -> None:
    async with refused(reasons.ERROR_REASON_UPLOAD_MALFORMED):
        await stack.send(iter([*messages([b"abc"]), *messages([b"def"])]))
    await nothing_is_kept(stack)


async def test_a_caller_who_falls_silent_is_let_go(
    tmp_path: Path, databases: Databases, blob_url: str
) -> None:
    async def stream() -> AsyncIterator[pb.UploadDocumentRequest]:
        for message in messages([b"abc"]):
            yield message
        await asyncio.Event().wait()

    limits = replace(LIMITS, pace=Pace(idle_seconds=0.2, bytes_per_second=1))
    async with running(tmp_path, databases["upload"], blob_url, limits) as stack:
        async with refused(reasons.ERROR_REASON_DEADLINE_EXCEEDED):
            await stack.send(stream())
        await nothing_is_kept(stack)


async def test_a_caller_who_goes_leaves_nothing(stack: Stack, eventually: Eventually) -> None:
    sent = asyncio.Event()

    async def stream() -> AsyncIterator[pb.UploadDocumentRequest]:
        for message in messages([b"abc" * 1000]):
            yield message
        sent.set()
        await asyncio.Event().wait()

    async def given_up() -> object:
        return await stack.pool.fetchval("SELECT true FROM blobs WHERE state = 'deleting'")

    async def pending() -> object:
        return await stack.pool.fetchval("SELECT true FROM blobs WHERE state = 'pending'")

    upload = asyncio.create_task(stack.send(stream()))
    await asyncio.wait_for(sent.wait(), 10)
    await eventually(pending)
    upload.cancel()
    await eventually(given_up)
    await nothing_is_kept(stack)


async def test_a_caller_who_trickles_is_let_go_however_short_the_pauses(
    tmp_path: Path, databases: Databases, blob_url: str
) -> None:
    async def stream() -> AsyncIterator[pb.UploadDocumentRequest]:
        for message in messages([]):
            yield message
        while True:
            yield pb.UploadDocumentRequest(data=b"a")
            await asyncio.sleep(0.05)

    limits = replace(LIMITS, pace=Pace(idle_seconds=0.5, bytes_per_second=1 << 20))
    async with running(tmp_path, databases["upload"], blob_url, limits) as stack:
        async with refused(reasons.ERROR_REASON_DEADLINE_EXCEEDED):
            await stack.send(stream())
        await nothing_is_kept(stack)


async def test_what_services_say_is_taken_from_services(stack: Stack) -> None:
    actor = str(uuid4())
    await stack.upload(
        PARTS,
        as_service="sync",
        actor_user_id=actor,
        discard_original=True,
        source=documents_pb2.DOCUMENT_SOURCE_LOCAL,
        source_path="/srv/a.md",
        replace=True,
    )
    assert stack.ingest.checked[0][0] == "upload"
    created = stack.ingest.created[0][1]
    assert (created.actor_user_id, created.discard_original, created.replace) == (actor, True, True)
    assert created.lane == lane_pb2.LANE_BULK
    assert (created.source, created.source_path) == (documents_pb2.DOCUMENT_SOURCE_LOCAL, "/srv/a.md")


async def test_the_same_request_again_answers_the_same_document(stack: Stack) -> None:
    request_id = str(uuid4())
    first = await stack.upload(PARTS, request_id=request_id)
    second = await stack.upload(PARTS, request_id=request_id)
    assert second.document == first.document
    assert len(await stack.files()) == 1
    assert len(await stack.stored()) == 1


async def test_the_same_request_twice_at_once_makes_one_document(stack: Stack) -> None:
    request_id = str(uuid4())
    answers = await asyncio.gather(*(stack.upload(PARTS, request_id=request_id) for _ in range(4)))
    assert len({answer.document.id for answer in answers}) == 1
    assert len(await stack.files()) == 1
    assert len(await stack.stored()) == 1


async def test_a_request_id_is_one_persons_own(stack: Stack) -> None:
    request_id = str(uuid4())
    await stack.upload(PARTS, request_id=request_id)
    await stack.upload([b"other"], request_id=request_id, person="eva")
    assert len(await stack.files()) == 2


async def test_a_request_id_with_another_header_is_refused(stack: Stack) -> None:
    request_id = str(uuid4())
    await stack.upload(PARTS, request_id=request_id)
    async with refused(reasons.ERROR_REASON_REQUEST_ID_REUSED):
        await stack.upload(PARTS, request_id=request_id, filename="other.md")


async def test_content_that_is_there_already_is_not_kept_twice(stack: Stack) -> None:
    stack.ingest.present = documents_pb2.Document(id=str(uuid7()))
    request_id = str(uuid4())
    for _ in range(2):
        answer = await stack.upload(PARTS, request_id=request_id)
        assert answer.already_present
        assert answer.document == stack.ingest.present
    assert await stack.files() == {}
    assert await stack.stored() == set()


async def test_an_unanswered_file_is_tracked_later(stack: Stack) -> None:
    stack.ingest.failures = [Unavailable()] * 4
    async with refused(reasons.ERROR_REASON_UNAVAILABLE):
        await stack.upload(PARTS)
    assert list((await stack.files()).values()) == ["received"]
    assert await stack.tracking.track_due() == 1
    assert list((await stack.files()).values()) == ["tracked"]
    assert len(stack.ingest.documents) == 1
    assert await stack.tracking.track_due() == 0


async def test_a_repeat_of_an_unanswered_request_sends_no_second_file(stack: Stack) -> None:
    stack.ingest.failures = [Unavailable()] * 4
    request_id = str(uuid4())
    async with refused(reasons.ERROR_REASON_UNAVAILABLE):
        await stack.upload(PARTS, request_id=request_id)
    answer = await stack.upload(PARTS, request_id=request_id)
    assert len({created.file_id for _, created in stack.ingest.created}) == 1
    assert answer.document in stack.ingest.documents.values()


async def test_a_caller_who_goes_before_the_answer_still_gets_a_document(
    stack: Stack, eventually: Eventually
) -> None:
    stack.ingest.answering.clear()
    upload = asyncio.create_task(stack.upload(PARTS))

    async def asked() -> bool:
        return bool(stack.ingest.created)

    await eventually(asked)
    upload.cancel()
    stack.ingest.answering.set()
    await stack.tracking.track_due()
    assert list((await stack.files()).values()) == ["tracked"]


@pytest.mark.parametrize("failure", [BaseGone(), AcervoError(reasons.ERROR_REASON_FIELD_INVALID)])
async def test_a_file_that_ingest_refuses_for_good_is_released(stack: Stack, failure: AcervoError) -> None:
    stack.ingest.failures = [failure]
    request_id = str(uuid4())
    async with refused(failure.reason):
        await stack.upload(PARTS, request_id=request_id)
    await nothing_is_kept(stack)
    await stack.upload(PARTS, request_id=request_id)
    assert len(await stack.files()) == 1


async def test_a_deleted_base_takes_no_files(stack: Stack) -> None:
    async with stack.pool.acquire() as connection:
        await bases.bury(connection, BASE)
    async with refused(reasons.ERROR_REASON_BASE_DELETED):
        await stack.upload(PARTS)
    await nothing_is_kept(stack)


@pytest.mark.parametrize("parts", [[b"short"], [b"# Handbook\n" * 20_000] * 20])
async def test_a_full_disk_is_told_as_such_and_nothing_is_kept(
    stack: Stack, parts: list[bytes], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(staged_file, "_staged_name", full_device)
        async with refused(reasons.ERROR_REASON_UNAVAILABLE):
            await stack.upload(parts)
    assert [record for record in caplog.records if record.exc_info] == []
    (told,) = (record for record in caplog.records if "No space left" in str(vars(record)))
    assert told.levelname == "WARNING"
    await nothing_is_kept(stack)
    assert (await stack.upload(parts)).document.id


async def test_an_upload_that_outlived_its_blob_is_asked_to_come_again(
    stack: Stack, eventually: Eventually
) -> None:
    async def reserved() -> object:
        return await stack.pool.fetchval("SELECT true FROM blobs")

    async def stream() -> AsyncIterator[pb.UploadDocumentRequest]:
        for message in messages([b"abc" * 1000]):
            yield message
        await eventually(reserved)
        await stack.expire()
        await stack.stored()

    async with refused(reasons.ERROR_REASON_UNAVAILABLE):
        await stack.send(stream())
    await nothing_is_kept(stack)
