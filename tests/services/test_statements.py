"""The pool, transactions, and every statement against the migrated schema."""

import ast
from pathlib import Path

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail import adapters as storage
from docrail.adapters.postgres import migrate
from docrail.adapters.postgres.pool import transaction
from docrail.services.definitions import repository as definitions
from docrail.services.documents.repository import counts as document_counts
from docrail.services.documents.repository import documents
from docrail.services.documents.repository import readings as extractions
from docrail.services.documents.repository.documents import load_document
from docrail.services.reviews.repository import items as reviews
from docrail.services.runs import repository as executions
from tests.postgres import COMMITTING, new_document_id, upload

STATEMENTS = {
    f"{module.__name__}.{name}": value
    for module in (definitions, document_counts, documents, executions, extractions, migrate, reviews)
    for name, value in vars(module).items()
    if name.isupper()
    and isinstance(value, str)
    and value.split()[0] in {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}
}


@pytest.mark.parametrize("name", STATEMENTS)
async def test_every_statement_fits_the_schema(db: PoolConnectionProxy, name: str) -> None:
    await db.prepare(STATEMENTS[name])


def test_every_statement_on_a_tenants_table_asks_for_the_tenant() -> None:
    sweeping = {
        "docrail.services.documents.repository.counts.LOAD_COUNTS",
        "docrail.services.documents.repository.documents.LOAD_UNSTARTED",
        "docrail.adapters.postgres.migrate.LOAD_APPLIED",
        "docrail.adapters.postgres.migrate.RECORD_APPLIED",
    }
    assert {
        name for name, sql in STATEMENTS.items() if "tenant_id = $1" not in sql and "(tenant_id" not in sql
    } == sweeping


def test_every_function_that_takes_a_database_takes_a_tenant() -> None:
    free = set()
    for path in Path(storage.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.AsyncFunctionDef):
                names = [argument.arg for argument in node.args.args]
                if "db" in names and "tenant_id" not in names:
                    free.add(node.name)
    say_whose = {"tell", "insert_overdue", "is_notified", "mark_notified", "mark_told", "put_off", "record_use"}
    say_whose |= {"is_to_be_filed", "mark_filed"}
    leases = {"claim_lease", "renew_lease", "leave_lease", "release_lease"}
    of_all = {"forget_stored_outputs", "load_old_originals", "mark_original_removed"}  # files know no tenant, or all
    sweeps = {"load_unstarted", "load_all_unanswered", "record_due", "load_untold", "load_unfiled"}
    totals = {"load_counts", "load_review_counts", "load_spent_today", "load_model_totals"}
    assert free == say_whose | leases | of_all | sweeps | totals


async def test_a_transaction_commits_at_its_end(pool: asyncpg.Pool) -> None:
    async with transaction(pool) as connection:
        document = await upload(connection, tenant_id=COMMITTING)
    assert await load_document(pool, COMMITTING, document.document_id)


async def test_a_transaction_that_raises_leaves_nothing(pool: asyncpg.Pool) -> None:
    document_id = new_document_id()

    async def upload_and_raise() -> None:
        async with transaction(pool) as connection:
            await upload(connection, tenant_id=COMMITTING, document_id=document_id)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await upload_and_raise()
    assert await load_document(pool, COMMITTING, document_id) is None


async def test_json_columns_are_python_values(db: PoolConnectionProxy) -> None:
    value = {"text": "ü", "list": [1, None, 0.5]}
    assert await db.fetchval("SELECT $1::jsonb", value) == value
    assert await db.fetchval("SELECT $1::json", value) == value
    with pytest.raises((ValueError, asyncpg.DataError)):
        await db.fetchval("SELECT $1::jsonb", float("nan"))


async def test_the_pool_outlives_a_lost_connection(pool: asyncpg.Pool) -> None:
    async with pool.acquire() as connection:
        with pytest.raises(asyncpg.PostgresConnectionError):
            await connection.fetchval("SELECT pg_terminate_backend(pg_backend_pid())")
    assert await pool.fetchval("SELECT 1") == 1
