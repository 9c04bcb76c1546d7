"""A full disk: every write fails cleanly, nothing half-written stays, and trying again succeeds once there is space."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.values import ValueStore
from docrail.services.lake.compaction import compact
from docrail.services.lake.files import Lake
from docrail.services.lake.manifest import read_manifest
from docrail.services.lake.models import LakeVersion
from tests.disks import SmallDisk, small_disk
from tests.services.lakes import NOW, of_month, save, seen

__all__ = ["small_disk"]

FULL = "No space left"


async def test_a_blob_and_a_value(small_disk: SmallDisk) -> None:
    blobs, values = BlobStore(small_disk.root / "blobs"), ValueStore(small_disk.root / "values")
    small_disk.fill(but_bytes=100_000)
    for put in (lambda: blobs.put(bytes(300_000)), lambda: values.put("acme", "x" * 300_000)):
        with pytest.raises(OSError, match=FULL):
            await put()
        assert small_disk.files() == []
    small_disk.free()
    assert (await blobs.put(bytes(300_000))).size == 300_000
    assert (await values.put("acme", "x" * 300_000)).size == 300_002


async def test_the_lake(small_disk: SmallDisk) -> None:
    lake = Lake(small_disk.root / "lake")
    first = await save(lake, of_month("doc_1", "2026-11"))
    before = small_disk.files()
    small_disk.fill()
    with pytest.raises(OSError, match=FULL):
        await save(lake, of_month("doc_2", "2026-11"))
    with pytest.raises(OSError, match=FULL):
        await lake.write_json("acme", of_month("doc_2", "2026-11"), LakeVersion(1, NOW))
    assert small_disk.files() == before
    small_disk.free()
    second = await save(lake, of_month("doc_2", "2026-11"))
    assert min(first.size, second.size) > 0
    assert set(seen(lake)) == {"doc_1", "doc_2"}


@pytest.mark.parametrize("left_bytes", [0, 4096, 24_576, 49_152])
async def test_compaction(small_disk: SmallDisk, left_bytes: int) -> None:
    lake = Lake(small_disk.root / "lake")
    for number in range(3):
        await save(lake, of_month(f"doc_{number}", f"2026-0{number + 1}"))
    expected = seen(lake)
    small_disk.fill(but_bytes=left_bytes)
    with pytest.raises(OSError, match=FULL):
        compact(lake.of("acme"), now=NOW)
    assert not [name for name in small_disk.files() if name.endswith(".tmp")]
    assert read_manifest(lake.of("acme")).tag is None
    assert seen(lake) == expected
    small_disk.free()
    assert compact(lake.of("acme"), now=NOW).files == 3
    assert seen(lake) == expected


WITH_A_LIMIT = """
import asyncio, datetime as dt, errno, resource, sys
from pathlib import Path
from docrail.adapters.store.blobs import BlobStore
from docrail.services.lake.compaction import compact
from docrail.services.lake.files import Lake
from docrail.adapters.store.values import ValueStore
from tests.services.lakes import NOW, of_month, save, seen

root = Path(sys.argv[1])
blobs, values, lake = BlobStore(root / "blobs"), ValueStore(root / "values"), Lake(root / "lake")
asyncio.run(save(lake, of_month("doc_1", "2026-11")))
acts = [
    lambda: asyncio.run(blobs.put(bytes(50_000))),
    lambda: asyncio.run(values.put("acme", "x" * 50_000)),
    lambda: asyncio.run(save(lake, of_month("doc_2", "2026-11"))),
    lambda: compact(lake.of("acme"), now=NOW),
]
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
before = sorted(path for path in root.rglob("*") if path.is_file())
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, hard))
for act in acts:
    try:
        act()
    except OSError as error:
        assert error.errno == errno.EFBIG, error
    else:
        raise AssertionError("the limit did not hold")
    assert sorted(path for path in root.rglob("*") if path.is_file()) == before
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
for act in acts:
    act()
print(len(seen(lake)), len(list(root.rglob("*.tmp"))))
"""


async def test_a_limit_on_files_is_met_as_a_full_disk_is(tmp_path: Path) -> None:
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", WITH_A_LIMIT, str(tmp_path)), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    printed, complained = await child.communicate()
    assert (child.returncode, printed) == (0, b"2 0\n"), complained.decode()
