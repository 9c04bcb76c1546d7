"""What models cost: kept by document, added up by day."""

import asyncio
import datetime as dt
import re
import secrets
from decimal import Decimal

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from docrail.adapters.postgres.pool import Database
from docrail.invoices.llm.prices import Cost, Tokens
from docrail.services.usage.models import Use
from docrail.services.usage.repository import (
    TOTALS,
    load_document_uses,
    load_model_totals,
    load_spent_today,
    load_tenant_spent_today,
    record_use,
)
from tests.postgres import COMMITTING, OTHER_TENANT, TENANT, new_document_id

READ_ON = dt.date(2026, 11, 21)


async def record(
    db: Database, cost: str = "0.25", *, tenant_id: str = TENANT, model: str = "m-1", **other: str
) -> None:
    use = Use(
        tenant_id, "run.1", "ask", 2, model, other.get("outcome", "read"), Tokens(100, 20, 5), "7", other.get("doc")
    )
    await record_use(db, use, Cost(Decimal(cost), "m"), currency="USD", prices_read_on=READ_ON)


async def test_each_answer_about_a_document_is_kept(db: PoolConnectionProxy) -> None:
    document = new_document_id()
    await record(db, doc=document, outcome="garbled")
    await record(db, "0.000001", doc=document)
    await record(db)
    first, second = await load_document_uses(db, TENANT, document)
    assert (first.outcome, first.cost, second.outcome, second.cost) == (
        "garbled",
        Decimal("0.250000"),
        "read",
        Decimal("0.000001"),
    )
    assert (first.model, first.prompt_version, first.attempt, first.priced_as) == ("m-1", "7", 2, "m")
    assert (first.input_tokens, first.output_tokens, first.thinking_tokens, first.currency) == (100, 20, 5, "USD")
    assert await load_document_uses(db, OTHER_TENANT, document) == []


async def test_a_day_is_added_up_over_all_tenants(db: PoolConnectionProxy) -> None:
    before, mine = await load_spent_today(db), await load_tenant_spent_today(db, TENANT)
    await record(db, "0.25")
    await record(db, "0.50", tenant_id=OTHER_TENANT, model="m-2")
    assert await load_spent_today(db) - before == Decimal("0.75")
    assert await load_tenant_spent_today(db, TENANT) - mine == Decimal("0.25")


async def test_yesterday_is_another_days(db: PoolConnectionProxy) -> None:
    await record(db)
    await db.execute("UPDATE model_days SET day = day - 1")
    assert await load_spent_today(db) == 0


async def test_totals_are_by_model_and_outcome(db: PoolConnectionProxy) -> None:
    model = f"m-{secrets.token_hex(4)}"
    for outcome in ("read", "read", "refused"):
        await record(db, model=model, outcome=outcome)
    await db.execute("UPDATE model_days SET day = day - 400")
    await record(db, model=model)
    read, refused = [total for total in await load_model_totals(db) if total.model == model]
    assert (read.outcome, read.answers, read.input_tokens, read.cost) == ("read", 3, 300, Decimal("0.75"))
    assert (refused.answers, refused.output_tokens, refused.thinking_tokens) == (1, 20, 5)


async def test_the_totals_do_not_read_the_days(db: PoolConnectionProxy) -> None:
    """A scrape every few seconds costs the same after years of 200 tenants."""
    await db.execute(YEARS)
    await db.execute(ONE_EACH)
    await db.execute("ANALYZE model_days, model_totals")
    rows = await db.fetch(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT TEXT) {TOTALS}")
    plan = "\n".join(row[0] for row in rows)
    assert await db.fetchval("SELECT count(*) FROM model_days") >= 200_000
    assert ("on model_totals" in plan, "model_days" in plan) == (True, False)
    [scan] = re.findall(r"on model_totals .*actual time=\S+ rows=(\d+)", plan)
    assert int(scan) < 2_000


YEARS = """
INSERT INTO model_days
SELECT 'tenant-' || tenant, date '2024-01-01' + day, '', 'm-1', 'read', 1, 1, 1, 1, 1
  FROM generate_series(1, 200) AS tenant, generate_series(1, 1000) AS day"""
ONE_EACH = """
INSERT INTO model_totals SELECT 'tenant-' || tenant, 'm-1', 'read', 1, 1, 1, 1, 1
  FROM generate_series(1, 200) AS tenant"""


async def test_of_many_answers_at_once_none_is_lost(pool: asyncpg.Pool) -> None:
    model = f"m-{secrets.token_hex(4)}"
    await asyncio.gather(*(record(pool, tenant_id=COMMITTING, model=model) for _ in range(20)))
    [total] = [total for total in await load_model_totals(pool) if total.model == model]
    assert (total.answers, total.cost) == (20, Decimal("5.00"))
