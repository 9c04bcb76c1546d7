"""The gate in SQL: a session sees and writes the rows of one tenant, whatever the statement says."""

import ast
import asyncio
import re
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from docrail.activities.tenant_scope import TenantScope
from docrail.adapters.postgres.migrate import migrate
from docrail.adapters.postgres.pool import open_pool, transaction
from docrail.adapters.postgres.tenants import (
    NO_ROWS,
    Rows,
    all_tenants,
    enter_tenant,
    no_tenant,
    of_tenant,
    rows_of,
    visible_rows,
)
from docrail.services.inbox.models import DocumentSort
from docrail.services.inbox.repository import LIST_DOCUMENTS
from docrail.services.reviews.models import Sort
from docrail.services.reviews.repository.queue import LIST_REVIEWS
from docrail.workflows.contract.messages import StoreCall
from tests.postgres import OTHER_TENANT, TENANT, new_document_id, upload

ROOT = Path(__file__).parents[2]
TENANTS_SEEN = "SELECT DISTINCT tenant_id FROM documents ORDER BY 1"
COUNT = "SELECT count(*) FROM documents"

FOR_ALL_TENANTS = {
    ("activities/internal/filing.py", "_unfiled"),
    ("activities/internal/maintenance.py", "remove_old"),
    ("activities/internal/maintenance.py", "remove_rows"),
    ("api/app.py", "open_app"),
    ("services/totals/service.py", "load_totals"),
    ("services/access/service.py", "_load_secrets"),
    ("services/access/service.py", "_load_session"),
    ("services/access/service.py", "create_first_key"),
    ("services/access/service.py", "end_session"),
    ("services/access/service.py", "list_tenants"),
    ("services/events/service.py", "_keep"),
    ("services/events/service.py", "forget_events"),
    ("services/access/service.py", "verify_key"),
    ("services/access/service.py", "verify_session"),
    ("services/batches/service.py", "_asking"),
    ("services/batches/service.py", "_unfinished"),
    ("services/exports/service.py", "_open"),
    ("services/intake/service.py", "_note_ends"),
    ("services/intake/service.py", "_unended"),
    ("services/runs/closed_chunks.py", "_open_chunks"),
    ("services/intake/service.py", "_unstarted"),
    ("services/reviews/run_answers.py", "answer_waiting_runs"),
    ("services/reviews/sla.py", "list_unsent"),
    ("services/runs/views/ended.py", "copy_ended_runs"),
    ("services/reviews/sla.py", "record_due_sla"),
    ("services/usage/service.py", "_spent_by_all"),
    ("services/usage/service.py", "list_tenants"),
    ("services/usage/service.py", "show_usage"),
}
"""The only functions that work for all tenants at once."""

APPEND_ONLY = {"alias_moves", "audit_events", "operator_actions"}


@pytest.fixture
async def gated(dsn: str) -> AsyncIterator[asyncpg.Pool]:
    """Yield a pool of a single connection, so that each use gets the one of the use before."""
    await migrate(dsn)  # a clone of a database does not have its privileges
    pool = await open_pool(dsn, min_size=1, max_size=1)
    with no_tenant():
        yield pool
    await pool.close()


@pytest.fixture
async def two_tenants(gated: asyncpg.Pool) -> asyncpg.Pool:
    for tenant_id in (TENANT, OTHER_TENANT):
        with of_tenant(tenant_id):
            await upload(gated, tenant_id=tenant_id)
    return gated


@pytest.fixture
async def owner(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    yield connection
    await connection.close()


async def test_every_table_with_a_tenant_is_closed_by_the_same_two_policies(owner: asyncpg.Connection) -> None:
    rows = await owner.fetch(
        """SELECT c.relname, c.relrowsecurity,
                  array(SELECT concat_ws(' ', polname, polcmd, polroles::regrole[]::text,
                                         pg_get_expr(polqual, c.oid), pg_get_expr(polwithcheck, c.oid))
                          FROM pg_policy WHERE polrelid = c.oid ORDER BY polname) AS policies
             FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname = 'tenant_id'"""
    )
    own = "(tenant_id = ( SELECT NULLIF(current_setting('docrail.tenant'::text, true), ''::text) AS \"nullif\"))"
    wanted = ["all_rows * {docrail_fleet} true", f"own_rows * {{docrail_app}} {own}"]
    assert len(rows) > 20
    assert [row["relname"] for row in rows if not row["relrowsecurity"] or row["policies"] != wanted] == []


async def test_only_the_installation_s_own_tables_have_no_tenant(owner: asyncpg.Connection) -> None:
    rows = await owner.fetch(
        """SELECT relname FROM pg_class AS c
            WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
              AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id')"""
    )
    assert {row["relname"] for row in rows} == {"migrations", "store_identity"}


@pytest.mark.parametrize("view", ["document_states", "document_texts"])
async def test_a_view_shows_the_rows_of_its_caller(two_tenants: asyncpg.Pool, view: str) -> None:
    seen = f"SELECT array_agg(DISTINCT tenant_id) FROM {view}"
    assert await two_tenants.fetchval(seen) is None
    with of_tenant(TENANT):
        assert await two_tenants.fetchval(seen) == [TENANT]


async def test_every_view_reads_its_tables_as_its_caller_or_has_the_condition_of_their_policies(
    owner: asyncpg.Connection,
) -> None:
    rows = await owner.fetch(
        "SELECT relname, reloptions, pg_get_viewdef(oid) AS made FROM pg_class"
        " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('v', 'm') ORDER BY relname"
    )
    assert [(row["relname"], row["reloptions"]) for row in rows] == [
        ("document_states", ["security_invoker=true"]),
        ("document_texts", None),
    ]
    condition = "NULLIF(current_setting('docrail.tenant'::text, true), ''::text)"
    assert rows[1]["made"].count(condition) == rows[1]["made"].count("FROM") == 2


async def test_a_table_of_a_later_migration_is_closed_too(
    owner: asyncpg.Connection, dsn: str, gated: asyncpg.Pool
) -> None:
    await owner.execute("CREATE TABLE later (tenant_id text NOT NULL); INSERT INTO later VALUES ('acme'), ('globex')")
    try:
        await migrate(dsn)
        with of_tenant(TENANT):
            assert await gated.fetchval("SELECT array_agg(tenant_id) FROM later") == [TENANT]
    finally:
        await owner.execute("DROP TABLE later")


async def test_sessions_have_a_role_that_owns_nothing_and_bypasses_nothing(gated: asyncpg.Pool) -> None:
    found = await gated.fetchrow(
        """SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin,
                  (SELECT count(*) FROM pg_class WHERE relowner = r.oid) AS owned,
                  (SELECT count(*) FROM pg_auth_members WHERE member = r.oid) AS member_of
             FROM pg_roles AS r WHERE rolname = current_user"""
    )
    assert found is not None
    assert tuple(found) == ("docrail_app", False, False, False, False, False, 0, 0)


async def test_a_statement_without_a_condition_sees_its_tenant_only(two_tenants: asyncpg.Pool) -> None:
    for tenant_id in (TENANT, OTHER_TENANT):
        with of_tenant(tenant_id):
            assert [row[0] for row in await two_tenants.fetch(TENANTS_SEEN)] == [tenant_id]


async def test_without_a_tenant_nothing_is_seen_changed_or_written(two_tenants: asyncpg.Pool) -> None:
    assert await two_tenants.fetchval(COUNT) == 0
    assert await two_tenants.execute("UPDATE documents SET source = 'stolen'") == "UPDATE 0"
    assert await two_tenants.execute("DELETE FROM corrections") == "DELETE 0"
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await upload(two_tenants, tenant_id=TENANT)


async def test_a_tenant_without_a_name_is_refused(gated: asyncpg.Pool) -> None:
    with pytest.raises(ValueError, match="expected a tenant's name"), of_tenant(""):
        await gated.fetch(TENANTS_SEEN)


async def test_rows_of_another_tenant_cannot_be_written_changed_or_given_away(two_tenants: asyncpg.Pool) -> None:
    with of_tenant(TENANT):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            await upload(two_tenants, tenant_id=OTHER_TENANT)
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            await two_tenants.execute("UPDATE documents SET tenant_id = $1", OTHER_TENANT)
        changed = await two_tenants.execute("UPDATE documents SET source = 'x' WHERE tenant_id = $1", OTHER_TENANT)
        assert changed == "UPDATE 0"


async def test_an_id_of_another_tenant_is_not_taken_over(two_tenants: asyncpg.Pool) -> None:
    """The id is unique across tenants: an upsert must not reach the other's row."""
    document_id = new_document_id()
    with of_tenant(OTHER_TENANT):
        await upload(two_tenants, tenant_id=OTHER_TENANT, document_id=document_id)
    with of_tenant(TENANT), pytest.raises(asyncpg.InsufficientPrivilegeError):
        await two_tenants.execute(
            "INSERT INTO documents (document_id, tenant_id, sha256, size_bytes, media_type, file_name, sla_hours) "
            "VALUES ($1, $2, repeat('0', 64), 1, 'a/b', 'c', 1) "
            "ON CONFLICT (document_id) DO UPDATE SET tenant_id = excluded.tenant_id",
            document_id,
            TENANT,
        )


async def test_a_connection_does_not_carry_a_tenant_over(two_tenants: asyncpg.Pool) -> None:
    with of_tenant(TENANT):
        assert await two_tenants.fetchval(COUNT) > 0
    assert await two_tenants.fetchval(COUNT) == 0
    with all_tenants():
        assert {row[0] for row in await two_tenants.fetch(TENANTS_SEEN)} >= {TENANT, OTHER_TENANT}
    with of_tenant(OTHER_TENANT):
        assert [row[0] for row in await two_tenants.fetch(TENANTS_SEEN)] == [OTHER_TENANT]


async def test_a_failed_transaction_leaves_the_tenant_as_it_was(two_tenants: asyncpg.Pool) -> None:
    with of_tenant(TENANT):
        with pytest.raises(asyncpg.DivisionByZeroError):
            async with transaction(two_tenants) as connection:
                await connection.execute("SELECT 1 / 0")
        assert [row[0] for row in await two_tenants.fetch(TENANTS_SEEN)] == [TENANT]


async def test_a_cancelled_change_of_the_tenant_leaves_no_connection_in_doubt(two_tenants: asyncpg.Pool) -> None:
    with of_tenant(TENANT):
        await two_tenants.fetchval(COUNT)
    for delay in (0, 0.0001, 0.0005, 0.001):
        with of_tenant(OTHER_TENANT):
            reading = asyncio.create_task(two_tenants.fetch(TENANTS_SEEN))
            await asyncio.wait([reading], timeout=delay)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        with of_tenant(TENANT):
            assert [row[0] for row in await two_tenants.fetch(TENANTS_SEEN)] == [TENANT]


async def test_concurrent_work_of_two_tenants_shares_a_pool_and_no_rows(dsn: str, two_tenants: asyncpg.Pool) -> None:
    pool = await open_pool(dsn, min_size=2, max_size=3)

    async def read(tenant_id: str) -> set[str]:
        enter_tenant(tenant_id)
        async with transaction(pool) as connection:
            first = await connection.fetch(TENANTS_SEEN)
        return {row[0] for row in (*first, *await pool.fetch(TENANTS_SEEN))}

    try:
        names = [TENANT, OTHER_TENANT, "initech"] * 40
        assert await asyncio.gather(*map(read, names)) == [{n} if n != "initech" else set() for n in names]
    finally:
        await pool.close()


@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE documents",
        "CREATE TABLE mine (a int)",
        "CREATE TEMPORARY TABLE mine (a int)",
        "ALTER TABLE documents DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE audit_events DISABLE TRIGGER USER",
        "DROP TABLE step_cache",
        "CREATE ROLE mine",
        "INSERT INTO migrations (name, sha256) VALUES ('9999_mine.sql', '')",
        "COPY documents TO PROGRAM 'cat'",
        "SELECT pg_read_file('/etc/passwd')",
        "SET session_replication_role = replica",
        *(f"UPDATE {table} SET tenant_id = tenant_id" for table in sorted(APPEND_ONLY)),
        *(f"DELETE FROM {table}" for table in sorted({*APPEND_ONLY, "audit_heads"})),
    ],
)
@pytest.mark.parametrize("scope", ["tenant", "all"])
async def test_a_session_may_not(gated: asyncpg.Pool, statement: str, scope: str) -> None:
    rows = of_tenant(TENANT) if scope == "tenant" else all_tenants()
    with rows, pytest.raises(asyncpg.InsufficientPrivilegeError):
        await gated.execute(statement)


async def test_resetting_the_role_stays_within_the_gate(two_tenants: asyncpg.Pool) -> None:
    with of_tenant(TENANT):
        async with two_tenants.acquire() as connection:
            await connection.execute("RESET ROLE")
            assert await connection.fetchval("SELECT current_user") == "docrail_app"
            await connection.execute("RESET ALL")
            assert await connection.fetchval(COUNT) == 0


class _Seen(ActivityInboundInterceptor):
    """Stands in for the activity, and keeps what it may see."""

    def __init__(self) -> None:
        self.rows: Rows | None = None

    async def execute_activity(self, input: ExecuteActivityInput) -> None:  # noqa: A002 - its name there
        self.rows = visible_rows()


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        ([StoreCall(tenant_id=TENANT, value=1)], rows_of(TENANT)),
        ([TENANT], NO_ROWS),  # an activity that is given a name only reads no tables
        ([], NO_ROWS),
    ],
)
async def test_an_activity_runs_as_the_tenant_of_its_call(arguments: list[object], rows: Rows) -> None:
    seen = _Seen()
    call = ExecuteActivityInput(fn=len, args=arguments, executor=None, headers={})
    with of_tenant(OTHER_TENANT):
        await TenantScope().intercept_activity(seen).execute_activity(call)
    assert seen.rows == rows


def test_every_worker_has_the_gate() -> None:
    """Every place that makes a worker names it."""
    text = (ROOT / "worker.py").read_text()
    assert len(re.findall(r"return Worker\(", text)) == len(re.findall(r"interceptors=\[.*TenantScope\(\)", text)) == 2


def test_work_for_all_tenants_is_done_in_few_known_places() -> None:
    found = set()
    for room in ("activities", "adapters", "api", "cli", "embedded", "services", "workflows"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if re.search(r"\b(?:all_tenants\(|ALL_ROWS\b)", text := path.read_text()) and path.name != "tenants.py":
                found |= {(str(path.relative_to(ROOT)), name) for name in _functions_with(ast.parse(text))}
    assert found == FOR_ALL_TENANTS
    assert "ALL_ROWS" not in (ROOT / "worker.py").read_text()


def _functions_with(tree: ast.Module) -> set[str]:
    """Return the names of the innermost functions that name the scope of all tenants."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = {
                each for part in ast.walk(node) if part is not node and _is_function(part) for each in ast.walk(part)
            }
            own = (each for each in ast.walk(node) if each not in inner)
            if any(isinstance(each, ast.Name) and each.id in {"all_tenants", "ALL_ROWS"} for each in own):
                found.add(node.name)
    return found


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


async def test_the_login_of_the_manual_gets_through_the_gate_only(owner: asyncpg.Connection) -> None:
    [sql] = re.findall(r"```sql\n(.*?)```", (ROOT / "docs/howto/tenants.md").read_text(), re.DOTALL)
    login = f"docrail_{uuid.uuid4().hex[:8]}"
    async with owner.transaction():
        await owner.execute(sql.replace("docrail_service", login))
        await owner.execute(f"SET LOCAL SESSION AUTHORIZATION {login}")
        await owner.execute("SET LOCAL ROLE docrail_app")
        assert await owner.fetchval(COUNT) == 0
        await owner.execute("SET LOCAL ROLE NONE")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await owner.fetchval("SELECT count(*) FROM public.documents")


LISTS = {
    "reviews_queue": (LIST_REVIEWS[Sort.PRIORITY], 18),
    "documents_newest": (LIST_DOCUMENTS[DocumentSort.NEWEST, None], 10),
}
"""For the index that a list reads in its order: its statement, and how many parameters it has."""


@pytest.mark.parametrize("index", LISTS)
async def test_a_list_still_reads_its_index_and_the_tenant_once(gated: asyncpg.Pool, index: str) -> None:
    """An InitPlan is evaluated once for each statement."""
    statement, count = LISTS[index]
    with of_tenant(TENANT):
        async with transaction(gated) as connection:
            await connection.execute("SET LOCAL enable_seqscan = off")
            await connection.execute("SET LOCAL enable_bitmapscan = off")
            await connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
            prepared = f"PREPARE listed AS {statement}"
            await connection.execute(prepared)
            given = ", ".join(["NULL"] * (count - 1))
            lines = await connection.fetch(f"EXPLAIN EXECUTE listed ('{TENANT}', {given})")
    plan = "\n".join(line[0] for line in lines)
    assert f"using {index}" in plan, plan
    assert "InitPlan" in plan, plan
