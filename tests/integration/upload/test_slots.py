"""How many files are taken at once, of all and of one person."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from acervo.common.v1 import error_reason_pb2 as reasons
from acervo.upload.v1 import upload_pb2 as pb
from tests.conftest import Databases
from tests.integration.upload.stack import LIMITS, Stack, refused, running

Eventually = Callable[..., Awaitable[None]]
PARTS = [b"# Handbook\n" * 20_000, b"the end\n"]


@pytest.fixture
async def stack(tmp_path: Path, databases: Databases, blob_url: str) -> AsyncIterator[Stack]:
    async with running(tmp_path, databases["upload"], blob_url) as stack:
        yield stack


@asynccontextmanager
async def held_up(stack: Stack, count: int, eventually: Eventually, **caller: str) -> AsyncIterator[None]:
    """While the block runs, so many files are taken and wait for ingest's answer."""
    before = len(stack.ingest.created)
    stack.ingest.answering.clear()
    uploads = [asyncio.create_task(stack.upload([f"file {n}".encode()], **caller)) for n in range(count)]

    async def wait() -> bool:
        return len(stack.ingest.created) == before + count

    await eventually(wait)
    yield
    stack.ingest.answering.set()
    await asyncio.gather(*uploads)


async def test_no_more_files_than_slots_are_taken_at_once(
    tmp_path: Path, databases: Databases, blob_url: str, eventually: Eventually
) -> None:
    async with running(tmp_path, databases["upload"], blob_url, replace(LIMITS, slots=1)) as stack:
        async with held_up(stack, 1, eventually):
            for caller in ({"person": "ana"}, {"person": "eva"}, {"as_service": "sync"}):
                async with refused(reasons.ERROR_REASON_OVERLOADED):
                    await stack.upload([b"other"], **caller)
        await stack.upload([b"other"])


async def test_one_person_leaves_slots_to_others_and_services_are_not_one_person(
    tmp_path: Path, databases: Databases, blob_url: str, eventually: Eventually
) -> None:
    limits = replace(LIMITS, slots=6, slots_per_caller=2)
    async with running(tmp_path, databases["upload"], blob_url, limits) as stack:
        async with (
            held_up(stack, 2, eventually, person="ana"),
            held_up(stack, 3, eventually, as_service="sync"),
            held_up(stack, 1, eventually, person="eva"),
            refused(reasons.ERROR_REASON_OVERLOADED),
        ):
            await stack.upload([b"other"], person="ana")
        await stack.upload([b"other"], person="ana")


async def test_who_was_not_let_in_takes_no_slot_of_others(
    tmp_path: Path, databases: Databases, blob_url: str, eventually: Eventually
) -> None:
    async def silent() -> AsyncIterator[pb.UploadDocumentRequest]:
        await asyncio.Event().wait()
        yield pb.UploadDocumentRequest()

    limits = replace(LIMITS, slots=1, slots_per_caller=1)
    async with running(tmp_path, databases["upload"], blob_url, limits) as stack:

        async def taken() -> object:
            return stack.service._own_places._taken

        upload = asyncio.create_task(stack.send(silent(), person="eva"))
        await eventually(taken)
        async with refused(reasons.ERROR_REASON_OVERLOADED):
            await stack.upload([b"other"], person="eva")
        await stack.upload(PARTS)
        upload.cancel()
