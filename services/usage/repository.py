"""Store model usage in tokens and money: per answer (model_usage), per day (model_days) and in all (model_totals)."""

import datetime as dt
from decimal import Decimal

from docrail.adapters.postgres.pool import Database
from docrail.invoices.llm.prices import Cost
from docrail.services.usage.models import DocumentUse, ModelDay, ModelTotal, Use

# A tenant's answers share the rows of the day and of the total: at a limit of 10 answers a second, concurrent writers
# are rare.
RECORD = """
WITH used AS (
    INSERT INTO model_usage (tenant_id, model, prompt_version, run_id, step_id, attempt, document_id, outcome,
           input_tokens, output_tokens, thinking_tokens, cost, currency, priced_as, prices_read_on)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    RETURNING tenant_id, (used_at AT TIME ZONE 'UTC')::date AS day, model, outcome,
              input_tokens, output_tokens, thinking_tokens, cost),
of_day AS (
    INSERT INTO model_days AS total
           (tenant_id, day, key_id, model, outcome, answers, input_tokens, output_tokens, thinking_tokens, cost)
    SELECT tenant_id, day, $16::text, model, outcome, 1, input_tokens, output_tokens, thinking_tokens, cost FROM used
    ON CONFLICT (tenant_id, day, key_id, model, outcome) DO UPDATE
       SET answers = total.answers + 1,
           input_tokens = total.input_tokens + excluded.input_tokens,
           output_tokens = total.output_tokens + excluded.output_tokens,
           thinking_tokens = total.thinking_tokens + excluded.thinking_tokens,
           cost = total.cost + excluded.cost)
INSERT INTO model_totals AS total
       (tenant_id, model, outcome, answers, input_tokens, output_tokens, thinking_tokens, cost)
SELECT tenant_id, model, outcome, 1, input_tokens, output_tokens, thinking_tokens, cost FROM used
ON CONFLICT (tenant_id, model, outcome) DO UPDATE
   SET answers = total.answers + 1,
       input_tokens = total.input_tokens + excluded.input_tokens,
       output_tokens = total.output_tokens + excluded.output_tokens,
       thinking_tokens = total.thinking_tokens + excluded.thinking_tokens,
       cost = total.cost + excluded.cost"""

# Over all tenants: they share the key, and so the bill.
SPENT_TODAY = "SELECT coalesce(sum(cost), 0) FROM model_days WHERE day = (now() AT TIME ZONE 'UTC')::date"

SPENT_TODAY_BY_TENANT = f"{SPENT_TODAY} AND tenant_id = $1"

SPENT_TODAY_BY_KEY = f"{SPENT_TODAY_BY_TENANT} AND key_id = $2"

OF_DOCUMENT = """
SELECT used_at, model, prompt_version, attempt, outcome, input_tokens, output_tokens, thinking_tokens, cost, currency,
       priced_as
  FROM model_usage WHERE tenant_id = $1 AND document_id = $2
 ORDER BY usage_id"""

DAYS = """
SELECT day, model, sum(answers)::bigint AS answers,
       coalesce(sum(answers) FILTER (WHERE outcome NOT IN ('read', 'wrote')), 0)::bigint AS unusable,
       sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens,
       sum(thinking_tokens)::bigint AS thinking_tokens, sum(cost) AS cost
  FROM model_days
 WHERE tenant_id = $1 AND day > (now() AT TIME ZONE 'UTC')::date - 31
 GROUP BY day, model
 ORDER BY day DESC, model"""

SPENT_BY_TENANTS = """
SELECT tenant_id, sum(cost) AS cost FROM model_days
 WHERE day = (now() AT TIME ZONE 'UTC')::date
 GROUP BY tenant_id"""

TOTALS = """
SELECT model, outcome, sum(answers)::bigint AS answers, sum(input_tokens)::bigint AS input_tokens,
       sum(output_tokens)::bigint AS output_tokens, sum(thinking_tokens)::bigint AS thinking_tokens, sum(cost) AS cost
  FROM model_totals
 GROUP BY model, outcome
 ORDER BY model, outcome"""


async def record_use(db: Database, use: Use, cost: Cost, *, currency: str, prices_read_on: dt.date) -> None:
    """Store the cost of an answer, and add it to the day's total."""
    await db.execute(
        RECORD,
        *(use.tenant_id, use.model, use.prompt_version, use.run_id, use.step_id, use.attempt, use.document_id),
        *(use.outcome, use.tokens.input, use.tokens.output, use.tokens.thinking),
        *(cost.amount, currency, cost.priced_as, prices_read_on, use.key_id or ""),
    )


async def load_spent_today(db: Database) -> Decimal:
    """Return the cost of all tenants' answers since midnight UTC."""
    return Decimal(await db.fetchval(SPENT_TODAY))


async def load_tenant_spent_today(db: Database, tenant_id: str) -> Decimal:
    """Return the cost of a tenant's answers since midnight UTC."""
    return Decimal(await db.fetchval(SPENT_TODAY_BY_TENANT, tenant_id))


async def load_key_spent_today(db: Database, tenant_id: str, key_id: str) -> Decimal:
    """Return the cost of the answers since midnight UTC for runs that a key has caused."""
    return Decimal(await db.fetchval(SPENT_TODAY_BY_KEY, tenant_id, key_id))


async def load_document_uses(db: Database, tenant_id: str, document_id: str) -> list[DocumentUse]:
    """Return every paid answer about a document, in order."""
    return [DocumentUse(**row) for row in await db.fetch(OF_DOCUMENT, tenant_id, document_id)]


async def load_days(db: Database, tenant_id: str) -> list[ModelDay]:
    """Return a tenant's last 31 days by model, latest first."""
    return [ModelDay(**row) for row in await db.fetch(DAYS, tenant_id)]


async def load_spent_by_tenants(db: Database) -> dict[str, Decimal]:
    """Return the cost of each tenant's answers since midnight UTC; a tenant without answers is left out."""
    return {row["tenant_id"]: row["cost"] for row in await db.fetch(SPENT_BY_TENANTS)}


async def load_model_totals(db: Database) -> list[ModelTotal]:
    """Return the totals of every model."""
    return [ModelTotal(**row) for row in await db.fetch(TOTALS)]
