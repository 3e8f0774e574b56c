"""The parser pool on real processes: one bad file fails one job and nothing else.

In these tests a `.txt` is a Python program that the child runs where a reader would run; what it leaves in `text` is
the file's text. So a test can have a file crash, hang, gobble memory or look around.
"""

import asyncio
import io
import os
import random
import signal
import socket
import sys
import textwrap
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from mmap import mmap
from pathlib import Path
from typing import TypeVar

import psutil
import pytest
import zstandard
from google.protobuf.proto import parse_length_prefixed

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.ingest.v1.chunks_pb2 import Chunk, ChunkFileHeader, PageText
from services.ingest.pool.isolation import isolation_report
from services.ingest.pool.job import Cut, Job, Outcome, Refused, Written
from services.ingest.pool.parser_pool import ParserPool, PoolBroken, PoolLimits
from services.ingest.pool.records import head
from tests.fixtures.files.build import docx, paragraph, pdf

Record = TypeVar("Record", Chunk, PageText)

MIB = 1 << 20
DEADLINE = 30
LIMITS = PoolLimits(seconds=20, memory=256 * MIB, jobs=50)
GOOD = Job(b"# Good\n\nA good file.", "md", 2500, 200)

BUSY = """
import ctypes, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
ctypes.CDLL(None).prctl(15, b"busy", 0, 0, 0)
"""
"""The start of a program that shows, by the name of its process, that it has come so far."""
HANG = BUSY + "while True: pass"

PROGRAMS_AS_FILES = """
from services.shared.readers import reading
from services.shared.readers.result import Page, Parsed

def run(data, limits):
    scope = {}
    exec(data, scope)
    return Parsed((Page(0, str(scope.get("text", "done"))),))

reading.READERS["text"] = run
"""


@pytest.fixture(autouse=True)
def programs_as_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(PROGRAMS_AS_FILES, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.fixture
async def pool() -> AsyncIterator[ParserPool]:
    async with ParserPool(slots=1, limits=LIMITS) as opened:
        yield opened


def program(code: str) -> Job:
    return Job(textwrap.dedent(code).encode(), "txt", 2500, 200)


def text_of(outcome: Outcome) -> str:
    assert isinstance(outcome, Cut), outcome
    return "\n".join(page.text for page in records(outcome.pages, PageText))


def records(data: Written, kind: type[Record]) -> list[Record]:
    stream = io.BytesIO(
        zstandard.ZstdDecompressor().stream_reader(memoryview(data), read_across_frames=True).read()
    )
    found = []
    while (message := parse_length_prefixed(kind, stream)) is not None:
        found.append(message)
    return found


def reason_of(outcome: Outcome) -> int:
    assert isinstance(outcome, Refused), outcome
    return outcome.reason


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "services.ingest.pool.child" in child.cmdline()]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 - other processes set no event
            await asyncio.sleep(0.02)


def busy() -> list[psutil.Process]:
    """The parsers that have come to `BUSY`."""
    return [child for child in children() if child.name() == "busy"]


async def test_a_file_comes_back_as_pages_and_chunks_that_point_into_them(pool: ParserPool) -> None:
    pages = [f"Page {number} says {'something ' * 40}" for number in range(1, 6)]
    outcome = await pool.parse(Job(pdf(pages), "pdf", 300, 50))
    assert isinstance(outcome, Cut)
    texts = records(outcome.pages, PageText)
    chunks = records(outcome.chunks, Chunk)
    document = "\n".join(page.text for page in texts)
    assert [page.number for page in texts] == [1, 2, 3, 4, 5]
    assert (outcome.page_count, outcome.chunk_count) == (5, len(chunks))
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.text == document[chunk.start : chunk.end] for chunk in chunks)
    for chunk in chunks:
        held = Counter(document.count("\n", 0, place) + 1 for place in range(chunk.start, chunk.end))
        assert chunk.page == held.most_common(1)[0][0]
    assert all(len(chunk.text) <= 300 for chunk in chunks)


async def test_no_chunk_is_made_of_nothing_visible(pool: ParserPool) -> None:
    text = f"before {chr(0x200B) * 5000} after"
    outcome = await pool.parse(Job(text.encode(), "md", 300, 0))
    assert isinstance(outcome, Cut)
    chunks = records(outcome.chunks, Chunk)
    assert [chunk.ordinal for chunk in chunks] == list(range(outcome.chunk_count))
    assert [chunk.text.strip("\u200b ") for chunk in chunks] == ["before", "after"]


async def test_a_chunk_file_is_its_header_and_the_chunks_of_the_child(pool: ParserPool) -> None:
    outcome = await pool.parse(GOOD)
    assert isinstance(outcome, Cut)
    whole = head(ChunkFileHeader(document_id="d", chunk_count=1)) + outcome.chunks
    stream = io.BytesIO(zstandard.ZstdDecompressor().stream_reader(whole, read_across_frames=True).read())
    header = parse_length_prefixed(ChunkFileHeader, stream)
    chunk = parse_length_prefixed(Chunk, stream)
    assert header is not None
    assert chunk is not None
    assert (header.document_id, chunk.text) == ("d", "# Good\n\nA good file.")
    assert parse_length_prefixed(Chunk, stream) is None


async def test_a_file_may_be_given_by_its_path(pool: ParserPool, tmp_path: Path) -> None:
    path = tmp_path / "original"
    path.write_bytes(docx(paragraph("by path")))
    assert text_of(await pool.parse(Job(path, "docx", 2500, 200))) == "by path"
    with pytest.raises(FileNotFoundError):
        await pool.parse(Job(tmp_path / "absent", "docx", 2500, 200))
    assert text_of(await pool.parse(GOOD))


async def test_what_one_file_left_behind_is_not_in_the_next(pool: ParserPool) -> None:
    await pool.parse(Job(b"long " * 100_000, "md", 2500, 200))
    assert text_of(await pool.parse(Job(b"short", "md", 2500, 200))) == "short"


async def test_what_a_large_file_comes_to_is_not_held_in_memory_and_outlives_the_next_file(
    pool: ParserPool,
) -> None:
    words = random.Random(7).randbytes(2 << 20).hex()
    outcome = await pool.parse(Job(words.encode(), "md", 2500, 0))
    assert text_of(await pool.parse(GOOD))
    assert isinstance(outcome, Cut)
    assert isinstance(outcome.pages, mmap)
    assert isinstance(outcome.chunks, mmap)
    assert text_of(outcome) == words
    assert "".join(chunk.text for chunk in records(outcome.chunks, Chunk)) == words


async def test_a_refusal_by_the_reader_keeps_its_reason_and_the_process(pool: ParserPool) -> None:
    await pool.parse(GOOD)
    before = children()
    assert (
        reason_of(await pool.parse(Job(pdf(["x"], password="p"), "pdf", 2500, 200)))
        == pb.ERROR_REASON_FILE_ENCRYPTED
    )
    assert reason_of(await pool.parse(Job(b" ", "md", 2500, 200))) == pb.ERROR_REASON_NO_TEXT
    assert reason_of(await pool.parse(Job(b"no zip", "docx", 2500, 200))) == pb.ERROR_REASON_FILE_CORRUPT
    assert children() == before


async def test_warnings_come_back(pool: ParserPool) -> None:
    outcome = await pool.parse(Job(b"a\x00 text that is long enough to be a text", "md", 2500, 200))
    assert isinstance(outcome, Cut)
    assert [warning.code for warning in outcome.warnings] == ["characters_removed"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", pb.ERROR_REASON_PARSER_CRASHED),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", pb.ERROR_REASON_PARSER_CRASHED),
        ("import os; os._exit(0)", pb.ERROR_REASON_PARSER_CRASHED),
        ("raise RuntimeError('a bug')", pb.ERROR_REASON_PARSER_CRASHED),
        ("import sys; sys.exit()", pb.ERROR_REASON_PARSER_CRASHED),
        ("blocks = [bytearray(1 << 20) for _ in range(1000)]", pb.ERROR_REASON_PARSE_MEMORY),
    ],
)
async def test_a_file_that_kills_its_process_fails_alone(pool: ParserPool, code: str, reason: int) -> None:
    assert reason_of(await pool.parse(program(code))) == reason
    assert text_of(await pool.parse(GOOD))


async def test_a_parser_that_finds_no_room_blames_no_file_and_goes_on(pool: ParserPool) -> None:
    full = "import errno\nraise OSError(errno.ENOSPC, 'No space left on device', '/tmp/x')"
    assert reason_of(await pool.parse(program(full))) == pb.ERROR_REASON_UNAVAILABLE
    assert text_of(await pool.parse(GOOD))


async def test_a_job_may_be_given_less_time_than_any_file_may_take(pool: ParserPool) -> None:
    job = replace(program("while True: pass"), seconds=0.2)
    assert reason_of(await pool.parse(job)) == pb.ERROR_REASON_PARSE_TIMEOUT
    assert text_of(await pool.parse(GOOD))


async def test_a_file_that_hangs_is_ended_with_all_that_it_started() -> None:
    limits = PoolLimits(seconds=1, memory=LIMITS.memory)
    async with ParserPool(slots=1, limits=limits) as pool:
        code = "import os, time\nif os.fork() == 0: time.sleep(1000)\nwhile True: pass"
        job = asyncio.create_task(pool.parse(program(code)))
        await until(lambda: any(child.children() for child in children()))
        (grandchild,) = children()[0].children()
        assert reason_of(await job) == pb.ERROR_REASON_PARSE_TIMEOUT
        await until(lambda: not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE)
        assert text_of(await pool.parse(GOOD))


async def test_a_crash_leaves_the_job_beside_it_alone() -> None:
    async with ParserPool(slots=2, limits=LIMITS) as pool:
        waits = "signal.sigwait([signal.SIGUSR1])"
        slow = asyncio.create_task(pool.parse(program(BUSY + waits)))
        await until(busy)
        (process,) = busy()
        for _ in range(3):
            crashed = await pool.parse(program("import os; os.abort()"))
            assert reason_of(crashed) == pb.ERROR_REASON_PARSER_CRASHED
        assert not slow.done()
        process.send_signal(signal.SIGUSR1)
        assert text_of(await slow) == "done"


async def test_a_death_outside_a_job_is_no_files_fault(pool: ParserPool) -> None:
    await pool.parse(GOOD)
    for child in children():
        child.send_signal(signal.SIGKILL)
        child.wait(DEADLINE)
    assert text_of(await pool.parse(GOOD))


async def test_being_cancelled_ends_the_process_at_once(pool: ParserPool) -> None:
    job = asyncio.create_task(pool.parse(program(HANG)))
    await until(busy)
    (process,) = busy()
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    await until(lambda: not process.is_running())
    assert text_of(await pool.parse(GOOD))


async def test_closing_the_pool_under_a_job_blames_no_file() -> None:
    async with ParserPool(slots=1, limits=LIMITS) as pool:
        job = asyncio.create_task(pool.parse(program(HANG)))
        await until(busy)
    with pytest.raises(PoolBroken):
        await job
    assert children() == []


async def test_no_more_files_are_read_at_once_than_there_are_slots() -> None:
    async with ParserPool(slots=2, limits=LIMITS) as pool:
        outcomes = await asyncio.gather(
            *(pool.parse(program("import os; text = os.getpid()")) for _ in range(8))
        )
        assert len({text_of(outcome) for outcome in outcomes}) <= 2
        assert len(children()) <= 2


async def test_a_process_is_replaced_after_so_many_files() -> None:
    async with ParserPool(slots=1, limits=PoolLimits(memory=LIMITS.memory, jobs=2)) as pool:
        pids = [text_of(await pool.parse(program("import os; text = os.getpid()"))) for _ in range(6)]
    assert [pids.count(pid) for pid in dict.fromkeys(pids)] == [2, 2, 2]


async def test_what_a_library_prints_or_reads_does_not_reach_the_pipe(pool: ParserPool) -> None:
    code = "import os, sys; print('noise'); os.write(1, b'noise'); text = repr(sys.stdin.read())"
    assert text_of(await pool.parse(program(code))) == "''"


async def test_a_parser_has_no_network(pool: ParserPool) -> None:
    if (await pool.isolation()).network == "none":
        pytest.skip("nothing here can take the network from a process")
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"""
        import socket
        try:
            socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), 5)
            text = "connected"
        except OSError as error:
            text = "refused"
        """
        assert text_of(await pool.parse(program(code))) == "refused"


async def test_a_parser_opens_no_files_and_knows_no_secrets(
    pool: ParserPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACERVO_DATABASE_URL", "secret")
    if (await pool.isolation()).files == "none":
        pytest.skip("nothing here can keep a process from files")
    code = f"""
    import os
    def tried(path, mode):
        try:
            open(path, mode).close()
            return "opened"
        except PermissionError:
            return "refused"
    text = [tried("/etc/passwd", "r"), tried({str(tmp_path / "made")!r}, "w"), sorted(os.environ)]
    """
    async with ParserPool(slots=1, limits=LIMITS) as fresh:
        seen = text_of(await fresh.parse(program(code)))
    assert seen.startswith("['refused', 'refused', [")
    assert "ACERVO" not in seen


async def test_the_report_says_what_holds_of_the_parsers(pool: ParserPool) -> None:
    assert await asyncio.to_thread(isolation_report) == await pool.isolation()


async def test_a_pool_whose_processes_cannot_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    async with ParserPool(slots=1, limits=LIMITS) as pool:
        with pytest.raises(PoolBroken):
            await pool.parse(GOOD)


async def test_parsers_die_with_their_parent() -> None:
    code = f"""
    import asyncio
    from services.ingest.pool.job import Job
    from services.ingest.pool.parser_pool import ParserPool

    async def main():
        async with ParserPool(slots=1) as pool:
            await pool.parse(Job({HANG.encode()!r}, "txt", 2500, 200))

    asyncio.run(main())
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(code), env=environment
    )
    try:
        process = psutil.Process(parent.pid)
        await until(lambda: any(child.name() == "busy" for child in process.children()))
        (parser,) = process.children()
    finally:
        parent.kill()
        await parent.wait()
    await until(lambda: not parser.is_running() or parser.status() == psutil.STATUS_ZOMBIE)
