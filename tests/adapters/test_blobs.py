"""Blobs: kept once, whole or not at all, inside their folder."""

import asyncio
import hashlib
import os
import resource
import tempfile
import time
from pathlib import Path

import pytest

from docrail.adapters.store.blobs import (
    COPY_PREFIX,
    BlobDamaged,
    BlobMissing,
    BlobRef,
    BlobStore,
    blob_path,
    remove_copies,
)
from docrail.adapters.store.files import remove_leftovers, write_atomic
from docrail.adapters.store.folders import local_root
from tests.s3 import Bucket

DATA = b"%PDF-1.7 " + bytes(range(256)) * 100
SHA256 = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "deep" / "blobs")


def root(store: BlobStore) -> Path:
    return local_root(store.folder)


def path_of(store: BlobStore) -> Path:
    return root(store) / blob_path(SHA256)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_blob_is_named_by_its_bytes_and_read_back(store: BlobStore) -> None:
    assert await store.put(DATA) == BlobRef(SHA256, len(DATA))
    assert await store.get(SHA256) == DATA
    assert files(root(store)) == [path_of(store)] == [root(store) / SHA256[:2] / SHA256]


async def test_no_bytes_are_a_blob_too(store: BlobStore) -> None:
    reference = await store.put(b"")
    assert await store.get(reference.sha256) == b""


async def test_bytes_that_are_kept_are_not_written_again(store: BlobStore) -> None:
    await store.put(DATA)
    before = path_of(store).stat()
    await store.put(DATA)
    after = path_of(store).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


async def test_bytes_that_are_put_again_after_days_count_as_new(store: BlobStore) -> None:
    await store.put(DATA)
    os.utime(path_of(store), (time.time() - 2 * 86_400, time.time() - 2 * 86_400))
    await store.put(DATA)
    assert time.time() - path_of(store).stat().st_mtime < 60


async def test_a_blob_on_this_machine_is_at_hand_where_it_lies(store: BlobStore) -> None:
    await store.put(DATA)
    async with store.at_hand(SHA256) as path:
        assert path == path_of(store)
    assert path.exists()


async def test_a_blob_in_s3_is_kept_once_and_read_back(bucket: Bucket) -> None:
    store = BlobStore(bucket.folder)
    references = await asyncio.gather(*(store.put(DATA) for _ in range(5)))
    assert set(references) == {BlobRef(SHA256, len(DATA))}
    assert [info.path for info in bucket.folder.files()] == [f"{SHA256[:2]}/{SHA256}"]
    assert await store.get(SHA256) == DATA
    with pytest.raises(BlobMissing):
        await store.get("0" * 64)


async def test_a_blob_in_s3_is_at_hand_as_a_private_checked_copy(bucket: Bucket) -> None:
    store = BlobStore(bucket.folder)
    await store.put(DATA)
    async with store.at_hand(SHA256) as path:
        assert path.read_bytes() == DATA
        assert path.parent.stat().st_mode & 0o077 == 0
    assert not path.parent.exists()
    bucket.folder.write(f"{SHA256[:2]}/{SHA256}", DATA[:-1] + b"!")
    with pytest.raises(BlobDamaged):
        async with store.at_hand(SHA256):
            pytest.fail("handed out")
    await store.put(DATA)
    assert await store.get(SHA256) == DATA


async def test_many_puts_at_once_leave_one_whole_blob(store: BlobStore) -> None:
    assert set(await asyncio.gather(*(store.put(DATA) for _ in range(20)))) == {BlobRef(SHA256, len(DATA))}
    assert files(root(store)) == [path_of(store)]
    assert await store.get(SHA256) == DATA


async def test_a_reader_never_sees_half_a_blob(store: BlobStore) -> None:
    seen: set[bytes] = set()
    path = path_of(store)

    async def watch(writing: asyncio.Task[BlobRef]) -> None:
        while not writing.done():
            seen.add(path.read_bytes() if path.exists() else b"")
            await asyncio.sleep(0)  # gives the writer its turn between two looks

    await watch(asyncio.create_task(store.put(DATA)))
    assert seen <= {b"", DATA}


async def test_a_missing_blob_is_named(store: BlobStore) -> None:
    with pytest.raises(BlobMissing, match=SHA256) as missing:
        await store.get(SHA256)
    assert missing.value.sha256 == SHA256
    assert not isinstance(missing.value, ValueError)  # the wrapper would not retry it


async def test_a_damaged_blob_is_refused_and_healed_by_the_next_put(store: BlobStore) -> None:
    await store.put(DATA)
    path_of(store).write_bytes(DATA[:-1] + b"!")
    with pytest.raises(BlobDamaged):
        await store.get(SHA256)
    await store.put(DATA)
    assert await store.get(SHA256) == DATA


@pytest.mark.parametrize(
    "name",
    [
        "",
        "..",
        "../../etc/passwd",
        "/etc/passwd",
        f"{SHA256}/..",
        f"../{SHA256}",
        SHA256.upper(),
        SHA256[:-1],
        f"{SHA256}\n",
    ],
)
async def test_a_name_that_is_no_sha256_never_becomes_a_path(store: BlobStore, name: str) -> None:
    with pytest.raises(ValueError, match="64 lowercase hexadecimal digits"):
        blob_path(name)
    with pytest.raises(ValueError, match="64 lowercase hexadecimal digits"):
        await store.get(name)


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomic(path, b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            write_atomic(path, bytes(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"old"
    assert files(tmp_path) == [path]


async def test_leftovers_of_killed_writers_are_removed_and_nothing_else(store: BlobStore) -> None:
    await store.put(DATA)
    folder = path_of(store).parent
    old, writing = folder / f".{SHA256}.00ff.tmp", folder / f".{SHA256}.11ee.tmp"
    for path in (old, writing):
        path.write_bytes(DATA[:100])
    for path in (old, path_of(store)):
        os.utime(path, (time.time() - 7200, time.time() - 7200))
    assert remove_leftovers(root(store)) == 1
    assert sorted(files(root(store))) == sorted([writing, path_of(store)])
    assert remove_leftovers(root(store) / "not made yet") == 0


def test_documents_that_a_killed_worker_copied_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    old, used, other = (tmp_path / name for name in (f"{COPY_PREFIX}a", f"{COPY_PREFIX}b", "docrail-demo"))
    for folder in (old, used, other):
        folder.mkdir()
        (folder / "document").write_bytes(DATA)
    for folder in (old, other):
        os.utime(folder, (time.time() - 7200, time.time() - 7200))
    assert remove_copies() == 1
    assert sorted(tmp_path.iterdir()) == sorted([used, other])
