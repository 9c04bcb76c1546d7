"""Blobs: kept once, whole or not at all, inside their folder."""

import asyncio
import hashlib
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.blobs import BlobDamaged, BlobMissing, BlobRef, BlobStore
from storage.files import remove_leftovers, write_atomic

DATA = b"%PDF-1.7 " + bytes(range(256)) * 100
SHA256 = hashlib.sha256(DATA).hexdigest()

PUT_ON_A_FULL_DISK = """
import asyncio, errno, resource, sys
from pathlib import Path
from storage.blobs import BlobStore

store = BlobStore(Path(sys.argv[1]))
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, most))
try:
    asyncio.run(store.put(bytes(50_000)))
except OSError as error:
    assert error.errno == errno.EFBIG, error
else:
    raise AssertionError("the limit did not hold")
assert [path for path in store.root.rglob("*") if path.is_file()] == []
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
print(asyncio.run(store.put(bytes(50_000))).size)
"""


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "deep" / "blobs")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB, where the machine lets us mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("this user may not mount a file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_blob_is_named_by_its_bytes_and_read_back(store: BlobStore) -> None:
    assert await store.put(DATA) == BlobRef(SHA256, len(DATA))
    assert await store.get(SHA256) == DATA
    assert files(store.root) == [store.path(SHA256)] == [store.root / SHA256[:2] / SHA256]


async def test_no_bytes_are_a_blob_too(store: BlobStore) -> None:
    reference = await store.put(b"")
    assert await store.get(reference.sha256) == b""


async def test_bytes_that_are_kept_are_not_written_again(store: BlobStore) -> None:
    await store.put(DATA)
    before = store.path(SHA256).stat()
    await store.put(DATA)
    after = store.path(SHA256).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


async def test_many_puts_at_once_leave_one_whole_blob(store: BlobStore) -> None:
    assert set(await asyncio.gather(*(store.put(DATA) for _ in range(20)))) == {BlobRef(SHA256, len(DATA))}
    assert files(store.root) == [store.path(SHA256)]
    assert await store.get(SHA256) == DATA


async def test_a_reader_never_sees_half_a_blob(store: BlobStore) -> None:
    seen: set[bytes] = set()
    path = store.path(SHA256)

    async def watch(writing: asyncio.Task[BlobRef]) -> None:
        while not writing.done():
            seen.add(path.read_bytes() if path.exists() else b"")
            await asyncio.sleep(0)

    await watch(asyncio.create_task(store.put(DATA)))
    assert seen <= {b"", DATA}


async def test_a_missing_blob_is_named(store: BlobStore) -> None:
    with pytest.raises(BlobMissing, match=SHA256) as missing:
        await store.get(SHA256)
    assert missing.value.sha256 == SHA256
    assert not isinstance(missing.value, ValueError)  # the wrapper would not retry it


async def test_a_damaged_blob_is_refused_and_healed_by_the_next_put(store: BlobStore) -> None:
    await store.put(DATA)
    store.path(SHA256).write_bytes(DATA[:-1] + b"!")
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
        store.path(name)
    with pytest.raises(ValueError, match="64 lowercase hexadecimal digits"):
        await store.get(name)


async def test_a_full_disk_is_an_os_error_and_leaves_nothing(small_disk: Path) -> None:
    store = BlobStore(small_disk)
    with pytest.raises(OSError, match="No space left"):
        await store.put(bytes(200_000))
    assert files(small_disk) == []
    assert (await store.put(b"small")).size == 5


def test_a_file_size_limit_is_an_os_error_and_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PUT_ON_A_FULL_DISK, str(tmp_path)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "50000\n"), ended.stderr


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
    folder = store.path(SHA256).parent
    old, writing = folder / f".{SHA256}.00ff.tmp", folder / f".{SHA256}.11ee.tmp"
    for path in (old, writing):
        path.write_bytes(DATA[:100])
    for path in (old, store.path(SHA256)):
        os.utime(path, (time.time() - 7200, time.time() - 7200))
    assert remove_leftovers(store.root) == 1
    assert sorted(files(store.root)) == sorted([writing, store.path(SHA256)])
    assert remove_leftovers(store.root / "not made yet") == 0
