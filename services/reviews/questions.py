"""Open and close the items of human steps, each change with its audit event."""

import asyncpg

from docrail.adapters.postgres.pool import Database, transaction
from docrail.dag.values.json_values import Json
from docrail.services.audit.models import Act
from docrail.services.reviews.models import CLOSED, DECIDED, PersonsDecision, StepEnd, StepQuestion
from docrail.services.reviews.records import record_act, record_change
from docrail.services.reviews.repository.steps import ask_question, close_question, keep_decision, step_review_id

RUN = "docrail"
"""The actor, in the audit, of a run that ended without a person's answer."""


async def ask(db: asyncpg.Pool, tenant_id: str, run_id: str, step_id: str, question: StepQuestion) -> None:
    """Open the item of a human step, or hand the open one on to another queue. Safe to repeat, in any order."""
    async with transaction(db) as tx:
        await ask_question(tx, tenant_id, run_id, step_id, question)
        await _record_step(tx, tenant_id, run_id, step_id, "asked_again")


async def close(db: asyncpg.Pool, tenant_id: str, run_id: str, step_id: str, end: StepEnd) -> None:
    """Close the item of a human step, and its document's item if no other step asks. Safe to repeat, in any order."""
    async with transaction(db) as tx:
        settled = await close_question(tx, tenant_id, run_id, step_id, end)
        if settled is not None:
            detail: dict[str, Json] = {"by": f"the run {run_id}"}
            await record_act(tx, tenant_id, Act(RUN, CLOSED, settled.review_id, settled.document_id, detail))
        await _record_step(tx, tenant_id, run_id, step_id, "settled")


async def _record_step(tx: Database, tenant_id: str, run_id: str, step_id: str, act: str) -> None:
    """Record that the run changed the decision of its step's item, if it did."""
    detail: dict[str, Json] = {"run_id": run_id, "step_id": step_id}
    review_id = step_review_id(tenant_id, run_id, step_id)
    await record_change(tx, tenant_id, Act(RUN, act, review_id, None, detail))


async def record_person(
    db: asyncpg.Pool, tenant_id: str, run_id: str, step_id: str, *, asked_at: float, made: PersonsDecision
) -> None:
    """Show what one of several people decided, and add it to the audit; once, if it is repeated."""
    async with transaction(db) as tx:
        review_id = await keep_decision(tx, tenant_id, run_id, step_id, asked_at=asked_at, made=made)
        if review_id is not None:
            detail: dict[str, Json] = {"run_id": run_id, "step_id": step_id, "digest": made.digest}
            await record_act(tx, tenant_id, Act(made.by, DECIDED, review_id, None, detail))
