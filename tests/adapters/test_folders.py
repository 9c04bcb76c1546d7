"""Folders: a local disk and S3 keep the same promises."""

import asyncio
import datetime as dt
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from docrail.adapters.store.folders import FileChanged, Folder, LocalFolder
from docrail.adapters.store.open_store import checked_location, open_store
from docrail.adapters.store.s3 import S3Unavailable, open_s3
from tests.s3 import KEYS, Bucket


@pytest.fixture(params=["local", "s3"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    if request.param == "local":
        return LocalFolder(tmp_path / "not made yet")
    made: Bucket = request.getfixturevalue("bucket")
    return made.folder


def test_written_bytes_are_read_back_whole_and_in_parts(folder: Folder) -> None:
    data = bytes(range(256)) * 1000
    folder.write("a/b", b"old")
    folder.write("a/b", data)
    assert folder.read("a/b") == data
    with folder.open("a/b") as file:
        assert file.read(3) == data[:3]
        file.seek(-10, os.SEEK_END)
        assert (file.tell(), file.read()) == (len(data) - 10, data[-10:])
        assert file.read(1) == b""
    found = folder.stat("a/b")
    assert found is not None
    assert found.size == len(data)
    assert abs(found.modified_at - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=1)


def test_many_files_are_written_at_once(folder: Folder) -> None:
    folder.write("a/1", b"old")
    files = {f"{number % 3}/{number}": b"%d" % number for number in range(20)} | {"a/1": b"new"}
    folder.write_all(files)
    assert {info.path: folder.read(info.path) for info in folder.files()} == files


def test_a_file_that_is_not_there_is_reported_and_deleted_already(folder: Folder) -> None:
    for look in (folder.read, folder.open):
        with pytest.raises(FileNotFoundError):
            look("a/none")
    assert (folder.stat("a/none"), folder.read_tagged("a/none"), list(folder.files("a"))) == (None, None, [])
    folder.delete("a/none")
    folder.write("a/none", b"")
    folder.delete("a/none")
    assert folder.stat("a/none") is None


def test_creating_again_changes_nothing(folder: Folder) -> None:
    assert folder.create("x", b"first")
    assert not folder.create("x", b"second")
    assert folder.read("x") == b"first"


def test_a_swap_needs_the_tag_of_what_it_replaces(folder: Folder) -> None:
    folder.swap("m", b"1", None)
    read = folder.read_tagged("m")
    assert read is not None
    folder.swap("m", b"2", read.tag)
    for tag in (read.tag, None):
        with pytest.raises(FileChanged):
            folder.swap("m", b"3", tag)
    assert folder.read("m") == b"2"
    folder.delete("m")
    with pytest.raises(FileChanged):
        folder.swap("m", b"3", read.tag)


def test_of_many_swaps_at_once_none_is_lost(folder: Folder) -> None:
    folder.write("count", b"0")

    def add() -> None:
        while True:
            read = folder.read_tagged("count")
            assert read is not None
            try:
                folder.swap("count", str(int(read.data) + 1).encode(), read.tag)
            except FileChanged:
                continue
            return

    with ThreadPoolExecutor(8) as pool:
        for added in [pool.submit(add) for _ in range(24)]:
            added.result()
    assert folder.read("count") == b"24"


def test_files_and_folders_are_listed_below_a_folder_only(folder: Folder) -> None:
    for path in ("t/parquet/1", "t/parquet/deep/2", "t/parquets/3", "u/4", "5"):
        folder.write(path, b"")
    assert sorted(info.path for info in folder.files("t/parquet")) == ["t/parquet/1", "t/parquet/deep/2"]
    assert len(list(folder.files())) == 5
    assert (folder.folders(), folder.folders("t"), folder.folders("none")) == (["t", "u"], ["parquet", "parquets"], [])
    assert sorted(info.path for info in folder.sub("t").files("parquet")) == ["parquet/1", "parquet/deep/2"]
    assert folder.sub("t").sub("parquet").read("1") == b""


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "a\0"])
def test_no_path_leads_out(folder: Folder, path: str) -> None:
    for use in (folder.read, folder.stat, folder.delete, lambda path: folder.write(path, b"")):
        with pytest.raises(ValueError, match="does not stay in its folder"):
            use(path)


def test_only_a_disks_files_lie_on_this_machine(folder: Folder) -> None:
    here = folder.local_path("a")
    assert here is None or here.name == "a"
    assert (here is None) is not isinstance(folder, LocalFolder)
    assert folder.remove_leftovers() == 0


def test_a_location_is_a_folder_or_a_bucket_and_holds_no_key(tmp_path: Path) -> None:
    assert open_store(None, tmp_path) == LocalFolder(tmp_path)
    assert open_store(f"file://{tmp_path}/a%20b", Path("x")) == LocalFolder(tmp_path / "a b")
    for wrong in ("/srv", "file://host/x", "file:x", "s3:///x", "s3://key:secret@bucket/x", "gs://b", "s3://b?x=1"):
        with pytest.raises(ValueError, match="expected s3://bucket/prefix or file:///folder") as refused:
            checked_location(wrong)
        assert "secret@" not in str(refused.value)


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch, unused_port: Callable[[], int]) -> Folder:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("docrail.adapters.store.s3.RETRY_SECONDS", 0)
    return open_s3("documents", endpoint=f"http://127.0.0.1:{unused_port()}")


@pytest.fixture
def unused_port() -> Iterator[Callable[[], int]]:
    import socket

    with socket.socket() as taken:  # bound and not listening: whoever connects is refused
        taken.bind(("127.0.0.1", 0))
        yield lambda: int(taken.getsockname()[1])


def test_an_unavailable_s3_is_an_os_error_without_our_keys(away: Folder) -> None:
    for use in (
        away.read,
        away.stat,
        away.delete,
        lambda path: away.write(path, b""),
        lambda path: [*away.files(path)],
    ):
        with pytest.raises(S3Unavailable, match=r"cannot [a-z ]+ a in the S3 bucket 'documents'") as reported:
            use("a")
        assert not any(key in repr(reported.value) for key in KEYS.values() if key != "eu-west-1")
        assert "\n" not in str(reported.value)


@pytest.mark.parametrize("given", [(), ("AWS_ACCESS_KEY_ID",), ("AWS_SECRET_ACCESS_KEY",)], ids=str)
def test_s3_without_keys_is_reported_with_what_to_set(
    given: tuple[str, ...], bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} - {*given}:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", f"{bucket.endpoint}/no-such-bucket")  # a server that gives no keys
    with pytest.raises(
        S3Unavailable, match=r"cannot .* 'documents': its keys are missing or incomplete: set AWS_ACCESS_KEY_ID and"
    ):
        open_s3("documents", endpoint=bucket.endpoint).read("a")


def test_a_bucket_that_does_not_exist_is_reported(bucket: Bucket) -> None:
    folder = open_s3("no-such-bucket", endpoint=bucket.endpoint)
    for use in (
        folder.read,
        folder.read_tagged,
        folder.delete,
        lambda path: folder.write(path, b""),
        lambda path: folder.create(path, b""),
        lambda path: folder.swap(path, b"", None),
        lambda path: folder.swap(path, b"", '"a tag"'),
        lambda path: [*folder.files(path)],
    ):
        with pytest.raises(S3Unavailable, match=r"cannot \w+ a in the S3 bucket 'no-such-bucket': it does not exist"):
            use("a")


async def test_a_loop_is_not_held_while_s3_works(bucket: Bucket) -> None:
    await asyncio.gather(*(asyncio.to_thread(bucket.folder.write, str(number), b"x") for number in range(20)))
    assert len(list(bucket.folder.files())) == 20
