"""Measure the queue, the inbox and its search over millions of documents, and keep PostgreSQL's plans.

One tenant has `--documents` documents (5 million): each was read and has a review item, one of 500 waits for a person,
and the others are decided and exported. Prints a JSON line for each page: the median and the worst of several times in
milliseconds through the repositories, under row-level security, and the bound. `--plans FILE` writes the plans. The
data folder `--data` is kept and used again.
"""

import argparse
import asyncio
import datetime as dt
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import asyncpg

from docrail.adapters.postgres.migrate import migrate
from docrail.adapters.postgres.pool import open_pool
from docrail.adapters.postgres.tenants import of_tenant
from docrail.embedded.postgres import admit_services, start_postgres
from docrail.invoices.assessment.duplicates import Seen
from docrail.services.documents.repository.seen import LOAD_KNOWN, asked_of
from docrail.services.inbox.models import DocumentFilter, DocumentSort, DocumentStatus
from docrail.services.inbox.repository import count_documents, find_neighbours, has_more_than_sorted, list_documents
from docrail.services.reviews.models import ReviewFilter, Sort
from docrail.services.reviews.repository.queue import list_reviews, place_of

TENANT = "default"
TIMES = 7
PAGE = 50
QUEUE_BOUND, SEARCH_BOUND = 30.0, 200.0
"""Milliseconds."""
WIDTH = 160
"""Characters of a line of a plan: conditions are longer."""
TABLES = ("documents", "seen_invoices", "reviews")

FILL = (
    """
INSERT INTO documents (document_id, tenant_id, sha256, size_bytes, media_type, file_name, sla_hours, received_at,
                       definition, run_id, run_started_at, ended_as, outcome, processing_seconds, confidence,
                       decision, decided_at, exported_at)
SELECT 'doc_' || lpad(to_hex(n), 26, '0'), $1, repeat(md5(n::text), 2), 60000, 'application/pdf',
       CASE n % 3 WHEN 0 THEN 'scan-' ELSE 'invoice-' END || n || '.pdf', 24, now() - n * interval '5 seconds',
       'invoice', 'run.' || n, now() - n * interval '5 seconds', 'completed', 'success', 1, 0.9,
       CASE WHEN n % 500 > 0 THEN CASE WHEN n % 20 > 0 THEN 'approved' ELSE 'rejected' END END,
       CASE WHEN n % 500 > 0 THEN now() END, CASE WHEN n % 500 > 0 AND n % 20 > 0 AND n > $2 / 100 THEN now() END
  FROM generate_series(1, $2::bigint) AS n""",
    """
INSERT INTO seen_invoices (tenant_id, document_id, sha256, document_type, number_key, vat_id, name_key, total,
                           issued_on, vendor_name, invoice_number, currency, seen_at)
SELECT $1, 'doc_' || lpad(to_hex(n), 26, '0'), repeat(md5(n::text), 2), 'invoice', 're' || n,
       'DE' || lpad((n % 20000)::text, 9, '0'), 'vendor' || n % 20000 || 'gmbh', (n * 7919 % 10000000) / 100.0,
       current_date - (n % 1000)::int, 'Vendor ' || n % 20000 || ' GmbH', 'RE-' || n, 'EUR',
       now() - n * interval '5 seconds'
  FROM generate_series(1, $2::bigint) AS n""",
    """
INSERT INTO reviews (tenant_id, review_id, document_id, run_id, status, file_name, band, priority, parts, reasons,
                     summary, due_at, created_at, decided_by, closed_at)
SELECT $1, 'rev_' || lpad(to_hex(n), 26, '0'), 'doc_' || lpad(to_hex(n), 26, '0'), 'run.' || n,
       CASE WHEN n % 500 = 0 THEN 'open' WHEN n % 20 > 0 THEN 'approved' ELSE 'rejected' END,
       'invoice-' || n || '.pdf', (n % 3)::int, (n * 7919 % 100000) / 1000.0,
       jsonb_build_object('uncertainty', (n % 100) / 100.0, 'sla', (n % 77) / 77.0, 'value', (n % 51) / 51.0,
                          'complexity', (n % 13) / 13.0),
       '[{"code": "low_confidence", "message": "the total is uncertain", "field": "total"}]',
       jsonb_build_object('vendor', 'Vendor ' || n % 20000 || ' GmbH', 'number', 'RE-' || n, 'total', '119.00',
                          'currency', 'EUR', 'confidence', 0.8),
       now() + (n % 1000) * interval '1 hour', now() - n * interval '5 seconds',
       CASE WHEN n % 500 > 0 THEN 'ann' END, CASE WHEN n % 500 > 0 THEN now() END
  FROM generate_series(1, $2::bigint) AS n""",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One page that a person waits for; `bound` in milliseconds, None: no promise."""

    what: str
    ask: Callable[[asyncpg.Pool], Awaitable[Any]]
    bound: float | None = None


def asked(documents: int) -> list[Asked]:
    """Return what people ask for: pages of the queue and of the inbox, searches and counts."""
    open_ = ReviewFilter(status="open")

    async def later_page(db: asyncpg.Pool) -> Any:
        first = await list_reviews(db, TENANT, open_, limit=1000)
        return await list_reviews(
            db, TENANT, open_, limit=PAGE, after=place_of(first[-1], Sort.PRIORITY, dt.datetime.now(dt.UTC))
        )

    def inbox(sort: DocumentSort, **filters: Any) -> Callable[[asyncpg.Pool], Awaitable[Any]]:
        return lambda db: list_documents(db, TENANT, DocumentFilter(**filters), sort, limit=PAGE)

    def queue(sort: Sort = Sort.PRIORITY, **filters: Any) -> Callable[[asyncpg.Pool], Awaitable[Any]]:
        return lambda db: list_reviews(db, TENANT, ReviewFilter(status="open", **filters), sort=sort, limit=PAGE)

    def neighbours(status: DocumentStatus | None, n: int) -> Callable[[asyncpg.Pool], Awaitable[Any]]:
        wanted, id_ = DocumentFilter(status), f"doc_{n:026x}"
        return lambda db: find_neighbours(db, TENANT, wanted, DocumentSort.NEWEST, id_, me="ann")

    async def known(db: asyncpg.Pool) -> Any:
        """Compare a document with all others, as each one is when it was read."""
        now = dt.datetime.now(dt.UTC)
        mine = Seen("doc", "0" * 64, number_key="re-77777", vat_id="DE000000077", name_key="vendor77gmbh")
        mine = replace(mine, total=Decimal("55.12"), issued_on=now.date())
        return await db.fetch(LOAD_KNOWN, TENANT, json.dumps([asked_of(mine, ["vat:DE000000077"], now, None)]))

    waiting = DocumentStatus.ATTENTION
    middle = documents // 2 // 500 * 500
    texts = {
        "one number": f"RE-{documents // 3}",
        "one file": f"invoice-{documents // 3 + 1}.pdf",
        "a vendor": "vendor 1234 gmbh",
        "part of all files": "pdf",
        "nothing": "no such text",
        "an amount": "4.904,95",
        "two letters": "zq",
    }
    return [
        Asked("queue: first page", queue(), QUEUE_BOUND),
        Asked("queue: page after 1,000 items", later_page),
        *(Asked(f"queue by {sort}", queue(sort)) for sort in Sort if sort is not Sort.PRIORITY),
        Asked("queue of one vendor", queue(vendor="Vendor 1234 ")),
        *(Asked(f"inbox: waiting, {sort}", inbox(sort, status=waiting), QUEUE_BOUND) for sort in DocumentSort),
        *(Asked(f"inbox: all, {sort}", inbox(sort)) for sort in DocumentSort),
        Asked("inbox: exported, newest", inbox(DocumentSort.NEWEST, status=DocumentStatus.EXPORTED)),
        *(
            Asked(f"search, all: {name}", inbox(DocumentSort.NEWEST, text=text), SEARCH_BOUND)
            for name, text in texts.items()
        ),
        *(
            Asked(f"search, waiting: {name}", inbox(DocumentSort.NEWEST, text=text, status=waiting), SEARCH_BOUND)
            for name, text in texts.items()
        ),
        Asked("one vendor's documents", inbox(DocumentSort.NEWEST, vendor="Vendor 1234 GmbH"), SEARCH_BOUND),
        Asked("one vendor's documents by VAT id", inbox(DocumentSort.NEWEST, vendor="DE000001234"), SEARCH_BOUND),
        Asked("known about a read document", known, QUEUE_BOUND),
        Asked("counts by status", lambda db: count_documents(db, TENANT, DocumentFilter())),
        Asked("whether all are too many to sort", lambda db: has_more_than_sorted(db, TENANT, DocumentFilter())),
        Asked("next item, waiting", neighbours(waiting, middle)),
        Asked("next item, all", neighbours(None, middle)),
    ]


async def fill(dsn: str, documents: int) -> None:
    """Add the documents: without indexes and triggers, which are made again afterwards."""
    connection = await asyncpg.connect(dsn)
    try:
        if await connection.fetchval("SELECT count(*) FROM (SELECT FROM documents LIMIT 1) AS any_one"):
            return
        indexes = await connection.fetch(
            "SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS made FROM pg_index"
            " WHERE indrelid::regclass::text = ANY ($1) AND NOT EXISTS"
            " (SELECT FROM pg_constraint WHERE conindid = indexrelid)",
            TABLES,
        )
        await connection.execute("SET maintenance_work_mem = '1GB'; SET synchronous_commit = off")
        for table in TABLES:
            await connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        for index in indexes:
            await connection.execute(f"DROP INDEX {index['name']}")
        for statement in FILL:
            await connection.execute(statement, TENANT, documents, timeout=3600)
        for index in indexes:
            await connection.execute(index["made"], timeout=3600)
        for table in TABLES:
            await connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        await connection.execute("VACUUM (ANALYZE) documents, seen_invoices, reviews", timeout=3600)
    finally:
        await connection.close()


async def plan_of(dsn: str, one: Asked) -> str:
    """Return PostgreSQL's plans of the statements that it takes, as it runs them."""
    pool = await open_pool(dsn, min_size=1, max_size=1)
    plans: list[str] = []
    try:
        async with pool.acquire() as connection:
            await one.ask(_Explaining(connection, plans))  # type: ignore[arg-type]
    finally:
        await pool.close()
    return "\n".join(plans)


class _Explaining:
    """A connection that explains each query before it runs it."""

    def __init__(self, connection: Any, plans: list[str]) -> None:
        self._connection, self._plans = connection, plans

    async def fetch(self, statement: str, *values: object) -> Any:
        rows = await self._connection.fetch(f"EXPLAIN (ANALYZE, COSTS OFF, BUFFERS OFF) {statement}", *values)
        self._plans.append("\n".join(row[0][:WIDTH] for row in rows))
        return await self._connection.fetch(statement, *values)

    async def fetchval(self, statement: str, *values: object) -> Any:
        return await self._connection.fetchval(statement, *values)

    async def execute(self, statement: str) -> Any:
        return await self._connection.execute(statement)

    def transaction(self) -> Any:
        return self._connection.transaction()

    async def fetchrow(self, statement: str, *values: object) -> Any:
        return (await self.fetch(statement, *values))[0]


async def measure(data: Path, documents: int, only: list[str], with_plans: bool) -> str:
    """Print a line for each page; return PostgreSQL's plans as Markdown, if they are wanted."""
    server = await start_postgres(data, report=lambda _: None)
    kept: list[str] = []
    try:
        await migrate(server.dsn)
        dsn = await admit_services(server)
        begun = time.perf_counter()
        await fill(server.dsn, documents)
        print(
            json.dumps({"bench": "tables", "what": "fill", "seconds": round(time.perf_counter() - begun, 1)}),
            flush=True,
        )
        with of_tenant(TENANT):
            pool = await open_pool(dsn)
            for one in asked(documents):
                if not any(part in one.what for part in only):
                    continue
                line = {"bench": "tables", "what": one.what, "documents": documents} | await times(pool, one)
                print(json.dumps(line), flush=True)
                if with_plans and line["median"] is not None:
                    kept.append(f"## {one.what}\n\n```\n{await plan_of(dsn, one)}\n```\n")
            await pool.close()
    finally:
        await server.stop()
    return "\n".join(kept)


async def times(pool: asyncpg.Pool, one: Asked) -> dict[str, Any]:
    """Return the median and the worst of TIMES, in milliseconds, with warm caches."""
    try:
        await one.ask(pool)
    except TimeoutError:
        return {"unit": "ms", "median": None, "worst": "more than 30 s", "bound": one.bound}
    taken = []
    for _ in range(TIMES):
        begun = time.perf_counter()
        await one.ask(pool)
        taken.append((time.perf_counter() - begun) * 1000)
        if sum(taken) > 10_000:
            break
    return {
        "unit": "ms",
        "median": round(statistics.median(taken), 1),
        "worst": round(max(taken), 1),
        "bound": one.bound,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=5_000_000)
    parser.add_argument("--data", type=Path, help="folder of the database, kept; by default a temporary one")
    parser.add_argument("--only", action="append", help="measure only what has this in its name; several are possible")
    parser.add_argument("--plans", type=Path, help="write PostgreSQL's plans to this Markdown file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plans = asyncio.run(measure(given.data or Path(folder), given.documents, given.only or [""], bool(given.plans)))
    if given.plans:
        given.plans.write_text(plans, "utf-8")


if __name__ == "__main__":
    main()
