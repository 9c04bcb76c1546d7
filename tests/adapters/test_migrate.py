"""Migrations: from nothing, again, at once, edited, out of order, failing in the middle."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from docrail.adapters.postgres.migrate import FOLDER, MigrationError, migrate
from docrail.adapters.postgres.pool import StorageError
from docs.schema import SCHEMA, dump
from tests.postgres import empty_database
from tests.stack import Servers

ALL = sorted(path.name for path in FOLDER.glob("*.sql"))

WITHOUT_TENANT = {"migrations", "store_identity"}


@pytest.fixture
async def empty(embedded: Servers) -> AsyncIterator[str]:
    async with empty_database(embedded.dsn) as dsn:
        yield dsn


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "migrations"))


async def tables(dsn: str) -> set[str]:
    connection = await asyncpg.connect(dsn)
    try:
        rows = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    finally:
        await connection.close()
    return {row["tablename"] for row in rows}


async def test_migrations_apply_from_nothing_once(empty: str) -> None:
    assert await migrate(empty) == ALL
    assert await migrate(empty) == []
    ours = {"documents", "document_counts", "processed_documents", "reviews", "definitions", "executions"}
    registry = {"definition_aliases", "alias_moves", "routing_rules"}
    inbox = {"dead_letters", "operator_actions"}
    of_runs = {"step_cache", "overdue_runs", "chunked_runs", "ended_runs", "run_explanations", "recent_starts"}
    of_files = {"lake_versions"}
    of_trust = {"seen_invoices", "vendors", "vendor_keys", "field_outcomes", "calibrations"}
    of_models = {"model_usage", "model_days", "model_totals", "reading_leases"}
    of_console = {"events", "event_seals", "exports", "export_documents"}
    of_batches = {"batches", "batch_documents", "batch_duplicates", "watched_files"}
    of_reviews = {"corrections", "audit_events", "audit_heads", "sla_events", "review_counts"}
    of_access = {"api_keys", "people", "sessions", "quotas", "quota_days"}
    added = {
        *registry,
        *inbox,
        *of_runs,
        *of_files,
        *of_trust,
        *of_models,
        *of_reviews,
        *of_access,
        *of_console,
        *of_batches,
    }
    assert await tables(empty) == {*ours, *added, *WITHOUT_TENANT}


async def test_every_table_carries_its_tenant(dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    rows = await connection.fetch(
        "SELECT table_name FROM information_schema.columns WHERE column_name = 'tenant_id' AND is_nullable = 'NO'"
    )
    await connection.close()
    assert {row["table_name"] for row in rows} == await tables(dsn) - WITHOUT_TENANT


async def test_several_processes_may_migrate_at_once(empty: str) -> None:
    applied = await asyncio.gather(*(migrate(empty) for _ in range(4)))
    assert sorted(applied, key=len) == [[], [], [], ALL]


async def test_an_edited_migration_is_named_and_nothing_is_applied(empty: str, folder: Path) -> None:
    await migrate(empty, folder=folder)
    edited = folder / ALL[0]
    edited.write_text(edited.read_text() + "-- a comment\n")
    (folder / "9998_new.sql").write_text("CREATE TABLE never (id int)")
    with pytest.raises(MigrationError, match=re.escape(f"{ALL[0]}: was edited")):
        await migrate(empty, folder=folder)
    assert "never" not in await tables(empty)


async def test_a_failing_migration_leaves_nothing_of_itself_and_can_be_corrected(empty: str, folder: Path) -> None:
    await migrate(empty, folder=folder)
    new = folder / "9998_new.sql"
    new.write_text("CREATE TABLE half (id int); SELECT 1 / 0;")
    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate(empty, folder=folder)
    assert "half" not in await tables(empty)
    new.write_text("CREATE TABLE whole (id int);")
    assert await migrate(empty, folder=folder) == [new.name]
    assert "whole" in await tables(empty)


async def test_an_older_release_starts_on_a_newer_database(empty: str, folder: Path) -> None:
    (folder / "9998_new.sql").write_text("CREATE TABLE newer (id int)")
    await migrate(empty, folder=folder)
    assert await migrate(empty) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("0000_late.sql", "comes before"),
        ("0002-add-column.sql", "expected a name like"),
        ("0001_other.sql", "has the same number"),
    ],
)
async def test_a_misnamed_or_late_migration_is_refused(empty: str, folder: Path, name: str, message: str) -> None:
    await migrate(empty, folder=folder)
    (folder / name).write_text("SELECT 1")
    with pytest.raises(StorageError, match=message):
        await migrate(empty, folder=folder)


async def test_a_database_of_an_earlier_build_is_refused_and_left_as_it_is(empty: str, folder: Path) -> None:
    (folder / ALL[0]).rename(folder / "0001_pre_first_tables.sql")
    (folder / "0014_pre_lake_filing.sql").write_text("CREATE TABLE earlier (id int)")
    await migrate(empty, folder=folder)
    before = dump(empty)
    with pytest.raises(StorageError, match=r"made by an earlier build of Docrail.*nothing was changed"):
        await migrate(empty)
    assert dump(empty) == before


def test_the_committed_schema_is_what_the_migrations_make(dsn: str) -> None:
    """After a new migration: make docs."""
    assert SCHEMA.read_text("utf-8") == dump(dsn)
