"""Migrate a database to the schema of this release: apply each file of migrations/ once, in order, then the gate."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from docrail.adapters.postgres.pool import CONNECT_SECONDS, StorageError

FOLDER = Path(__file__).parent / "migrations"
GATE = Path(__file__).parent / "gate.sql"
"""Roles and row-level security, applied at every migration."""
LOCK_KEY = 0x646F6372  # "docr"
"""Advisory lock held while migrating, so that several workers can start at once."""
LOCK_SECONDS = 60
"""How long to wait for another migration, or for a table in use, before failing."""

CREATE_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"""
LOAD_APPLIED = "SELECT name, sha256 FROM migrations"
RECORD_APPLIED = "INSERT INTO migrations (name, sha256) VALUES ($1, $2)"

_NAME = re.compile(r"\d{4}_[a-z0-9_]+\.sql")


class MigrationError(StorageError):
    """The migration file cannot be applied safely."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"migration {name}: {message}")
        self.name = name


class EarlierDataError(StorageError):
    """The database was created by an earlier build, whose tables this one does not read."""

    def __init__(self) -> None:
        super().__init__(
            "this database was made by an earlier build of Docrail, whose data this one does not read; nothing was "
            "changed: use a new, empty database"
        )


@dataclass(frozen=True, slots=True)
class _Migration:
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


async def migrate(dsn: str, *, folder: Path = FOLDER) -> list[str]:
    """Apply the missing migrations and return their names. Safe to call concurrently and at every start.

    Each file runs in its own transaction, so a failing one changes nothing. Files that a newer release
    applied and this one does not have are ignored.

    Raises: MigrationError (edited after it was applied, out of order, badly named) and EarlierDataError, without
    changing
    anything; asyncpg errors of the SQL itself.
    """
    migrations = _read(folder)
    connection = await asyncpg.connect(dsn, timeout=CONNECT_SECONDS)
    try:
        await connection.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
        # held until the connection ends, however it ends
        await connection.execute("SELECT pg_advisory_lock($1)", LOCK_KEY)
        await connection.execute(CREATE_TABLE)
        applied = {row["name"]: row["sha256"] for row in await connection.fetch(LOAD_APPLIED)}
        missing = _missing(migrations, applied)
        for migration in missing:
            async with connection.transaction():
                await connection.execute(migration.sql)
                await connection.execute(RECORD_APPLIED, migration.name, migration.sha256)
        async with connection.transaction():
            await connection.execute(GATE.read_text("utf-8"))
    finally:
        await connection.close()
    return [migration.name for migration in missing]


def _read(folder: Path) -> list[_Migration]:
    migrations = [_Migration(path.name, path.read_text("utf-8")) for path in sorted(folder.glob("*.sql"))]
    numbers: dict[str, str] = {}
    for migration in migrations:
        if not _NAME.fullmatch(migration.name):
            raise MigrationError(migration.name, "expected a name like 0002_add_due_at.sql")
        number = migration.name[:4]
        if other := numbers.get(number):
            raise MigrationError(migration.name, f"has the same number as {other}")
        numbers[number] = migration.name
    return migrations


def _missing(migrations: list[_Migration], applied: dict[str, str]) -> list[_Migration]:
    if applied and not any(migration.name in applied for migration in migrations):
        raise EarlierDataError
    newest = max(applied, default="")
    for migration in migrations:
        if migration.name not in applied:
            if migration.name < newest:
                raise MigrationError(migration.name, f"comes before {newest}, which is applied already: renumber it")
        elif applied[migration.name] != migration.sha256:
            raise MigrationError(migration.name, "was edited after it was applied: undo that and add a new file")
    return [migration for migration in migrations if migration.name not in applied]
