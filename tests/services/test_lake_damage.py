"""Files of the lake that are damaged, or of a later release: none is lost, and what stops for one names it."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from docrail.adapters.store.folders import Folder
from docrail.services.lake.compaction import compact, tidy
from docrail.services.lake.files import Lake, saved_in
from docrail.services.lake.manifest import Manifest, Part, read_manifest, swap_manifest
from docrail.services.lake.parquet import (
    LAKE_SCHEMA_VERSION,
    SCHEMA,
    LakeFileDamaged,
    pack,
    read_document,
    read_rows,
    read_versions,
)
from docrail.services.lake.query import open_lake
from tests.services.lakes import NOW, of_month, save, seen

GRACE = dt.timedelta(hours=24)
STEP = 37
"""Of the positions that are damaged, one after the other; all of them were tried once."""
LATER_SCHEMA = {"schema_version": str(LAKE_SCHEMA_VERSION + 1)}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def spoil(lake: Lake, name: str) -> None:
    lake.of("acme").write(f"parquet/{name}.parquet", b"PAR1 no more")


def mend(lake: Lake, name: str) -> None:
    (lake.root / "acme" / "parquet" / f"{name}.parquet").unlink()


@pytest.mark.parametrize("spoilt", [["doc_1.v3"], ["doc_1.v3", "doc_1.v2"]])
async def test_the_latest_readable_version_is_merged_and_stays(lake: Lake, spoilt: list[str]) -> None:
    for version in (1, 2, 3):
        await save(lake, of_month("doc_1", "2026-11", str(version)), version)
    for name in spoilt:
        spoil(lake, name)
    assert compact(lake.of("acme"), now=NOW).rows == 1
    tidy(lake.of("acme"), now=NOW + 2 * GRACE, grace=GRACE)
    assert [Path(saved.path).stem for saved in saved_in(lake.of("acme"), "parquet")] == sorted(spoilt)
    for name in spoilt:
        mend(lake, name)
    good = 3 - len(spoilt)
    assert seen(lake) == {"doc_1": (good, Decimal(good))}


async def test_files_unreadable_in_every_version_are_never_deleted(lake: Lake) -> None:
    for name in ("doc_1.v1", "doc_1.v2"):
        spoil(lake, name)
    compact(lake.of("acme"), now=NOW)
    tidy(lake.of("acme"), now=NOW + 2 * GRACE, grace=GRACE)
    assert len(saved_in(lake.of("acme"), "parquet")) == 2


async def test_a_file_that_holds_another_document_is_damaged(lake: Lake) -> None:
    file = await save(lake, of_month("doc_1", "2026-11"))
    lake.folder.write("acme/parquet/doc_2.v1.parquet", lake.folder.read(file.path))
    assert compact(lake.of("acme"), now=NOW).files == 1
    with pytest.raises(LakeFileDamaged, match=r"doc_2\.v1\.parquet .*it holds \[\('doc_1', 1\)\]"):
        open_lake(lake)


async def test_a_file_with_any_damaged_byte_is_named_and_the_others_are_compacted(lake: Lake) -> None:
    file = await save(lake, of_month("doc_1", "2026-11"))
    tenant, path = lake.of("acme"), file.path.removeprefix("acme/")
    data, named = tenant.read(path), 0
    [saved] = saved_in(tenant, "parquet")
    for position in range(0, len(data), STEP):
        tenant.write(path, flipped(data, position))
        if is_named(lambda: read_document(tenant, saved.path, saved.document_id, saved.version), path):
            named += 1
            if named % 50 == 1:
                await save(lake, of_month(f"doc_{position}x", "2026-11"))
                assert compact(tenant, now=NOW).files == 1
                with pytest.raises(LakeFileDamaged):
                    open_lake(lake)
    assert named > len(data) // STEP // 2


@pytest.mark.parametrize("read", [read_rows, read_versions])
async def test_a_part_with_any_damaged_byte_is_named(lake: Lake, read: Callable[[Folder, str], object]) -> None:
    await save(lake, of_month("doc_1", "2026-11"))
    tenant = lake.of("acme")
    compact(tenant, now=NOW)
    [part] = read_manifest(tenant).manifest.parts
    data, named = tenant.read(part.path), 0
    for position in range(0, len(data), STEP):
        tenant.write(part.path, flipped(data, position))
        named += is_named(lambda: read(tenant, part.path), part.path)
    assert named > len(data) // STEP // 4


async def test_a_text_of_a_part_that_is_no_text_is_damage(lake: Lake) -> None:
    file = await save(lake, of_month("doc_1", "2026-11"))
    table = pq.read_table(lake.root / file.path)
    garbage = pa.array([b"\xff\xfe"]).view(pa.string())
    position = table.schema.get_field_index("vendor_name")
    lake.of("acme").write("part", pack(table.set_column(position, "vendor_name", garbage)))
    with pytest.raises(LakeFileDamaged, match="UTF8"):
        read_rows(lake.of("acme"), "part")


async def test_a_part_that_is_damaged_stops_the_compaction_by_its_name(lake: Lake) -> None:
    await save(lake, of_month("doc_1", "2026-11"))
    tenant = lake.of("acme")
    compact(tenant, now=NOW)
    [part] = read_manifest(tenant).manifest.parts
    tenant.write(part.path, flipped(tenant.read(part.path), part.size_bytes - 20))
    await save(lake, of_month("doc_2", "2026-11"))
    before = read_manifest(tenant)
    with pytest.raises(LakeFileDamaged, match=part.path):
        compact(tenant, now=NOW)
    assert read_manifest(tenant) == before


async def test_an_unavailable_folder_is_not_taken_for_a_damaged_file(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    await save(lake, of_month("doc_1", "2026-11"))

    def away(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("docrail.adapters.store.folders.LocalFolder.read", away)
    monkeypatch.setattr("docrail.adapters.store.folders.LocalFolder.open", away)
    with pytest.raises(OSError, match="Input/output error"):
        read_document(lake.of("acme"), "x", "doc_1", 1)
    with pytest.raises(OSError, match="Input/output error"):
        read_versions(lake.of("acme"), "x")


async def test_a_small_file_of_a_later_release_is_read_and_left_to_it(
    lake: Lake, caplog: pytest.LogCaptureFixture
) -> None:
    await save(lake, of_month("doc_1", "2026-11", "1"))
    tenant, path = lake.of("acme"), "parquet/doc_1.v2.parquet"
    await save(lake, of_month("doc_1", "2026-11", "2"), version=2)
    tenant.write(path, of_later_release(pq.read_table(lake.root / "acme" / path)))
    assert seen(lake) == {"doc_1": (2, Decimal(2))}
    compact(tenant, now=NOW)
    tidy(tenant, now=NOW + 2 * GRACE, grace=GRACE)
    assert "parquet/doc_1.v2.parquet is skipped: a later release wrote it" in caplog.text
    assert [saved.path for saved in saved_in(tenant, "parquet")] == [path]
    assert "new_column" in pq.read_schema(lake.root / "acme" / path).names
    assert seen(lake) == {"doc_1": (2, Decimal(2))}


async def test_nothing_is_merged_next_to_a_part_of_a_later_release(
    lake: Lake, caplog: pytest.LogCaptureFixture
) -> None:
    await save(lake, of_month("doc_1", "2026-11", "1"))
    tenant = lake.of("acme")
    compact(tenant, now=NOW)
    read = read_manifest(tenant)
    [old] = read.manifest.parts
    path = "compacted/issue_month=2026-11/part-later.parquet"
    tenant.write(path, of_later_release(pq.read_table(lake.root / "acme" / old.path, partitioning=None)))
    later = Part(path=path, issue_month="2026-11", rows=1, size_bytes=1, schema_version=LAKE_SCHEMA_VERSION + 1)
    swap_manifest(tenant, Manifest(parts=(later,)), read)
    await save(lake, of_month("doc_1", "2026-11", "2"), version=2)
    await save(lake, of_month("doc_2", "2026-11", "5"))
    before = read_manifest(tenant)
    assert compact(tenant, now=NOW).files == 0
    assert read_manifest(tenant) == before
    assert f"a later release wrote {path}" in caplog.text
    assert seen(lake) == {"doc_1": (2, Decimal(2)), "doc_2": (1, Decimal(5))}
    assert sum(part.rows for part in read_manifest(tenant).manifest.parts) == 1


def is_named(read: Callable[[], object], path: str) -> bool:
    """Return whether the file is refused; if so, by its name, and as nothing else."""
    try:
        read()
    except LakeFileDamaged as error:
        return error.path == path
    return False


def flipped(data: bytes, position: int) -> bytes:
    damaged = bytearray(data)
    damaged[position] ^= 0xFF
    return bytes(damaged)


def of_later_release(table: pa.Table) -> bytes:
    """Return the rows as a release writes them that knows one column more."""
    wider = table.cast(SCHEMA).append_column("new_column", pa.array(["new"] * table.num_rows))
    return pack(wider.replace_schema_metadata(LATER_SCHEMA))
