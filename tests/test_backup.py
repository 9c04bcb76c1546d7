"""`docrail backup` and `docrail restore`: everything is destroyed, comes back from one file, and open runs go on."""

import asyncio
import json
import shutil
import sqlite3
import tarfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

import docrail
from docrail.adapters.postgres.migrate import migrate
from docrail.adapters.store.folders import Folder, LocalFolder
from docrail.adapters.temporal.connection import Connection
from docrail.embedded import backup
from docrail.embedded.backup import BackupError, back_up, restore
from docrail.embedded.claims import DataFolderError, hold
from docrail.embedded.postgres import start_postgres
from docrail.embedded.stack import Stack, StackOptions, run_stack
from docrail.services.fleet.namespace import prepare_namespace
from docrail.services.maintenance.service import apply_background_schedule
from docrail.settings import Settings
from tests.activities.ubl import ubl_invoice
from tests.commands import docrail as command
from tests.s3 import Bucket, bucket, s3_server
from tests.stack import eventually

__all__ = ["bucket", "s3_server"]

pytestmark = pytest.mark.server

PATIENCE_SECONDS = 110.0
WAITS = 12
WAITING = {
    "id": "patient",
    "steps": [
        {"id": "reply", "wait": {"for": "signal"}},
        {"id": "after", "handler": "echo", "depends_on": ["reply"], "config": {"value": "{{ reply.said }}"}},
    ],
    "outputs": {"said": "{{ after.value }}"},
}
SLEEPING = {"id": "sleepy", "steps": [{"id": "nap", "handler": "sleep", "config": {"seconds": 12}}]}
"""Its step runs while the backup is made: no one reports its end after that."""


@asynccontextmanager
async def running(data_dir: Path) -> AsyncIterator[Stack]:
    """Run a stack as `docrail up` does."""
    async with run_stack(StackOptions(data_dir, api_port=0, temporal_port=0, ui_port=0), print) as stack:
        connection = Connection(stack.temporal.address)
        await prepare_namespace(connection)
        await apply_background_schedule(connection, Settings().task_queue)
        yield stack


async def start(stack: Stack, definition: object) -> str:
    response = await stack.http.post("/v1/runs", json={"definition": definition, "inputs": {}})
    assert response.status_code == 202, response.text
    return str(response.json()["run_id"])


async def upload(stack: Stack, name: str) -> dict[str, str]:
    files = {"file": (f"{name}.xml", ubl_invoice(name))}
    response = await stack.http.post("/v1/documents", files=files, headers={"Idempotency-Key": name})
    response.raise_for_status()
    return {"name": name, **response.json()}


async def upload_until(stack: Stack, stopped: asyncio.Event) -> list[dict[str, str]]:
    """Upload one document after the other, so that the backup finds runs at every point."""
    sent: list[dict[str, str]] = []
    while not stopped.is_set():
        sent.append(await upload(stack, f"during-{len(sent)}"))
    return sent


async def status_of(stack: Stack, run_id: str) -> str:
    response = await stack.http.get(f"/v1/runs/{run_id}")
    return str(response.json()["status"]) if response.is_success else f"{response.status_code}"


async def wait_for(stack: Stack, run_ids: list[str], status: str) -> None:
    async def all_are() -> bool:
        return {await status_of(stack, each) for each in run_ids} == {status}

    await eventually(all_are, f"{len(run_ids)} runs to be {status}", timeout_seconds=PATIENCE_SECONDS)


async def known(stack: Stack, uploads: list[dict[str, str]]) -> list[dict[str, str]]:
    found = [(each, await stack.http.get(f"/v1/documents/{each['document_id']}")) for each in uploads]
    return [each for each, response in found if response.status_code == 200]


@pytest.mark.slow
async def test_after_everything_is_destroyed_a_backup_brings_all_back_and_open_runs_finish(tmp_path: Path) -> None:
    data_dir, archive = tmp_path / "data", tmp_path / "backup.tar"
    async with running(data_dir) as stack:
        before = [await upload(stack, f"before-{number}") for number in range(4)]
        await wait_for(stack, [each["run_id"] for each in before], "completed")
        waiting = [await start(stack, WAITING) for _ in range(WAITS)]
        sleeping = await start(stack, SLEEPING)
        await wait_for(stack, waiting, "waiting")
        await wait_for(stack, [sleeping], "running")
        stopped = asyncio.Event()
        uploading = asyncio.create_task(upload_until(stack, stopped))
        ended = await command("backup", str(archive), "--data", str(data_dir), "--json")
        stopped.set()
        during = await uploading
        assert ended.code == 0, ended.err
        assert await start(stack, WAITING) not in waiting  # what comes after the backup is lost, and nothing else
        for process in (stack.api, *stack.workers, stack.temporal.process, stack.postgres.process):
            await process.kill()
    shutil.rmtree(data_dir)
    made = json.loads(ended.out)
    assert made["manifest"]["docrail"] == docrail.__version__
    assert oct(archive.stat().st_mode)[-3:] == "600"

    ended = await command("restore", str(archive), "--data", str(data_dir))
    assert ended.code == 0, ended.err
    assert f"restored {data_dir}, as of {made['manifest']['made_at']}" in ended.out
    async with running(data_dir) as stack:
        await wait_for(stack, waiting, "waiting")
        for run_id in waiting:
            answer = await stack.http.post(f"/v1/runs/{run_id}/waits/reply", json={"answer": {"said": "yes"}})
            assert answer.is_success, answer.text
        uploads = [*before, *await known(stack, during)]
        await wait_for(stack, [*waiting, sleeping, *(each["run_id"] for each in uploads)], "completed")
        assert (await stack.http.get(f"/v1/runs/{waiting[0]}")).json()["outputs"] == {"said": "yes"}
        await check_whole(stack, uploads)


async def check_whole(stack: Stack, uploads: list[dict[str, str]]) -> None:
    """Assert that each document has its bytes and one review."""
    for each in uploads:
        original = await stack.http.get(f"/v1/documents/{each['document_id']}/original")
        assert original.content == ubl_invoice(each["name"])
    connection = await asyncpg.connect(stack.postgres.dsn)
    try:
        rows = await connection.fetch("SELECT document_id, count(*) AS items FROM reviews GROUP BY 1")
    finally:
        await connection.close()
    counts = {row["document_id"]: row["items"] for row in rows}
    assert {each["document_id"]: 1 for each in uploads}.items() <= counts.items()


@dataclass(frozen=True, slots=True)
class Small:
    """A data folder without processes, and a backup of it."""

    data_dir: Path
    archive: Path


@pytest.fixture(scope="module")
async def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """Give a stopped stack's folder: a database with one document's row, Temporal's, and a few files."""
    data_dir = tmp_path_factory.mktemp("small") / "data"
    await make_data(data_dir, LocalFolder(data_dir))
    archive = data_dir.with_name("backup.tar")
    await back_up(data_dir, archive, report=print)
    return Small(data_dir, archive)


async def make_data(data_dir: Path, store: Folder) -> None:
    with hold(data_dir):
        server = await start_postgres(data_dir, report=print)
        await migrate(server.dsn)
        await execute(server.dsn, "CREATE TABLE kept AS SELECT 7 AS seven")
        await server.stop()
    (data_dir / "temporal").mkdir()
    with closing(sqlite3.connect(data_dir / "temporal" / "temporal.db")) as temporal:
        temporal.execute("CREATE TABLE executions (id)")
    (data_dir / "callback.key").write_text("key")
    for path in ("store-id", "blobs/ab/cd", "lake/default/compacted/manifest.json", "lake/default/compacted/part"):
        store.write(path, f"the bytes of {path}".encode())


async def execute(dsn: str, query: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a data folder except those of the servers."""
    files = LocalFolder(folder)
    paths = [info.path for info in files.files()]
    return {path: files.read(path) for path in paths if path.partition("/")[0] not in backup.NOT_COPIED}


async def test_a_stopped_stack_is_backed_up_and_restored_too(small: Small, tmp_path: Path) -> None:
    new = tmp_path / "new"
    await restore(small.archive, new, report=print)
    assert bytes_of(new) == bytes_of(small.data_dir)
    with hold(new):
        server = await start_postgres(new, report=print)
        assert await execute(server.dsn, "SELECT seven FROM kept") == 7
        assert await migrate(server.dsn) == []
        await server.stop()
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def damages(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield archives that lack something, or have a changed byte in the middle of a member."""
    last = archive.rindex(backup.CHECKSUMS.encode())
    for end in (1000, len(archive) // 2, last, last + 600):
        yield f"cut at {end}", archive[:end]
    for text in (b"the bytes of blobs", b"PGDMP", b"SQLite format 3", b'"docrail"'):
        at = archive.index(text) + len(text) - 1
        yield f"changed {text!r}", archive[:at] + bytes([archive[at] ^ 1]) + archive[at + 1 :]
    yield "empty", b""
    yield "no archive", b"%PDF-1.7" * 1000


async def test_a_damaged_archive_is_refused_and_changes_nothing(small: Small, tmp_path: Path) -> None:
    present = tmp_path / "data"
    present.mkdir()
    (present / "mine").write_text("untouched")
    for what, data in damages(small.archive.read_bytes()):
        damaged = tmp_path / "damaged.tar"
        damaged.write_bytes(data)
        with pytest.raises(BackupError, match="damaged"):
            await restore(damaged, present, replace=True, report=print)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["damaged.tar", "data"], what
        assert bytes_of(present) == {"mine": b"untouched"}, what


async def test_a_missing_archive_is_reported_with_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match=r"there is no file .*none\.tar: expected an archive of `docrail backup`"):
        await restore(tmp_path / "none.tar", tmp_path / "data", report=print)


@pytest.mark.parametrize("name", ["data/../../escaped", "data//etc/escaped", "data/postgres/cluster/PG_VERSION"])
async def test_an_archive_with_a_file_for_elsewhere_is_refused(small: Small, tmp_path: Path, name: str) -> None:
    hostile = tmp_path / "hostile.tar"
    shutil.copy(small.archive, hostile)
    with tarfile.open(small.archive) as whole, tarfile.open(hostile, "w") as changed:
        for member in whole:
            member.name = name if member.name.startswith("data/") else member.name
            changed.addfile(member, whole.extractfile(member))
    with pytest.raises(BackupError, match="damaged"):
        await restore(hostile, tmp_path / "new", report=print)
    assert [path.name for path in tmp_path.iterdir()] == ["hostile.tar"]


async def test_a_backup_of_another_version_is_refused(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docrail, "__version__", "0.2.0")
    with pytest.raises(BackupError, match=r"made by Docrail 0.1.0, and this is 0.2.0"):
        await restore(small.archive, tmp_path / "new", report=print)
    assert not list(tmp_path.iterdir())


async def test_a_folder_that_is_not_empty_is_replaced_only_by_force_and_kept(small: Small, tmp_path: Path) -> None:
    present = tmp_path / "data"
    present.mkdir()
    (present / "mine").write_text("kept")
    with pytest.raises(BackupError, match=r"is not empty.*--force"):
        await restore(small.archive, present, report=print)
    await restore(small.archive, present, replace=True, report=print)
    assert (present / "callback.key").read_text() == "key"
    [kept] = tmp_path.glob("data.replaced-*")
    assert (kept / "mine").read_text() == "kept"


async def test_the_folder_of_a_running_stack_is_never_replaced(small: Small, tmp_path: Path) -> None:
    with hold(tmp_path / "data"):
        with pytest.raises(DataFolderError, match="in use by another docrail"):
            await restore(small.archive, tmp_path / "data", replace=True, report=print)
        assert [path.name for path in tmp_path.iterdir()] == ["data"]


async def test_a_restore_that_was_killed_leaves_nothing_that_starts_and_is_repeated(
    small: Small, tmp_path: Path
) -> None:
    left = tmp_path / "new.restoring"
    left.mkdir()
    (left / "half").write_text("half")
    await restore(small.archive, tmp_path / "new", report=print)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    assert not (tmp_path / "new" / "half").exists()


async def test_the_files_of_a_bucket_are_in_the_backup_and_go_to_another_bucket(tmp_path: Path, bucket: Bucket) -> None:
    data_dir, archive, other = tmp_path / "data", tmp_path / "backup.tar", bucket.folder.sub("other")
    await make_data(data_dir, bucket.folder)
    await back_up(data_dir, archive, store=bucket.folder, report=print)
    with pytest.raises(BackupError, match="DOCRAIL_STORE"):
        await restore(archive, tmp_path / "new", report=print)
    with pytest.raises(BackupError, match=r"the store .* is not empty"):
        await restore(archive, tmp_path / "new", store=bucket.folder, report=print)
    await restore(archive, tmp_path / "new", store=other, report=print)
    assert other.read("blobs/ab/cd") == b"the bytes of blobs/ab/cd"
    assert other.read("store-id") == bucket.folder.read("store-id")
    assert not (tmp_path / "new" / "blobs").exists()


@pytest.mark.parametrize("wrong", ["no data", "exists"])
async def test_what_cannot_be_backed_up_is_refused_in_a_line(small: Small, tmp_path: Path, wrong: str) -> None:
    data_dir, archive = (tmp_path, tmp_path / "new.tar") if wrong == "no data" else (small.data_dir, small.archive)
    ended = await command("backup", str(archive), "--data", str(data_dir))
    assert ended.code == 1
    assert ("has no data of `docrail up`" if wrong == "no data" else "exists already") in ended.err
    assert "Traceback" not in ended.err


async def test_compaction_while_the_files_are_copied_hides_no_document(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The round's order: it writes a part, then the manifest, then deletes the small file."""
    data_dir = tmp_path / "data"
    await restore(small.archive, data_dir, report=print)
    store, written = LocalFolder(data_dir), backup.Archive.add
    store.write("lake/default/parquet/doc_1.v1.parquet", b"one row")

    def add(self: backup.Archive, name: str, *rest: object) -> None:
        if name == "data/store-id":  # after the listing has begun
            store.write("lake/default/compacted/new-part", b"the same row")
            store.write("lake/default/compacted/manifest.json", b"names new-part")
            store.delete("lake/default/parquet/doc_1.v1.parquet")
        written(self, name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(backup.Archive, "add", add)
    await back_up(data_dir, tmp_path / "backup.tar", report=print)
    with tarfile.open(tmp_path / "backup.tar") as archive:
        names = archive.getnames()
        manifest = archive.extractfile("data/lake/default/compacted/manifest.json")
        assert manifest is not None
        assert manifest.read() == b"names new-part"
    assert "data/lake/default/compacted/new-part" in names
    assert names.index("data/lake/default/compacted/manifest.json") < names.index("data/lake/default/compacted/part")
