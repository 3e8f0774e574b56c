import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from services.shared.staged_file import StagedFileGone, staged_file, write_file


def _left(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


@pytest.mark.parametrize("step", [1, 1000, 1 << 18, 3 << 20])
async def test_bytes_arrive_whole_and_in_order(tmp_path: Path, step: int) -> None:
    data = random.Random(7).randbytes(5_000 if step == 1 else 5_000_000)
    async with staged_file(tmp_path / "deep" / "a") as writer:
        for start in range(0, len(data), step):
            await writer.write(data[start : start + step])
    assert (tmp_path / "deep" / "a").read_bytes() == data
    assert _left(tmp_path / "deep") == ["a"]


async def test_a_file_without_bytes_appears_too(tmp_path: Path) -> None:
    async with staged_file(tmp_path / "a"):
        pass
    assert (tmp_path / "a").read_bytes() == b""


async def test_nothing_appears_before_the_end(tmp_path: Path) -> None:
    async with staged_file(tmp_path / "a") as writer:
        await writer.write(b"x" * (2 << 20))
        assert not (tmp_path / "a").exists()


async def test_nothing_is_left_of_what_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        async with staged_file(tmp_path / "a") as writer:
            await writer.write(b"x" * (2 << 20))
            raise KeyError
    assert _left(tmp_path) == []


async def test_nothing_is_left_of_what_is_cancelled(tmp_path: Path) -> None:
    started = asyncio.Event()

    async def write() -> None:
        async with staged_file(tmp_path / "a") as writer:
            await writer.write(b"x" * (2 << 20))
            started.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(write())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert _left(tmp_path) == []


async def test_a_failed_write_is_reported_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="closed"):
        async with staged_file(tmp_path / "a") as writer:
            writer._file.close()
            await writer.write(b"x" * (2 << 20))
    assert _left(tmp_path) == []


async def _in_parts(target: Path) -> None:
    async with staged_file(target) as writer:
        await writer.write(b"x")


async def _at_once(target: Path) -> None:
    write_file(target, b"x")


@pytest.mark.parametrize("write", [_in_parts, _at_once])
async def test_what_appears_is_on_the_disk_with_every_folder_that_leads_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], Awaitable[None]]
) -> None:
    target = tmp_path / "new" / "deep" / "a"
    synced: list[tuple[Path, bool]] = []
    fsync = os.fsync

    def note(descriptor: int) -> None:
        synced.append((Path(f"/proc/self/fd/{descriptor}").readlink(), target.exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    await write(target)
    assert target.read_bytes() == b"x"
    (bytes_, appeared), *folders = synced
    assert (bytes_.parent, appeared) == (target.parent, False)
    assert folders == [(target.parent, True), (tmp_path / "new", True), (tmp_path, True)]


async def test_a_file_that_was_removed_while_it_was_written_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(StagedFileGone):
        async with staged_file(tmp_path / "a"):
            next(tmp_path.iterdir()).unlink()
    assert _left(tmp_path) == []


@pytest.mark.parametrize("moment", range(12))
async def test_a_cancellation_at_any_moment_leaves_the_whole_file_or_nothing(
    tmp_path: Path, moment: int
) -> None:
    async def write() -> None:
        async with staged_file(tmp_path / "deep" / "a") as writer:
            await writer.write(b"x" * (2 << 20))
            await writer.write(b"y")

    task = asyncio.create_task(write())
    for _ in range(moment):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    left = {path: path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()}
    assert left in ({}, {tmp_path / "deep" / "a": (2 << 20) + 1})
