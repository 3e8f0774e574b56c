"""What the local connector lists, reads and takes for gone; and what it never follows."""

import os
import shutil
import time
from pathlib import Path

import pytest

from services.sync import local_directory
from services.sync.connector import Connector, Entry, SourceForbidden, SourceUnreadable, Unreadable
from services.sync.local_directory import LocalDirectory, admit, open_directory

PAST = time.time() - 3600


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


async def listed(root: Path, *, recursive: bool = True) -> list[str]:
    async with open_directory(LocalDirectory(str(root), recursive), [root.parent]) as directory:
        return [str(Path(entry.path).relative_to(root)) async for entry in directory.entries()]


async def only_entry(directory: Connector) -> Entry:
    (entry,) = [found async for found in directory.entries()]
    assert isinstance(entry, Entry)
    return entry


async def read(directory: Connector, entry: Entry) -> bytes:
    return b"".join([block async for block in directory.fetch(entry)])


async def test_files_of_all_folders_are_listed_in_order(root: Path) -> None:
    for name in ("b.md", "a.md", "sub/c.md", "sub/deep/d.md"):
        write(root / name)
    assert await listed(root) == ["a.md", "b.md", "sub/c.md", "sub/deep/d.md"]


async def test_folders_are_left_out_where_not_asked_for(root: Path) -> None:
    write(root / "a.md")
    write(root / "sub/c.md")
    assert await listed(root, recursive=False) == ["a.md"]


async def test_hidden_names_links_and_special_files_are_left_out(root: Path, tmp_path: Path) -> None:
    write(root / "a.md")
    write(root / ".hidden.md")
    write(root / ".git/config")
    outside = write(tmp_path / "outside/secret.md")
    (root / "link.md").symlink_to(outside)
    (root / "folder").symlink_to(outside.parent)
    (root / "again").symlink_to(root)
    os.mkfifo(root / "pipe")
    assert await listed(root) == ["a.md"]


async def test_a_file_that_becomes_a_link_after_the_listing_is_not_read(root: Path, tmp_path: Path) -> None:
    write(root / "sub/a.md")
    secret = write(tmp_path / "outside/a.md", "secret")
    async with open_directory(LocalDirectory(str(root), recursive=True), [root]) as directory:
        entry = await only_entry(directory)
        (root / "sub/a.md").unlink()
        (root / "sub/a.md").symlink_to(secret)
        with pytest.raises(SourceUnreadable):
            await read(directory, entry)


async def test_a_folder_that_becomes_a_link_after_the_listing_is_not_read(root: Path, tmp_path: Path) -> None:
    write(root / "sub/a.md")
    write(tmp_path / "outside/a.md", "secret")
    async with open_directory(LocalDirectory(str(root), recursive=True), [root]) as directory:
        entry = await only_entry(directory)
        (root / "sub").rename(tmp_path / "moved")
        (root / "sub").symlink_to(tmp_path / "outside")
        with pytest.raises(SourceUnreadable):
            await read(directory, entry)
        assert not await directory.gone(entry.path)


async def test_a_pipe_in_a_files_place_does_not_block_the_run(root: Path) -> None:
    write(root / "a.md")
    async with open_directory(LocalDirectory(str(root), recursive=True), [root]) as directory:
        entry = await only_entry(directory)
        (root / "a.md").unlink()
        os.mkfifo(root / "a.md")
        with pytest.raises(SourceUnreadable):
            await read(directory, entry)


async def test_the_bytes_are_read_whole(root: Path) -> None:
    content = bytes(range(256)) * 4096
    (root / "a.md").write_bytes(content)
    async with open_directory(LocalDirectory(str(root), recursive=True), [root]) as directory:
        entry = await only_entry(directory)
        assert entry.size == len(content)
        assert await read(directory, entry) == content


async def test_files_of_any_names_are_listed_read_and_known_to_be_gone_each_by_its_own_address(
    root: Path,
) -> None:
    names = [b"caf\xe9.md", b"caf\xe8.md", b"caf%E9.md", "cafe\u0301.md".encode(), "caf\u00e9.md".encode()]
    names += [b"a.md ", b"a.md", b"A.md", b"a\n.md", b"\xff%FF/a.md", b"%FF\xff/a.md"]
    for name in names:
        path = root / os.fsdecode(name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name)
    async with open_directory(LocalDirectory(str(root), recursive=True), [root]) as directory:
        entries = [found async for found in directory.entries()]
        assert len({entry.path.encode("utf-8") for entry in entries}) == len(names)
        for entry in entries:
            assert isinstance(entry, Entry)
            assert not await directory.gone(entry.path)
            name = await read(directory, entry)
            assert name in names
            (root / os.fsdecode(name)).unlink()
            assert await directory.gone(entry.path)
            names.remove(name)


async def test_the_signal_of_a_settled_file_changes_with_its_bytes_even_where_its_time_is_set_back(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(root / "a.md", "one")
    os.utime(path, (PAST, PAST))
    monkeypatch.setattr("services.sync.local_directory.SETTLED_SECONDS", -1e9)
    async with open_directory(LocalDirectory(str(root), recursive=True), [root]) as directory:
        before = await only_entry(directory)
        assert (await only_entry(directory)).signal == before.signal != ""
        write(root / "b.md", "two").rename(path)
        os.utime(path, (PAST, PAST))
        assert (await only_entry(directory)).signal != before.signal


async def test_a_file_that_has_just_changed_offers_no_signal(root: Path) -> None:
    write(root / "a.md")
    async with open_directory(LocalDirectory(str(root), recursive=True), [root]) as directory:
        assert (await only_entry(directory)).signal == ""


async def test_a_file_is_gone_only_when_its_name_is(root: Path) -> None:
    for name in ("here.md", "sub/deleted.md", "file/x.md"):
        write(root / name)
    async with open_directory(LocalDirectory(str(root), recursive=True), [root]) as directory:
        (root / "sub/deleted.md").unlink()
        (root / "file/x.md").unlink()
        (root / "file").rmdir()
        write(root / "file")
        assert not await directory.gone(f"{root}/here.md")
        assert await directory.gone(f"{root}/sub/deleted.md")
        assert await directory.gone(f"{root}/never/there.md")
        assert await directory.gone(f"{root}/file/x.md")


async def test_nothing_is_gone_when_the_directory_itself_is(root: Path) -> None:
    path = write(root / "a.md")
    async with open_directory(LocalDirectory(str(root), recursive=True), [root]) as directory:
        shutil.rmtree(root)
        assert not await directory.gone(str(path))


async def test_a_folder_that_cannot_be_listed_is_named_and_makes_the_listing_incomplete(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "a.md")
    closed = write(root / "closed/b.md").parent.stat().st_ino
    list_folder = local_directory._listed

    def refuse(folder: int) -> list[str]:
        if os.fstat(folder).st_ino == closed:
            raise SourceUnreadable
        return list_folder(folder)

    monkeypatch.setattr(local_directory, "_listed", refuse)
    async with open_directory(LocalDirectory(str(root), recursive=True), [root]) as directory:
        found = [entry async for entry in directory.entries()]
    assert [type(entry) for entry in found] == [Entry, Unreadable]
    assert isinstance(found[1], Unreadable)
    assert found[1].hides_others


def test_without_allowed_roots_every_path_is_refused(root: Path) -> None:
    with pytest.raises(SourceForbidden):
        admit(str(root), [])


@pytest.mark.parametrize(
    "path", ["{root}/..", "{root}/../other", "/etc", "relative", "{root}x", "{root}/out"]
)
def test_a_path_outside_the_roots_is_refused_whatever_is_there(root: Path, path: str) -> None:
    (root / "out").symlink_to("/etc")
    with pytest.raises(SourceForbidden):
        admit(path.format(root=root), [root])


def test_a_path_inside_is_kept_with_its_links_resolved(root: Path) -> None:
    (root / "real").mkdir()
    (root / "link").symlink_to(root / "real")
    assert admit(f"{root}/link/", [root]) == str(root / "real")


@pytest.mark.parametrize("name", ["absent", "file.md"])
def test_a_path_that_is_no_directory_is_unreadable(root: Path, name: str) -> None:
    write(root / "file.md")
    with pytest.raises(SourceUnreadable):
        admit(f"{root}/{name}", [root])


async def test_a_root_that_became_a_link_out_is_not_read(root: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside/secret.md")
    shutil.rmtree(root)
    root.symlink_to(tmp_path / "outside")
    with pytest.raises(SourceUnreadable):
        await listed(root)


async def test_a_source_made_under_other_roots_does_not_run(root: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceForbidden):
        async with open_directory(LocalDirectory(str(root), recursive=True), [tmp_path / "elsewhere"]):
            pass
