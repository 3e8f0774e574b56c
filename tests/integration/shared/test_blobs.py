import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from services.shared import blobs
from services.shared.blobs import BlobExpired, BlobNotFound, BlobStore, Collector, StorageUnavailable
from services.shared.db import Pool

Eventually = Callable[..., Awaitable[None]]
KEY = "upload/files/018f"


@pytest.fixture
def store(blob_url: str) -> BlobStore:
    return BlobStore.open(blob_url)


def files(tmp_path: Path) -> list[str]:
    root = tmp_path / "blobs"
    return sorted(
        str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and path.name != ".acervo"
    )


async def keys(store: BlobStore, prefix: str | None = None) -> list[str]:
    return sorted([key async for key in store.list_keys(prefix)])


async def states(pool: Pool) -> dict[str, str]:
    return {row["key"]: row["state"] for row in await pool.fetch("SELECT key, state FROM blobs")}


async def expire(pool: Pool, *keys: str) -> None:
    await pool.execute(
        "UPDATE blobs SET expires_at = now() - interval '1 s' WHERE key = ANY($1::text[])", keys
    )


async def commit(pool: Pool, key: str = KEY) -> None:
    async with pool.acquire() as connection, connection.transaction():
        await blobs.commit(connection, {key: 1})


# The store.


async def test_what_is_written_is_read_back_in_every_way(store: BlobStore, tmp_path: Path) -> None:
    data = bytes(range(256)) * 20_000
    async with store.writer(KEY) as writer:
        for start in range(0, len(data), 100_000):
            await writer.write(data[start : start + 100_000])
    assert await store.get(KEY) == data
    assert b"".join([chunk async for chunk in store.stream(KEY)]) == data
    await store.download(KEY, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == data
    await store.put("upload/empty", b"")
    assert await store.get("upload/empty") == b""
    assert await keys(store) == ["upload/empty", KEY]
    assert await keys(store, "upload/files") == [KEY]


async def test_an_object_appears_whole_or_not_at_all(store: BlobStore, tmp_path: Path) -> None:
    async with store.writer(KEY) as writer:
        await writer.write(b"x" * 10_000_000)
        with pytest.raises(BlobNotFound):
            await store.get(KEY)
    assert len(await store.get(KEY)) == 10_000_000
    for error in (RuntimeError, asyncio.CancelledError):
        with pytest.raises(error):
            async with store.writer("upload/other") as writer:
                await writer.write(b"x" * 10_000_000)
                raise error
    assert files(tmp_path) == [KEY]


async def test_an_absent_object_is_named_and_deleting_it_is_fine(store: BlobStore, tmp_path: Path) -> None:
    with pytest.raises(BlobNotFound):
        await store.get("upload/absent")
    with pytest.raises(BlobNotFound):
        async for _ in store.stream("upload/absent"):
            pass
    with pytest.raises(BlobNotFound):
        await store.download("upload/absent", tmp_path / "copy")
    await store.delete(["upload/absent", "ingest/nor/this"])
    await store.delete([])


async def test_absent_objects_do_not_keep_the_others_of_a_batch(store: BlobStore) -> None:
    present = [f"upload/files/{n:03}" for n in range(1, 100)]
    for key in present:
        await store.put(key, b"x")
    await store.delete(["upload/files/000", *present, "upload/files/100"])
    assert await keys(store) == []


async def test_the_folders_that_one_thing_alone_had_go_with_its_last_object(
    store: BlobStore, tmp_path: Path
) -> None:
    for key in ("ingest/pages/document/1/1", "ingest/pages/document/2/1", "upload/files/file"):
        await store.put(key, b"bytes")
    root = next(path for path in tmp_path.rglob("ingest")).parent
    await store.delete(["ingest/pages/document/1/1", "upload/files/file"])
    assert not (root / "ingest/pages/document/1").exists()
    assert (root / "ingest/pages/document/2/1").exists()
    await store.delete(["ingest/pages/document/2/1"])
    assert [path.name for path in (root / "ingest/pages").iterdir()] == []
    assert (root / "upload/files").is_dir()


async def test_what_a_killed_writer_left_goes_with_its_key(
    store: BlobStore, blob_url: str, tmp_path: Path
) -> None:
    program = f"""
import asyncio
from services.shared.blobs import BlobStore
async def main():
    async with BlobStore.open({blob_url!r}).writer({KEY!r}) as writer:
        await writer.write(b"x" * 20_000_000)
        print("written", flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""
    for _ in range(2):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        assert await process.stdout.readline() == b"written\n"
        process.kill()
        await process.communicate()
    await store.put(f"{KEY}0", b"a neighbour")
    assert len(files(tmp_path)) == 3
    assert await keys(store) == [f"{KEY}0"]
    await store.delete([KEY])
    assert files(tmp_path) == [f"{KEY}0"]


# The rows.


async def test_a_blob_is_pending_then_live_then_deleting_then_gone(pool: Pool, store: BlobStore) -> None:
    await blobs.reserve(pool, KEY, seconds=600)
    await store.put(KEY, b"x")
    assert await states(pool) == {KEY: "pending"}
    await commit(pool)
    assert await states(pool) == {KEY: "live"}
    collector = Collector(pool, store, 30)
    assert await collector.collect() == 0
    async with pool.acquire() as connection:
        await blobs.release(connection, [KEY])
    assert await states(pool) == {KEY: "deleting"}
    assert await collector.collect() == 1
    assert (await states(pool), await keys(store)) == ({}, [])


async def test_an_owner_that_rolls_back_leaves_its_blob_pending(pool: Pool) -> None:
    await blobs.reserve(pool, KEY, seconds=600)
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await blobs.commit(connection, {KEY: 1})
        await transaction.rollback()
    assert await states(pool) == {KEY: "pending"}


async def test_a_live_blob_is_kept_however_old_and_an_expired_one_is_not(
    pool: Pool, store: BlobStore
) -> None:
    for key in ("upload/live", "upload/expired", "upload/running"):
        await blobs.reserve(pool, key, seconds=600)
        await store.put(key, b"x")
    await commit(pool, "upload/live")
    await pool.execute("UPDATE blobs SET expires_at = now() - interval '1 year' WHERE key = 'upload/live'")
    await expire(pool, "upload/expired")
    assert await Collector(pool, store, 30).collect() == 1
    assert await keys(store) == ["upload/live", "upload/running"]
    assert await states(pool) == {"upload/live": "live", "upload/running": "pending"}


async def test_a_writer_that_was_given_up_learns_it_and_can_neither_extend_nor_commit(
    pool: Pool, store: BlobStore
) -> None:
    await blobs.reserve(pool, KEY, seconds=600)
    await expire(pool, KEY)
    await Collector(pool, store, 30).collect()
    with pytest.raises(BlobExpired):
        await blobs.extend(pool, KEY, 600)
    with pytest.raises(BlobExpired):
        await commit(pool)


async def test_a_writer_that_extends_in_time_keeps_its_blob(pool: Pool, store: BlobStore) -> None:
    await blobs.reserve(pool, KEY, seconds=0)
    await blobs.extend(pool, KEY, 600)
    assert await Collector(pool, store, 30).collect() == 0
    await commit(pool)


@pytest.mark.parametrize("first", ["commit", "collect"])
async def test_of_a_commit_and_a_collection_at_once_exactly_one_wins(
    pool: Pool, store: BlobStore, first: str
) -> None:
    await blobs.reserve(pool, KEY, seconds=600)
    await store.put(KEY, b"x")
    await expire(pool, KEY)
    collector = Collector(pool, store, 30)
    if first == "commit":
        async with pool.acquire() as connection, connection.transaction():
            await blobs.commit(connection, {KEY: 1})
            assert await collector.collect() == 0
        assert await collector.collect() == 0
        assert await keys(store) == [KEY]
    else:
        assert await collector.collect() == 1
        with pytest.raises(BlobExpired):
            await commit(pool)


async def test_two_collectors_remove_each_blob_once(pool: Pool, store: BlobStore) -> None:
    names = [f"upload/files/{n}" for n in range(600)]
    for name in names[::7]:
        await store.put(name, b"x")
    await pool.execute(
        "INSERT INTO blobs (key, state, expires_at) SELECT key, 'deleting', now() FROM unnest($1::text[]) AS key",
        names,
    )
    collectors = [Collector(pool, store, 30), Collector(pool, store, 30)]
    removed = await asyncio.gather(*(collector.collect() for collector in collectors * 3))
    assert sum(removed) == 600
    assert (await states(pool), await keys(store)) == ({}, [])


async def test_a_removal_that_fails_is_tried_again_later(
    pool: Pool, store: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await blobs.reserve(pool, KEY, seconds=600)
    await store.put(KEY, b"x")
    await expire(pool, KEY)
    collector = Collector(pool, store, 30)
    with monkeypatch.context() as patched:

        async def refuse(keys: object) -> None:
            raise OSError("the storage is away")

        patched.setattr(store, "delete", refuse)
        with pytest.raises(OSError, match="away"):
            await collector.collect()
    assert await collector.collect() == 0
    assert await states(pool) == {KEY: "deleting"}
    await expire(pool, KEY)
    assert await collector.collect() == 1
    assert (await states(pool), await keys(store)) == ({}, [])


async def test_an_object_is_given_up_unless_it_is_live_whatever_its_writer_heard(pool: Pool) -> None:
    await blobs.reserve(pool, "upload/live", "upload/pending", seconds=600)
    await commit(pool, "upload/live")
    async with pool.acquire() as connection:
        unwanted = [
            key for key in ("live", "pending", "gone") if await blobs.abandon(connection, f"upload/{key}")
        ]
    assert unwanted == ["pending", "gone"]
    assert await states(pool) == {"upload/live": "live", "upload/pending": "deleting"}


async def test_giving_up_waits_for_a_commit_under_way(pool: Pool, eventually: Eventually) -> None:
    await blobs.reserve(pool, KEY, seconds=600)

    async def give_up() -> bool:
        async with pool.acquire() as connection:
            return await blobs.abandon(connection, KEY)

    async def waits() -> object:
        return await pool.fetchval("SELECT true FROM pg_locks WHERE NOT granted")

    async with pool.acquire() as connection, connection.transaction():
        await blobs.commit(connection, {KEY: 5})
        giving_up = asyncio.create_task(give_up())
        await eventually(waits)
    assert not await giving_up
    assert await states(pool) == {KEY: "live"}


# The storage that is not the one.


async def test_nothing_is_absent_written_or_removed_in_storage_that_is_not_there(
    pool: Pool, store: BlobStore, tmp_path: Path
) -> None:
    await blobs.reserve(pool, KEY, seconds=600)
    await store.put(KEY, b"x")
    for kind in ("an empty folder", "no folder"):
        (tmp_path / "blobs").rename(tmp_path / "away")
        if kind == "an empty folder":
            (tmp_path / "blobs").mkdir()
        for use in (
            store.get(KEY),
            store.download(KEY, tmp_path / "copy"),
            store.put("upload/files/other", b"y"),
            store.delete([KEY]),
        ):
            with pytest.raises(StorageUnavailable):
                await use
        await expire(pool, KEY)
        with pytest.raises(StorageUnavailable):
            await Collector(pool, store, 30).collect()
        assert await states(pool) == {KEY: "deleting"}
        assert list(tmp_path.glob("blobs/*")) == []
        if kind == "an empty folder":
            (tmp_path / "blobs").rmdir()
        (tmp_path / "away").rename(tmp_path / "blobs")
        assert await store.get(KEY) == b"x"


async def test_a_service_claims_empty_storage_for_its_first_blob_and_no_other_for_a_later_one(
    pool: Pool, tmp_path: Path
) -> None:
    first, other = (BlobStore.open(f"file://{tmp_path}/{name}") for name in ("first", "other"))
    await blobs.claim(pool, first, "upload")
    await first.put(KEY, b"x")
    await blobs.reserve(pool, KEY, seconds=600)
    await commit(pool)
    with pytest.raises(StorageUnavailable):
        await blobs.claim(pool, other, "upload")
    with pytest.raises(StorageUnavailable):
        await other.get(KEY)
    await blobs.claim(pool, first, "upload")
    # Storage of before there were marks holds what is live.
    (tmp_path / "first" / "upload" / ".acervo").unlink()
    await blobs.claim(pool, first, "upload")
    assert await first.is_marked("upload")


async def test_one_services_mark_says_nothing_of_anothers(pool: Pool, tmp_path: Path) -> None:
    store = BlobStore.open(f"file://{tmp_path}/other")
    await blobs.claim(pool, store, "ingest")
    with pytest.raises(StorageUnavailable):
        await store.get(KEY)
    with pytest.raises(BlobNotFound):
        await store.get("ingest/pages/1")
