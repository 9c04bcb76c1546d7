"""Compaction: readers see each document exactly once, whatever is written, stopped, killed or repeated meanwhile."""

import asyncio
import datetime as dt
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from docrail.adapters.store.folders import FileChanged, FileInfo, Folder, LocalFolder
from docrail.services.lake import compaction
from docrail.services.lake.compaction import compact, tidy
from docrail.services.lake.files import Lake, saved_in
from docrail.services.lake.manifest import Manifest, read_manifest, swap_manifest
from docrail.services.lake.parquet import LAKE_SCHEMA_VERSION, pack
from docrail.workflows.contract.messages import Compacted
from tests.s3 import Bucket
from tests.services.lakes import NOW, ask, of_month, save, seen

GRACE = dt.timedelta(hours=24)
LATER = NOW + dt.timedelta(hours=25)


@pytest.fixture(params=["local", "s3"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    if request.param == "local":
        return Lake(tmp_path / "lake")
    made: Bucket = request.getfixturevalue("bucket")
    return Lake(made.folder)


@pytest.fixture
def local(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def parts_of(lake: Lake) -> list[tuple[str, int]]:
    return [(part.issue_month, part.rows) for part in read_manifest(lake.of("acme")).manifest.parts]


async def test_small_files_become_one_part_for_each_month(lake: Lake) -> None:
    months = ["2026-10", "2026-11", "2026-11", None]
    for number, month in enumerate(months):
        await save(lake, of_month(f"doc_{number}", month, str(number)))
    done = compact(lake.of("acme"), now=NOW)
    assert (done.files, done.parts, done.rows) == (4, 3, 4)
    assert parts_of(lake) == [("2026-10", 1), ("2026-11", 2), ("unknown", 1)]
    assert seen(lake) == {f"doc_{number}": (1, Decimal(number)) for number in range(4)}
    assert ask(lake, "SELECT count(*) FROM invoices WHERE issue_month = '2026-11'") == [(2,)]


async def test_parts_hold_what_the_small_files_said(local: Lake) -> None:
    file = await save(local, of_month("doc_1", "2026-11"))
    small = pq.read_table(local.root / file.path)
    compact(local.of("acme"), now=NOW)
    [part] = (local.root / "acme" / "compacted").rglob("part-*.parquet")
    assert pq.read_table(part, partitioning=None).equals(small)
    assert pq.read_schema(part).metadata[b"schema_version"] == str(LAKE_SCHEMA_VERSION).encode()


async def test_compacting_again_does_nothing(lake: Lake) -> None:
    await save(lake, of_month("doc_1", "2026-11"))
    compact(lake.of("acme"), now=NOW)
    before = read_manifest(lake.of("acme"))
    assert compact(lake.of("acme"), now=LATER) == Compacted()
    assert read_manifest(lake.of("acme")) == before


async def test_of_a_document_the_latest_version_counts_also_in_another_month(lake: Lake) -> None:
    await save(lake, of_month("doc_1", "2026-10", "1"))
    await save(lake, of_month("doc_2", "2026-10", "5"))
    compact(lake.of("acme"), now=NOW)
    await save(lake, of_month("doc_1", "2026-11", "2"), version=2)
    assert seen(lake) == {"doc_1": (2, Decimal(2)), "doc_2": (1, Decimal(5))}
    compact(lake.of("acme"), now=NOW)
    assert parts_of(lake) == [("2026-10", 1), ("2026-11", 1)]
    assert seen(lake) == {"doc_1": (2, Decimal(2)), "doc_2": (1, Decimal(5))}


async def test_a_version_that_is_written_late_does_not_come_back(lake: Lake) -> None:
    await save(lake, of_month("doc_1", "2026-11", "3"), version=3)
    compact(lake.of("acme"), now=NOW)
    await save(lake, of_month("doc_1", "2026-11", "2"), version=2)
    assert seen(lake) == {"doc_1": (3, Decimal(3))}
    compact(lake.of("acme"), now=NOW)
    assert seen(lake) == {"doc_1": (3, Decimal(3))}


async def test_a_small_file_goes_with_its_compaction_and_a_replaced_part_after_its_grace_time(lake: Lake) -> None:
    await save(lake, of_month("doc_1", "2026-11", "1"))
    compact(lake.of("acme"), now=NOW)
    await save(lake, of_month("doc_1", "2026-11", "2"), version=2)
    compact(lake.of("acme"), now=NOW)
    tenant = lake.of("acme")
    assert saved_in(tenant, "parquet") == []
    assert tidy(tenant, now=NOW + dt.timedelta(hours=23), grace=GRACE) == 0
    assert tidy(tenant, now=LATER, grace=GRACE) == 1
    assert read_manifest(tenant).manifest.retired == ()
    assert seen(lake) == {"doc_1": (2, Decimal(2))}
    assert tidy(tenant, now=LATER, grace=GRACE) == 0


async def test_a_small_file_whose_document_is_compacted_already_is_deleted(lake: Lake) -> None:
    tenant = lake.of("acme")
    await save(lake, of_month("doc_1", "2026-11", "2"), version=2)
    compact(tenant, now=NOW)
    before = read_manifest(tenant)
    for version in (1, 2):  # a writer that was late, and a round that was killed after its swap
        await save(lake, of_month("doc_1", "2026-11", str(version)), version)
    assert compact(tenant, now=NOW).files == 2
    assert (saved_in(tenant, "parquet"), read_manifest(tenant)) == ([], before)
    assert seen(lake) == {"doc_1": (2, Decimal(2))}


async def test_full_parts_are_left_alone(local: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "PART_ROWS", 3)
    for number in range(7):
        await save(local, of_month(f"doc_{number}", "2026-11"))
    compact(local.of("acme"), now=NOW, batch_files=4)
    full = {part.path for part in read_manifest(local.of("acme")).manifest.parts if part.rows == 3}
    assert sorted(rows for _, rows in parts_of(local)) == [1, 3, 3]
    await save(local, of_month("doc_7", "2026-11"))
    compact(local.of("acme"), now=NOW)
    assert full <= {part.path for part in read_manifest(local.of("acme")).manifest.parts}
    assert sorted(rows for _, rows in parts_of(local)) == [2, 3, 3]


async def test_a_file_that_is_no_parquet_is_left_and_named(local: Lake, caplog: pytest.LogCaptureFixture) -> None:
    await save(local, of_month("doc_1", "2026-11"))
    broken = local.root / "acme" / "parquet" / "doc_2.v1.parquet"
    broken.write_bytes(b"PAR1 no more")
    assert compact(local.of("acme"), now=NOW).files == 1
    assert broken.exists()
    assert "parquet/doc_2.v1.parquet is skipped" in caplog.text


async def test_of_two_concurrent_compactions_one_has_to_try_again(lake: Lake) -> None:
    tenant = lake.of("acme")
    await save(lake, of_month("doc_1", "2026-11"))
    others = iter([Manifest()])

    def beat() -> None:
        for manifest in others:  # once: another one was faster
            swap_manifest(tenant, manifest, read_manifest(tenant))

    with pytest.raises(FileChanged):
        compact(tenant, now=NOW, beat=beat)
    assert seen(lake) == {"doc_1": (1, Decimal(1))}
    compact(tenant, now=NOW)
    assert parts_of(lake) == [("2026-11", 1)]


async def test_tenants_do_not_see_each_other(lake: Lake) -> None:
    for tenant in ("acme", "globex"):
        await save(lake, of_month("doc_1", "2026-11"), tenant=tenant)
        compact(lake.of(tenant), now=NOW)
    assert lake.tenants() == ["acme", "globex"]
    assert ask(lake, "SELECT tenant_id FROM invoices", ["globex"]) == [("globex",)]
    assert ask(lake, "SELECT count(*) FROM invoices") == [(2,)]


async def test_files_of_earlier_releases_are_read_and_compacted(local: Lake) -> None:
    file = await save(local, of_month("doc_1", "2026-11", "7"))
    path = local.root / file.path
    old = pq.read_table(path).drop_columns(["status", "readers", "model", "fields"])
    fields = pa.array(
        [[{"name": "total", "value": "7"}]], pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))
    )
    old = old.append_column("fields", fields).replace_schema_metadata({"schema_version": "1"})
    pq.write_table(old, path)
    rows = "SELECT version, status, total, model, fields[1].value, fields[1].locked FROM invoices"
    expected = [(1, None, Decimal(7), None, "7", None)]
    assert ask(local, rows) == expected
    compact(local.of("acme"), now=NOW)
    assert ask(local, rows) == expected
    await save(local, of_month("doc_1", "2026-11", "8"), version=2)
    assert seen(local) == {"doc_1": (2, Decimal(8))}


async def test_parts_of_an_earlier_shape_are_read_and_then_rewritten(local: Lake) -> None:
    tenant = local.of("acme")
    await save(local, of_month("doc_1", "2026-11"))
    compact(tenant, now=NOW)
    read = read_manifest(tenant)
    [part] = read.manifest.parts
    before = pq.read_table(local.root / "acme" / part.path, partitioning=None).drop_columns(["status"])
    tenant.write("compacted/issue_month=2026-11/part-old.parquet", pack(before))
    old = part.model_copy(update={"path": "compacted/issue_month=2026-11/part-old.parquet", "schema_version": 2})
    swap_manifest(tenant, Manifest(parts=(old,)), read)
    assert seen(local) == {"doc_1": (1, Decimal(1))}
    assert compact(tenant, now=NOW).parts == 1
    assert [one.schema_version for one in read_manifest(tenant).manifest.parts] == [LAKE_SCHEMA_VERSION]
    assert seen(local) == {"doc_1": (1, Decimal(1))}


async def test_json_files_of_earlier_versions_go_and_the_last_one_stays(local: Lake) -> None:
    from docrail.services.lake.models import LakeVersion

    for version in (1, 2, 10):
        await local.write_json("acme", of_month("doc_1", "2026-11"), LakeVersion(version, NOW))
    in_two_days = dt.datetime.now(dt.UTC) + dt.timedelta(days=2)
    assert tidy(local.of("acme"), now=dt.datetime.now(dt.UTC), grace=GRACE) == 0
    assert tidy(local.of("acme"), now=in_two_days, grace=GRACE) == 2
    assert [one.version for one in saved_in(local.of("acme"), "json")] == [10]


async def test_readers_see_every_saved_document_during_writes_and_compactions(lake: Lake) -> None:
    saved: dict[str, int] = {}
    ended = asyncio.Event()

    async def write() -> None:
        for number in range(24):
            document, version = f"doc_{number % 5}", number // 5 + 1
            await save(lake, of_month(document, f"2026-1{number % 2}", str(version)), version)
            saved[document] = version
        ended.set()

    async def work(act: Callable[[], object]) -> None:
        while not ended.is_set():
            await asyncio.to_thread(act)

    def read() -> None:
        before = dict(saved)
        found = {document: version for document, (version, _) in seen(lake).items()}
        assert {document: max(version, before.get(document, 0)) for document, version in found.items()} == found
        assert found.keys() >= before.keys()

    tenant = lake.of("acme")
    compacting = work(lambda: suppressed(lambda: compact(tenant, now=dt.datetime.now(dt.UTC))))
    tidying = work(lambda: suppressed(lambda: tidy(tenant, now=dt.datetime.now(dt.UTC), grace=GRACE)))
    await asyncio.gather(write(), work(read), work(read), compacting, tidying)
    read()


class CompactedOnceListed:
    """A tenant's folder that is compacted as soon as its small files are listed."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._folder, name)

    def sub(self, name: str) -> Folder:
        return cast("Folder", CompactedOnceListed(self._folder.sub(name)))

    def files(self, under: str = "") -> Iterator[FileInfo]:
        found = list(self._folder.files(under))
        compact(self._folder, now=NOW)
        return iter(found)


async def test_a_document_that_is_compacted_while_a_query_opens_is_seen_once(lake: Lake) -> None:
    await save(lake, of_month("doc_1", "2026-11", "1"))
    compact(lake.of("acme"), now=NOW)
    await save(lake, of_month("doc_1", "2026-11", "2"), version=2)
    await save(lake, of_month("doc_2", "2026-11", "5"))
    meanwhile = Lake(cast("Folder", CompactedOnceListed(lake.folder)))
    assert seen(meanwhile) == {"doc_1": (2, Decimal(2)), "doc_2": (1, Decimal(5))}
    assert saved_in(lake.of("acme"), "parquet") == []


def suppressed(act: Callable[[], object]) -> None:
    with suppress(FileChanged):  # the other one was faster
        act()


class Stop(Exception):  # noqa: N818
    pass


def stopper(after: int) -> Callable[[], None]:
    """Return a beat that stops the work at the so-many-th call: as a cancelled activity's does."""
    left = [after]

    def beat() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Stop

    return beat


documents = st.sampled_from(["a", "b", "c", "d"])
acts = st.one_of(
    st.tuples(st.just("save"), documents, st.sampled_from(["2026-10", "2026-11", None])),
    st.tuples(st.just("late"), documents, st.integers(1, 3)),
    st.tuples(st.just("compact"), st.integers(0, 12), st.just(None)),
    st.tuples(st.just("tidy"), st.integers(0, 40), st.just(None)),
)


@pytest.mark.timeout(1800)  # it opens the lake 200 times; Hypothesis calls a timeout a flaky failure
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(acts, max_size=14))
async def test_readers_always_see_each_documents_last_version(
    tmp_path_factory: pytest.TempPathFactory, happens: list[tuple[str, object, object]]
) -> None:
    lake = Lake(tmp_path_factory.mktemp("lake"))
    now, written = NOW, dict[str, dict[int, str]]()
    for what, one, other in happens:
        now += dt.timedelta(hours=1)
        match what, one, other:
            case "save", str(document), (str() | None) as month:
                versions = written.setdefault(document, {})
                number = max(versions, default=0) + 1
                versions[number] = str(number)
                await save(lake, of_month(document, month, str(number)), number)
            case "late", str(document), int(version) if version in written.get(document, {}):
                await save(lake, of_month(document, "2026-11", written[document][version]), version)
            case "compact", int(stop_after), _:
                with suppress(Stop):
                    compact(lake.of("acme"), now=now, beat=stopper(stop_after), batch_files=2)
            case "tidy", int(hours), _:
                now += dt.timedelta(hours=hours)
                tidy(lake.of("acme"), now=now, grace=GRACE)
        top = {document: max(versions) for document, versions in written.items()}
        assert seen(lake) == {document: (version, Decimal(version)) for document, version in top.items()}
    compact(lake.of("acme"), now=now)
    assert sum(rows for _, rows in parts_of(lake)) == len(written)


COMPACT_FOR_EVER = """
import datetime as dt, sys
from pathlib import Path
from docrail.services.lake.compaction import compact
from docrail.services.lake.files import Lake
print("ready", flush=True)
compact(Lake(Path(sys.argv[1])).of("acme"), now=dt.datetime.now(dt.UTC), batch_files=3)
"""


async def test_killed_anywhere_it_has_changed_nothing_or_all(local: Lake) -> None:
    expected = {}
    for number in range(40):
        await save(local, of_month(f"doc_{number}", f"2026-{1 + number % 12:02d}", str(number)))
        expected[f"doc_{number}"] = (1, Decimal(number))
    for attempt in range(4):
        command = [sys.executable, "-c", COMPACT_FOR_EVER, str(local.root)]
        child = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
        assert child.stdout is not None
        assert await child.stdout.readline() == b"ready\n"
        await asyncio.sleep(0.02 + 0.05 * attempt)  # into its work: anywhere will do
        with suppress(ProcessLookupError):
            child.kill()
        await child.communicate()
        assert seen(local) == expected
    compact(local.of("acme"), now=NOW)
    assert seen(local) == expected
    named = {part.path for part in read_manifest(local.of("acme")).manifest.parts}
    in_two_days = dt.datetime.now(dt.UTC) + dt.timedelta(days=2)
    tidy(local.of("acme"), now=in_two_days, grace=GRACE)
    LocalFolder(local.root).remove_leftovers()
    parts = {info.path for info in local.of("acme").files("compacted")} - {"compacted/manifest.json"}
    assert parts == named
