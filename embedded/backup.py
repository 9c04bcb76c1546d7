"""Back up the one-machine stack to one file, while it runs or not, and restore it in an empty folder.

A backup is what a power failure would have left at one instant, from which every part of Docrail goes on (ADR 46):
Temporal's database is locked against writers for the few milliseconds in which both databases take a snapshot. The
store is copied after that. Its files are never changed, so it has at least what the databases refer to.

In one file because what one half writes the other half checks.
"""

import asyncio
import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import asyncpg

import docrail
from docrail.adapters.postgres.tenants import FLEET_ROLE, TENANT_ROLE
from docrail.adapters.store.files import make_folder, open_private, sync_folder
from docrail.adapters.store.folders import Folder, LocalFolder, checked_path
from docrail.embedded.claims import FolderInUse, hold
from docrail.embedded.postgres import find_programs, owner_dsn, start_postgres
from docrail.embedded.processes import ProcessError, Report
from docrail.services.fleet.store_identity import FILE as STORE_ID
from docrail.services.lake.manifest import PATH as LAKE_MANIFEST

MANIFEST, CHECKSUMS = "manifest.json", "checksums.json"
"""The first and the last member of an archive. One without the last was not written to its end."""
TEMPORAL, POSTGRES, DATA, STORE = "temporal.db", "postgres.dump", "data/", "store/"
"""The other members: both databases, the data folder's own files, and the store if it is elsewhere."""
TEMPORAL_FILE = Path("temporal", "temporal.db")
"""In the data folder."""
NOT_COPIED = frozenset({"lock", "logs", "passwords", "postgres", "sockets", "temporal", "temporal-unfinished"})
"""In the data folder: the servers' own, and what every start makes."""
UNPACKED = ".unpacked"
"""Folder, in the new data folder, of what does not stay there."""
ARCHIVE_FORMAT = 1
LOCK_SECONDS = 10.0
"""How long to wait for another writer of Temporal's database."""
SNAPSHOT_SECONDS = 1.0
"""How long Temporal may wait for the backup at most; it needs a few milliseconds."""
CHUNK_BYTES = 2**20
STAGES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("", lambda path: "/compacted/" not in path),
    ("lake", lambda path: path.endswith(f"/{LAKE_MANIFEST}")),
    ("lake", lambda path: "/compacted/" in path and not path.endswith(f"/{LAKE_MANIFEST}")),
)
"""The order of a store's files, by the folder and which of it: a reader's, so that compaction hides nothing. A small
file that is gone by then is in a part of the manifest, and a part that it names is kept for hours (ADR 27)."""


class BackupError(ProcessError):
    """A backup cannot be made, or an archive cannot be restored."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive is a copy of."""

    format: int
    docrail: str
    """The version of Docrail that made it."""
    made_at: str
    """The instant that both databases are of, in UTC."""
    store_id: str
    store_is_elsewhere: bool
    """Whether the store is not in the data folder (DOCRAIL_STORE)."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A backup that was made or restored; sizes in bytes."""

    manifest: Manifest
    files: int
    size: int
    seconds: float


@dataclass(slots=True)
class _Hashing:
    """A file that hashes what is read from it."""

    file: IO[bytes]
    digest: Any = field(default_factory=hashlib.sha256)

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        self.digest.update(data)
        return data


@dataclass(slots=True)
class Archive:
    """A tar file that is being written, with the sha256 of each member."""

    tar: tarfile.TarFile
    sums: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, file: IO[bytes], size: int) -> None:
        """Add a file with the next `size` bytes of `file`."""
        info, source = tarfile.TarInfo(name), _Hashing(file)
        info.size, info.mode, info.mtime = size, 0o600, time.time()
        self.tar.addfile(info, source)
        self.sums[name] = source.digest.hexdigest()

    def add_path(self, name: str, path: Path) -> None:
        """Add a file of this machine."""
        with path.open("rb") as file:
            self.add(name, file, os.fstat(file.fileno()).st_size)

    def add_json(self, name: str, value: Any) -> None:
        """Add a value as JSON."""
        data = json.dumps(value, indent=1).encode()
        self.add(name, io.BytesIO(data), len(data))


async def back_up(data_dir: Path, archive: Path, *, store: Folder | None = None, report: Report) -> Summary:
    """Write a backup of the stack in `data_dir` to `archive`; `store`: where its files are if not in that folder.

    The stack may run; if it does not, PostgreSQL is started meanwhile. The archive exists completely or not at all.
    Raises: BackupError, DataFolderError and other ProcessErrors; OSError, as of a full disk.
    """
    started, data_dir, archive = time.monotonic(), _absolute(data_dir), _absolute(archive)
    _check_source(data_dir, archive)
    with tempfile.TemporaryDirectory(prefix=f".{archive.name}.", dir=archive.parent) as scratch:
        work = Path(scratch)
        async with _reachable_postgres(data_dir, report) as dsn:
            report("copying the databases of Temporal and PostgreSQL, as they are at one instant")
            made_at = await _copy_databases(data_dir, dsn, work)
        report("copying the files")
        store_id = await asyncio.to_thread(_store_id, store or LocalFolder(data_dir))
        manifest = Manifest(ARCHIVE_FORMAT, docrail.__version__, made_at, store_id, store is not None)
        files = await asyncio.to_thread(_write_archive, work, data_dir, store, manifest)
        (work / "archive").rename(archive)
    sync_folder(archive.parent)
    return _summary(manifest, files, archive, started)


def _absolute(path: Path) -> Path:
    return path.absolute()


def _check_source(data_dir: Path, archive: Path) -> None:
    if not (data_dir / TEMPORAL_FILE).exists():
        raise BackupError(f"{data_dir} has no data of `docrail up`: choose its folder with --data")
    if archive.exists():
        raise BackupError(f"{archive} exists already: choose another name")


def _summary(manifest: Manifest, files: int, archive: Path, started: float) -> Summary:
    return Summary(manifest, files, archive.stat().st_size, time.monotonic() - started)


@asynccontextmanager
async def _reachable_postgres(data_dir: Path, report: Report) -> AsyncIterator[str]:
    """Yield the DSN of the running stack's PostgreSQL, or of one that is started for as long."""
    async with AsyncExitStack() as cleanup:
        try:
            cleanup.enter_context(hold(data_dir))
        except FolderInUse:
            yield owner_dsn(data_dir)
            return
        server = await start_postgres(data_dir, report=report)
        cleanup.push_async_callback(server.stop)
        yield server.dsn


async def _copy_databases(data_dir: Path, dsn: str, work: Path) -> str:
    """Copy both databases as they are at one instant, and return it."""
    connection = await asyncpg.connect(dsn, timeout=5)
    try:
        transaction = connection.transaction(isolation="repeatable_read", readonly=True)
        await transaction.start()  # the snapshot is taken by its first query
        with closing(_open_sqlite(data_dir / TEMPORAL_FILE)) as temporal:
            with _stopped_writers(data_dir / TEMPORAL_FILE):
                temporal.execute("BEGIN")
                temporal.execute("SELECT count(*) FROM sqlite_master").fetchone()  # this takes the snapshot
                made_at = datetime.now(UTC)
                snapshot = await connection.fetchval("SELECT pg_export_snapshot()", timeout=SNAPSHOT_SECONDS)
            dump = _run(
                *("pg_dump", "--dbname", dsn, "--format=custom", "--snapshot", str(snapshot)),
                *("--file", str(work / POSTGRES)),
            )
            await asyncio.gather(dump, asyncio.to_thread(_copy_sqlite, temporal, work / TEMPORAL))
        await transaction.rollback()
    finally:
        connection.terminate()
    return made_at.isoformat(timespec="milliseconds")


def _open_sqlite(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False)


@contextmanager
def _stopped_writers(path: Path) -> Iterator[None]:
    """Keep Temporal from writing: what it has reported to callers is in the database, and nothing follows."""
    with closing(_open_sqlite(path)) as lock:
        lock.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            lock.execute("ROLLBACK")


def _copy_sqlite(source: sqlite3.Connection, path: Path) -> None:
    with closing(sqlite3.connect(path)) as copy:
        source.backup(copy)  # of the snapshot of the transaction that is open


async def _run(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs. Raises: BackupError with the end of what it wrote."""
    process = await asyncio.create_subprocess_exec(
        str(find_programs() / program), *arguments, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE
    )
    try:
        _, problems = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise BackupError(
            f"{program} ended with code {process.returncode}: {problems.decode(errors='replace')[-2000:]}"
        )


def _store_id(store: Folder) -> str:
    try:
        return store.read(STORE_ID).decode(errors="replace").strip()[:100]
    except FileNotFoundError:
        raise BackupError(f"the store {store} has no file {STORE_ID!r}: it is not mounted, or another one") from None


def _write_archive(work: Path, data_dir: Path, store: Folder | None, manifest: Manifest) -> int:
    """Write the archive into the folder `work`, and return the number of files in it besides the databases."""
    with open_private(work / "archive", "xb") as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
            archive = Archive(tar)
            archive.add_json(MANIFEST, asdict(manifest))
            archive.add_path(TEMPORAL, work / TEMPORAL)
            archive.add_path(POSTGRES, work / POSTGRES)
            files = _add_all(archive, DATA, LocalFolder(data_dir), NOT_COPIED)
            files += _add_all(archive, STORE, store, frozenset()) if store else 0
            archive.add_json(CHECKSUMS, archive.sums)
        file.flush()
        os.fsync(file.fileno())
    return files


def _add_all(archive: Archive, prefix: str, folder: Folder, left_out: frozenset[str]) -> int:
    """Add the files of a folder, except what is in those that are left out, and return how many."""
    count = 0
    for place, is_next in STAGES:
        for info in folder.files(place):
            if info.path.partition("/")[0] not in left_out and is_next(info.path):
                with suppress(FileNotFoundError), folder.open(info.path) as file:  # retention may have deleted it
                    size = file.seek(0, os.SEEK_END)
                    file.seek(0)
                    archive.add(prefix + info.path, file, size)
                    count += 1
    return count


async def restore(
    archive: Path, data_dir: Path, *, store: Folder | None = None, replace: bool = False, report: Report
) -> Summary:
    """Restore a backup in `data_dir`, and in `store` if the files were not in that folder.

    Everything is checked and prepared in a folder next to it, which gets its name in the end. A folder that is not
    empty is refused; with `replace` it is kept under another name.
    Raises: BackupError (as of a damaged archive), leaving `data_dir` as it is; ProcessError; OSError.
    """
    started, data_dir = time.monotonic(), _absolute(data_dir)
    with _opened(archive) as tar:
        manifest = _read_manifest(archive, tar)
    _check_targets(manifest, data_dir, store, replace=replace)
    work = data_dir.with_name(f"{data_dir.name}.restoring")
    shutil.rmtree(work, ignore_errors=True)  # of a restore that was killed
    try:
        with hold(work):
            report("checking the archive, and unpacking it")
            files = await asyncio.to_thread(_unpack, archive, work)
            report("restoring the databases")
            await _restore_databases(work, report)
            if store is not None:
                report("restoring the store")
                await asyncio.to_thread(_fill, store, work / UNPACKED / STORE)
            await asyncio.to_thread(shutil.rmtree, work / UNPACKED)
            await asyncio.to_thread(os.sync)
            _put_in_place(work, data_dir, report)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return _summary(manifest, files, archive, started)


@contextmanager
def _opened(archive: Path) -> Iterator[tarfile.TarFile]:
    """Open an archive. Raises: BackupError if it is none, also while it is read."""
    try:
        with tarfile.open(archive, mode="r:") as tar:
            yield tar
    except FileNotFoundError:
        raise BackupError(f"there is no file {archive}: expected an archive of `docrail backup`") from None
    except (tarfile.TarError, EOFError, ValueError, TypeError, KeyError) as error:
        raise BackupError(f"{archive} is damaged, or no backup of Docrail: {error}") from error


def _read_manifest(archive: Path, tar: tarfile.TarFile) -> Manifest:
    """Return what the archive is a copy of. Raises: BackupError if another version made it; as `_opened` does."""
    first = tar.next()
    found = json.loads(_bytes_of(tar, first)) if first and first.name == MANIFEST else {}
    if found["format"] != ARCHIVE_FORMAT or found["docrail"] != docrail.__version__:
        raise BackupError(
            f"{archive} was made by Docrail {found['docrail']}, and this is {docrail.__version__}: restore it with "
            "that version, and upgrade then"
        )
    return Manifest(**found)


def _bytes_of(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    return file.read() if file else b""


def _check_targets(manifest: Manifest, data_dir: Path, store: Folder | None, *, replace: bool) -> None:
    """Refuse what may not be overwritten. Raises: BackupError."""
    if manifest.store_is_elsewhere and store is None:
        raise BackupError("the files of this backup were not in the data folder: let DOCRAIL_STORE say where they go")
    if store is not None and not manifest.store_is_elsewhere:
        raise BackupError("the files of this backup were in the data folder: restore it without DOCRAIL_STORE")
    if data_dir.is_mount():
        raise BackupError(f"{data_dir} is a mount point, which cannot be replaced: choose a folder in it with --data")
    if replace:
        return
    if data_dir.exists() and any(data_dir.iterdir()):
        raise BackupError(f"{data_dir} is not empty: choose another folder with --data, or replace it with --force")
    if store is not None and next(iter(store.files()), None):
        raise BackupError(f"the store {store} is not empty: choose another one, or overwrite its files with --force")


def _unpack(archive: Path, work: Path) -> int:
    """Unpack an archive, and return the number of files in it besides the databases. Raises: BackupError."""
    sums: dict[str, str] = {}
    stated: dict[str, str] = {}
    with _opened(archive) as tar:
        for member in tar:
            if not member.isreg() or stated or member.name in sums:
                raise ValueError(f"{member.name!r} does not belong in it")
            if member.name == CHECKSUMS:
                stated = json.loads(_bytes_of(tar, member))
            else:
                sums[member.name] = _unpack_member(tar, member, work)
        if not stated:
            raise ValueError("its end is missing")
        if wrong := sorted(name for name, _ in sums.items() ^ stated.items()):
            raise ValueError(f"{wrong[0]} is not as it was written")
    return len(sums) - len((MANIFEST, TEMPORAL, POSTGRES))


def _unpack_member(tar: tarfile.TarFile, member: tarfile.TarInfo, work: Path) -> str:
    """Write a member to its place, and return its sha256."""
    path, file = work / _place_of(member.name), tar.extractfile(member)
    assert file is not None
    make_folder(path.parent)
    source = _Hashing(file)
    with open_private(path, "wb") as target:
        shutil.copyfileobj(source, target, CHUNK_BYTES)
    return str(source.digest.hexdigest())


def _place_of(name: str) -> Path:
    """Return where a member belongs, relative to the new data folder. Raises: ValueError."""
    path = checked_path(name.removeprefix(DATA))
    if not name.startswith(DATA):
        return Path(UNPACKED, path)
    if path.partition("/")[0] in {*NOT_COPIED, UNPACKED}:
        raise ValueError(f"{name!r} does not belong in it")
    return Path(path)


async def _restore_databases(work: Path, report: Report) -> None:
    (work / TEMPORAL_FILE).parent.mkdir(mode=0o700)
    (work / UNPACKED / TEMPORAL).rename(work / TEMPORAL_FILE)
    server = await start_postgres(work, report=report)
    try:
        connection = await asyncpg.connect(server.dsn, timeout=5)
        for role in (TENANT_ROLE, FLEET_ROLE):  # the dump names them, and the next start of Docrail sets them up
            await connection.execute(f"CREATE ROLE {role} NOLOGIN")
        await connection.close()
        arguments = ("--exit-on-error", "--single-transaction", str(work / UNPACKED / POSTGRES))
        await _run("pg_restore", "--dbname", server.dsn, *arguments)
    finally:
        await server.stop()


def _fill(store: Folder, source: Path) -> None:
    """Write the files in the folder `source` to the store. Its id comes last: until then no process starts on it."""
    files = LocalFolder(source)
    for info in files.files():
        if info.path != STORE_ID:
            store.write(info.path, files.read(info.path))
    store.write(STORE_ID, files.read(STORE_ID))


def _put_in_place(work: Path, data_dir: Path, report: Report) -> None:
    """Give the new folder its name. Raises: DataFolderError if the present one is in use."""
    with ExitStack() as cleanup:
        if data_dir.exists() and any(data_dir.iterdir()):
            cleanup.enter_context(hold(data_dir))
            kept = data_dir.with_name(f"{data_dir.name}.replaced-{datetime.now(UTC):%Y%m%dT%H%M%S}")
            data_dir.rename(kept)
            report(f"what was in {data_dir} is kept in {kept}")
        work.rename(data_dir)
    sync_folder(data_dir.parent)
