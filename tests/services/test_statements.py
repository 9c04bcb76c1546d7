"""The pool, transactions, and every statement against the migrated schema."""

import ast
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import asyncpg
import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import transaction
from docrail.services.documents.repository.documents import load_document
from tests.postgres import COMMITTING, as_owner, new_document_id, upload

ROOMS = ("activities", "adapters", "api", "services", "workflows")
OTHER_SQL = {"docrail.adapters.postgres.migrate", "docrail.services.lake.query"}
"""The first creates the schema, the second queries DuckDB."""
OF_CREDENTIALS = "docrail.services.access.repository"
"""A key or a cookie is looked up before its tenant is known; after that, row-level security keeps to the tenant."""
VERBS = ("EXPLAIN", "SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
GIVEN = "docrail.adapters.postgres.pool.statement"
"""The parameter of delete_all: what its callers give is checked instead."""
RUN_SQL = {"cursor", "execute", "executemany", "fetch", "fetchmany", "fetchrow", "fetchval", "prepare"}


def modules() -> Iterator[ModuleType]:
    for room in ROOMS:
        package = importlib.import_module(f"docrail.{room}")
        for found in pkgutil.walk_packages(package.__path__, f"docrail.{room}."):
            if found.name not in OTHER_SQL:
                yield importlib.import_module(found.name)


def syntax_of(module: ModuleType) -> ast.Module:
    return ast.parse(Path(str(module.__file__)).read_text("utf-8"))


def constants(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Yield the module's own statements, for a mapping each value. Names with a leading `_` are parts of others."""
    for node in syntax_of(module).body:
        for name in (target.id for target in targets(node) if isinstance(target, ast.Name)):
            if name.isupper() and not name.startswith("_"):
                value = getattr(module, name)
                yield name, value
                if isinstance(value, Mapping):
                    yield from ((f"{name}[{key}]", one) for key, one in value.items())


def targets(node: ast.stmt) -> list[ast.expr]:
    match node:
        case ast.Assign():
            return node.targets
        case ast.AnnAssign():
            return [node.target]
        case _:
            return []


MODULES = {module.__name__: module for module in modules()}
STATEMENTS = {
    f"{name}.{constant}": value
    for name, module in MODULES.items()
    for constant, value in constants(module)
    if isinstance(value, str) and value.split(maxsplit=1)[:1] in [[verb] for verb in VERBS]
}


@pytest.mark.parametrize("name", STATEMENTS)
async def test_every_statement_fits_the_schema(db: PoolConnectionProxy, name: str) -> None:
    await db.prepare(STATEMENTS[name])


def test_every_statement_that_runs_is_one_of_these() -> None:
    known = {name.partition("[")[0] for name in STATEMENTS}
    for module in MODULES.values():
        for node in ast.walk(syntax_of(module)):
            match node:
                case ast.Call(func=ast.Attribute(attr=method), args=[sql, *_]) if method in RUN_SQL:
                    constant = sql.value if isinstance(sql, ast.Subscript) else sql
                    found = f"{module.__name__}.{ast.unparse(constant)}"
                    assert found in known | {GIVEN}, f"line {node.lineno}"
                case ast.Call(func=ast.Name(id="delete_all"), args=[_, sql, *_]):
                    assert f"{module.__name__}.{ast.unparse(sql)}" in known, f"line {node.lineno}"


def test_every_statement_on_a_tenants_table_asks_for_the_tenant() -> None:
    locks = {
        "adapters.postgres.pool.PLAN_FOR_VALUES",
        "adapters.postgres.pool.SHOW_ROWS",
        "adapters.store.renewal.TAKE_TURN",
        "services.documents.repository.calibrations.LOCK_CALIBRATIONS",
        "services.runs.recent_starts.LOCK_STARTS",
        "services.runs.repository.LOCK_RUN",
    }
    positions = {"services.events.repository.NOW", "services.events.repository.IS_KNOWN"}  # read no table
    positions |= {"services.fleet.repository.PING"}
    sweeping = {
        "services.documents.repository.documents.LOAD_UNENDED",
        "services.documents.repository.documents.LOAD_UNSTARTED",
        "services.documents.repository.documents.MARK_ENDED",
        "services.events.repository.READ_ALL",
        "services.events.repository.FORGET",
        "services.runs.repository.FORGET_STORED",
        "services.runs.ended_runs.LAST_END",
        "services.runs.repository.LIST_OPEN_CHUNKS",
        "services.documents.repository.documents.LOAD_OLD_ORIGINALS",
        "services.documents.repository.documents.MARK_ORIGINAL_REMOVED",
        "services.reviews.repository.decisions.LOAD_ALL_UNANSWERED",
        "services.reviews.repository.standing.LOAD_OPEN_DOCUMENTS",
    }
    totals = {
        "services.batches.repository.COUNT_ALL_OPEN",
        "services.documents.repository.counts.LOAD_COUNTS",
        "services.documents.repository.counts.COUNTS_BY_TENANTS",
        "services.reviews.repository.items.LOAD",
        "services.usage.repository.SPENT_TODAY",
        "services.usage.repository.SPENT_BY_TENANTS",
        "services.failures.repository.COUNT_ALL_OPEN",
        "services.runs.repository.COUNT_OPEN_CHUNKED",
        "services.reviews.repository.items.COUNT_ALL_OPEN",
        "services.usage.repository.TOTALS",
    }
    of_installation = {f"services.fleet.repository.{name}" for name in ("ADD", "LOAD", "LOCK", "SET_WRITTEN")}
    free = {name for name, sql in STATEMENTS.items() if "tenant_id = $1" not in sql and "(tenant_id" not in sql}
    free = {name for name in free if not name.startswith(OF_CREDENTIALS)}
    assert free == {f"docrail.{name}" for name in locks | positions | sweeping | totals | of_installation}


def test_every_function_of_a_repository_that_takes_a_database_takes_a_tenant() -> None:
    free = set()
    for name in {name.partition("[")[0].rpartition(".")[0] for name in STATEMENTS} - {OF_CREDENTIALS}:
        for node in ast.walk(syntax_of(MODULES[name])):
            if isinstance(node, ast.AsyncFunctionDef):
                names = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
                if "db" in names and "tenant_id" not in names:
                    free.add(node.name)
    say_whose = {
        "record_report",
        "insert_overdue",
        "is_notified",
        "mark_notified",
        "mark_sent",
        "put_off",
        "record_use",
    }
    say_whose |= {"save_ended_runs", "save_explanations", "select_copied"}
    say_whose |= {"lock_unfiled", "mark_filed", "record_first_approval"}
    say_whose |= {"note_done", "keep_file", "end_export"}
    say_whose |= {"cancel", "close", "complete", "end_waiting", "go_on", "hold", "note_run", "pause", "put_back"}
    say_whose |= {"resume", "retry", "take", "note_runs"}
    run_nothing = {"planned_for_values"}
    leases = {"claim_lease", "renew_lease", "leave_lease", "release_lease"}
    # Files know no tenant, or belong to all.
    of_all = {"forget_stored_outputs", "load_old_originals", "load_open_documents", "mark_original_removed"}
    of_all |= {"load_position", "is_known", "read_all"}
    of_all |= {"add_identity", "load_identity", "lock_identity", "set_written", "ping"}
    sweeps = {"load_unstarted", "load_all_unanswered", "record_due", "load_unsent", "load_unfiled", "list_open"}
    sweeps |= {"load_unended", "list_open_chunks", "mark_ended", "list_unfinished", "take_asking"}
    old = {"delete_all", "delete_old", "delete_forgotten_leases", "delete_past_days", "delete_expired_outputs"}
    old |= {"delete_ended_runs", "delete_explanations", "load_last_end"}
    totals = {
        "count_all_open",
        "count_open_chunked",
        "load_counts",
        "load_review_counts",
        "load_spent_today",
        "load_model_totals",
        "load_tenant_counts",
        "load_spent_by_tenants",
    }
    assert free == say_whose | run_nothing | leases | of_all | sweeps | old | totals


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
        await as_owner(connection)
        with pytest.raises(asyncpg.PostgresConnectionError):
            await connection.fetchval("SELECT pg_terminate_backend(pg_backend_pid())")
    assert await pool.fetchval("SELECT 1") == 1
